/* SPDX-License-Identifier: MIT
 *
 * The page of what changed between the call paths of two runs: a differential flame
 * graph.
 */
#include <string.h>

#include "output/html.h"
#include "tools/profile/calls/changes.h"

static void put_part(struct cp_out *out, const char *name, const void *data)
{
	const struct cp_changes *changes = data;

	if (strcmp(name, "REPORT") == 0)
		cp_changes_write_head(out, changes);
	else if (strcmp(name, "STACKS") == 0)
		cp_changes_write_stacks(out, changes);
}

void cp_changes_write_html(struct cp_out *out, const struct cp_changes *changes)
{
	cp_page_write(out, "paths.html", put_part, changes);
}
