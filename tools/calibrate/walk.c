/* SPDX-License-Identifier: MIT
 *
 * Latencies: loads of which each needs the one before, from all lines of a piece of
 * memory in an order that no prefetcher knows.  The order is that of a congruential
 * generator whose period is the whole piece, so that nothing has to be written first;
 * what the generator takes is measured in the L1D, and taken off.
 */
#include <math.h>

#include "tools/calibrate/calibrate.h"

enum { STEPS = 6000, TRIES = 15 };

struct walk {
	const char *memory;
	uint64_t mask, shift; /* of line numbers */
	unsigned long steps;
	uint64_t state, sum;
};

/* The low bits of a state are regular: the high ones are folded into them. */
static inline __attribute__((always_inline)) uint64_t load_at(
	const struct walk *walk, uint64_t state)
{
	uint64_t line = (state ^ state >> walk->shift) & walk->mask;

	return *(const volatile uint64_t *)(walk->memory + line * CP_LINE);
}

static void run_walk(void *context)
{
	struct walk *walk = context;
	uint64_t state = walk->state;

	/* The memory is all zeros, which the compiler does not know. */
	for (unsigned long i = 0; i < walk->steps; i++)
		state = cp_next_state(state + load_at(walk, state)) & walk->mask;
	walk->state = state;
}

/* The same loads, none of which waits for another one. */
static void run_loads(void *context)
{
	struct walk *walk = context;
	uint64_t state = walk->state;

	for (unsigned long i = 0; i < walk->steps; i++) {
		walk->sum += load_at(walk, state);
		state = cp_next_state(state) & walk->mask;
	}
	walk->state = state;
}

/* The largest power of two. */
static uint64_t lines_of(size_t bytes)
{
	uint64_t lines = 1;

	while (lines * 2 * CP_LINE <= bytes)
		lines *= 2;
	return lines;
}

static double walk_by(const struct cp_host *host, size_t bytes, cp_task *run)
{
	uint64_t lines = lines_of(bytes);
	struct walk walk = {host->memory, lines - 1, 0, STEPS, 0, 0};

	while ((1u << 2 * walk.shift) < lines)
		walk.shift++;
	/* Once all of it was read, the caches hold it, whatever they held before. */
	for (uint64_t read = 0; read < lines && lines <= 1u << 20; read += STEPS)
		run_loads(&walk);
	return cp_best(TRIES, STEPS, run, &walk) / host->ns;
}

double cp_walk(const struct cp_host *host, size_t bytes)
{
	return walk_by(host, bytes, run_walk);
}

/* How many loads from memory are under way at a time: as many times as one takes longer
 * alone, each by its least time in all rounds so far. */
static double measure_parallel(const struct cp_host *host, const struct cp_pages *pages,
	struct cp_parallel *least)
{
	return cp_least(&least->alone, cp_pages_chain(host, pages, true)) /
	       cp_least(&least->beside, cp_pages_loads(host, pages, true));
}

/* What any first-level TLB knows the pages of: huge ones may be none (pages.c). */
#define KNOWN ((size_t)64 * CP_SMALL_PAGE)

static double latency_in(const struct cp_host *host, size_t bytes)
{
	return cp_chain(host, host->scratch, bytes / CP_LINE, CP_LINE);
}

/* The first TLB does not know the pages, the second does. */
static double without_pages(double latency, const double found[CP_NFIGURES])
{
	double hit = found[CP_FIGURE_STLB_HIT];

	return isfinite(hit) && found[CP_FIGURE_DTLB] < CP_FEW_PAGES / 2.0 ? latency - hit
									   : latency;
}

void cp_measure_latencies(struct cp_host *host, double found[CP_NFIGURES])
{
	size_t l1 = cp_host_level(host, CP_L1D), l2 = cp_host_level(host, CP_L2);
	struct cp_pages pages;
	double far;

	found[CP_FIGURE_L1] = latency_in(host, l1 / 2);
	if (l2)
		found[CP_FIGURE_L2] = latency_in(host, l2 / 2 < KNOWN ? l2 / 2 : KNOWN);
	cp_pages_behind_l2(host, host->pages, &pages);
	if (pages.count) {
		found[CP_FIGURE_LLC] =
			without_pages(cp_pages_chain(host, &pages, false), found);
		found[CP_FIGURE_LONE_LINE] = cp_pages_loads(host, &pages, false);
	}
	cp_pages_anywhere(host->pages, &pages);
	far = measure_parallel(host, &pages, &host->far_least);
	found[CP_FIGURE_MEMORY] = without_pages(host->far_least.alone, found);
	found[CP_FIGURE_PARALLEL] = found[CP_FIGURE_PARALLEL_FAR] = far;
}
