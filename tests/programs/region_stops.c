/* SPDX-License-Identifier: MIT
 *	region_stops COUNT COMMAND
 * Enters COUNT regions, runs COMMAND with sh, and enters COUNT more.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cachepeek.h"

static void enter(const char *kind, int count)
{
	char name[32];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s-%d", kind, i);
		cachepeek_begin_named(name);
		cachepeek_end_named(name);
	}
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10, status = 0;

	enter("before", count);
	if (argc > 2)
		status = system(argv[2]);
	enter("after", count);
	printf("%d %d\n", count, status);
	return 0;
}
