/* SPDX-License-Identifier: MIT
 *	region_misuse KIND…
 * Uses regions wrongly, each kind twice, around a region "good" that loads ten
 * new lines twice and must come out right.
 */
#include <string.h>

#include "cachepeek.h"
#include "fresh.h"

static char memory[PAGE] __attribute__((aligned(PAGE)));
static volatile char *next = memory;

static void good(size_t lines)
{
	CACHEPEEK_BEGIN("good");
	load_each(next, lines, LINE);
	CACHEPEEK_END("good");
	next += lines * LINE;
}

static void misuse(const char *kind)
{
	if (!strcmp(kind, "unbegun"))
		CACHEPEEK_END("unbegun");
	if (!strcmp(kind, "crossed")) {
		CACHEPEEK_BEGIN("outer");
		CACHEPEEK_BEGIN("crossed");
		CACHEPEEK_END("outer");
	}
	if (!strcmp(kind, "left-open"))
		CACHEPEEK_BEGIN("left-open");
}

int main(int argc, char **argv)
{
	CACHEPEEK_BEGIN("warm");
	good(0);
	CACHEPEEK_END("warm");
	for (int i = 0; i < 2; i++) {
		good(10);
		for (int kind = 1; kind < argc; kind++)
			misuse(argv[kind]);
	}
	return 0;
}
