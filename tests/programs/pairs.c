/* SPDX-License-Identifier: MIT
 *	pairs COUNT
 * Begins and ends a region COUNT times, and does nothing else.
 */
#include <stdlib.h>

#include "cachepeek.h"

int main(int argc, char **argv)
{
	for (int n = argc > 1 ? atoi(argv[1]) : 0; n > 0; n--) {
		CACHEPEEK_BEGIN("pair");
		CACHEPEEK_END("pair");
	}
	return 0;
}
