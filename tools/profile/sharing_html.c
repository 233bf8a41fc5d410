/* SPDX-License-Identifier: MIT
 *
 * The page of what threads share: the JSON report, and what its columns mean.
 */
#include "tools/profile/sharing_html.h"

#include <string.h>

#include "output/html.h"

static const char meanings[] =
	"{\"transfers\": {\"meaning\": "
	"\"the most transfers of the line between threads, there and back, "
	"in whatever order the threads ran\"},\n"
	"\"for_nothing\": {\"meaning\": \"of the transfers, "
	"the most that carry no byte that the other thread uses\"},\n"
	"\"hitm\": {\"meaning\": "
	"\"how often a thread found the line modified in the cache of another one, "
	"as the threads took turns\"},\n"
	"\"invalidations\": {\"meaning\": "
	"\"copies of the line that writes took away from other threads, "
	"as the threads took turns\"}}\n";

static void put_part(struct cp_out *out, const char *name, const void *sharing)
{
	if (strcmp(name, "MEANINGS") == 0)
		cp_out_text(out, meanings);
	else
		cp_sharing_write_json(out, sharing);
}

void cp_sharing_write_html(struct cp_out *out, const struct cp_sharing *sharing)
{
	cp_page_write(out, "sharing.html", put_part, sharing);
}
