/* SPDX-License-Identifier: MIT
 *	many_regions COUNT
 * Enters COUNT regions of different names once each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cachepeek.h"

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10;
	char name[32];

	for (int i = 0; i < count; i++) {
		cachepeek_region region;

		snprintf(name, sizeof(name), "region-%d", i);
		region = cachepeek_region_register(name);
		cachepeek_begin(region);
		cachepeek_end(region);
	}
	printf("%d\n", count);
	return 0;
}
