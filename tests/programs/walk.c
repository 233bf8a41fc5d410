/* SPDX-License-Identifier: MIT
 *
 * Goes ROUNDS times over 24 KiB, a line at a time, in a region "walk", and as often
 * over 96 KiB in a region "long": six and twenty-four lines for each of 64 sets.
 */
#include <stdlib.h>

#include "cachepeek.h"

#define LINE 64

static char small[24 << 10] __attribute__((aligned(4096)));
static char large[96 << 10] __attribute__((aligned(4096)));

static void walk(const volatile char *from, size_t size, int rounds)
{
	for (int n = 0; n < rounds; n++)
		for (size_t i = 0; i < size; i += LINE)
			(void)from[i];
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	CACHEPEEK_BEGIN("walk");
	walk(small, sizeof(small), rounds);
	CACHEPEEK_END("walk");
	CACHEPEEK_BEGIN("long");
	walk(large, sizeof(large), rounds);
	CACHEPEEK_END("long");
	return 0;
}
