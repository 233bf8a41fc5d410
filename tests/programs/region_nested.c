/* SPDX-License-Identifier: MIT
 * Regions in regions: main loads 10 new lines, "outer" 20, and three times
 * over "inner" within it 5; "inner" on its own 7.
 */
#include "cachepeek.h"
#include "fresh.h"

static char memory[PAGE] __attribute__((aligned(PAGE)));
static volatile char *next = memory;

/* Every region goes through here; the first calls load nothing. */
static void take(size_t lines)
{
	load_each(next, lines, LINE);
	next += lines * LINE;
}

static void nest(size_t outer, size_t inner)
{
	CACHEPEEK_BEGIN("outer");
	take(outer);
	for (int i = 0; i < 3; i++) {
		CACHEPEEK_BEGIN("inner");
		take(inner);
		CACHEPEEK_END("inner");
	}
	CACHEPEEK_END("outer");
}

static void alone(size_t lines)
{
	CACHEPEEK_BEGIN("inner");
	take(lines);
	CACHEPEEK_END("inner");
}

int main(void)
{
	CACHEPEEK_BEGIN("warm");
	nest(0, 0);
	alone(0);
	CACHEPEEK_END("warm");
	take(10);
	nest(20, 5);
	alone(7);
	return 0;
}
