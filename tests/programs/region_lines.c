/* SPDX-License-Identifier: MIT
 *	region_lines LINES TIMES
 * Loads LINES new lines, TIMES times over, in the region "touch"; then stores
 * into as many others in the region "store".  The region "warm" before does
 * the same with nothing, so that what the first use of anything costs is there.
 */
#include "cachepeek.h"
#include "fresh.h"

int main(int argc, char **argv)
{
	size_t lines = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	size_t times = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	volatile char *loaded = fresh(lines * LINE), *stored = fresh(lines * LINE);

	CACHEPEEK_BEGIN("warm");
	load_each(loaded, 0, LINE);
	store_each(stored, 0, LINE);
	CACHEPEEK_END("warm");

	CACHEPEEK_BEGIN("touch");
	for (size_t i = 0; i < times; i++)
		load_each(loaded, lines, LINE);
	CACHEPEEK_END("touch");

	CACHEPEEK_BEGIN("store");
	for (size_t i = 0; i < times; i++)
		store_each(stored, lines, LINE);
	CACHEPEEK_END("store");
	return 0;
}
