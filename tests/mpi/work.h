/* SPDX-License-Identifier: MIT
 * What the programs of MPI under test do, whatever their language: rank i touches
 * (i + 1) * 10 pages in the region "work", of which one fault each is counted, and
 * 5 more in "odd" or "even" inside; and it stores into (i + 1) * 10 new lines in
 * the region "lines", each of which the simulated PMU misses.
 */
#ifndef CACHEPEEK_TESTS_MPI_WORK_H
#define CACHEPEEK_TESTS_MPI_WORK_H

#include "../openmp/touch.h"
#include "cachepeek.h"

static inline void touch_pages(int rank)
{
	const char *name = rank % 2 ? "odd" : "even";

	touch(0);
	CACHEPEEK_BEGIN("work");
	touch(10 * (rank + 1));
	cachepeek_begin(cachepeek_region_register(name));
	touch(5);
	cachepeek_end(cachepeek_region_register(name));
	CACHEPEEK_END("work");
}

/* The region "warm" has what the first use of anything costs. */
static inline void store_lines(int rank)
{
	static char stored[512 * LINE] __attribute__((aligned(PAGE)));
	cachepeek_region warm = cachepeek_region_register("warm");
	cachepeek_region lines = cachepeek_region_register("lines");

	cachepeek_begin(warm);
	store_each(stored, 0, LINE);
	cachepeek_end(warm);
	cachepeek_begin(lines);
	store_each(stored, (size_t)(10 * (rank + 1)), LINE);
	cachepeek_end(lines);
}

static inline void work(int rank)
{
	touch_pages(rank);
	store_lines(rank);
}

#endif
