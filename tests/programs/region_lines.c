/* SPDX-License-Identifier: MIT
 *	region_lines LINES TIMES
 * Loads LINES new lines (256 at most), TIMES times over, in the region "touch";
 * then stores into as many others in the region "store".  The region "warm"
 * before does the same with nothing, so that what the first use of anything
 * costs is there.  Nobody has mapped the arrays' addresses before.
 */
#include "cachepeek.h"
#include "fresh.h"

static char loaded[256 * LINE] __attribute__((aligned(PAGE)));
static char stored[256 * LINE] __attribute__((aligned(PAGE)));

int main(int argc, char **argv)
{
	size_t lines = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	size_t times = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	cachepeek_region warm = cachepeek_region_register("warm");
	cachepeek_region touch = cachepeek_region_register("touch");
	cachepeek_region store = cachepeek_region_register("store");

	cachepeek_begin(warm);
	load_each(loaded, 0, LINE);
	store_each(stored, 0, LINE);
	cachepeek_end(warm);

	cachepeek_begin(touch);
	for (size_t i = 0; i < times; i++)
		load_each(loaded, lines, LINE);
	cachepeek_end(touch);

	cachepeek_begin(store);
	for (size_t i = 0; i < times; i++)
		store_each(stored, lines, LINE);
	cachepeek_end(store);
	return 0;
}
