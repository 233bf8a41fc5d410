/* SPDX-License-Identifier: MIT
 * Regions and a thread whose names are meant for a terminal, a browser or a
 * parser rather than for a reader; one is ended without a beginning, for the
 * warning that names it.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cachepeek.h"

static const char *const names[] = {
	"\033]0;title\007\033[31mred",
	"line\nbreak\r\ttab",
	"\"quote\\ </script><b>&amp;",
	"c1 \xc2\x9b"
	"31m nel \xc2\x85 end",
	"bidi \xe2\x80\xae"
	"desrever \xe2\x81\xa6 end",
	"invalid \xff\xfe\xc3( \xed\xa0\x80 \xf5\x80\x80\x80 end",
	"\x7f"
	"del \x01",
	"=1+1",
};

int main(void)
{
	char path[4096];

	pthread_setname_np(pthread_self(), "=1+\033[2J\nhost");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		cachepeek_region region = cachepeek_region_register(names[i]);

		cachepeek_begin(region);
		cachepeek_end(region);
		if (i == 0)
			cachepeek_end(region);
	}
	memset(path, 'n', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	cachepeek_begin(cachepeek_region_register(path));
	printf("done\n");
	return 0;
}
