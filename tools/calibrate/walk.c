/* SPDX-License-Identifier: MIT
 *
 * Latencies: loads of which each needs the one before, from all lines of a piece of
 * memory in an order that no prefetcher knows.  The order is that of a congruential
 * generator whose period is the whole piece, so that nothing has to be written first;
 * what the generator takes is measured in the L1D, and taken off.
 */
#include <math.h>

#include "tools/calibrate/calibrate.h"

enum { MOST_LANES = 32, STEPS = 6000, TRIES = 15 };

struct walk {
	const char *memory;
	uint64_t mask, shift; /* of line numbers */
	unsigned lanes;
	unsigned long steps;
	uint64_t state[MOST_LANES], sum;
};

/* The low bits of a state are regular: the high ones are folded into them. */
static inline __attribute__((always_inline)) uint64_t step_on(
	const struct walk *walk, uint64_t state)
{
	uint64_t line = (state ^ state >> walk->shift) & walk->mask;
	uint64_t loaded = *(const volatile uint64_t *)(walk->memory + line * CP_LINE);

	/* The memory is all zeros, which the compiler does not know. */
	return cp_next_state(state + loaded);
}

static inline __attribute__((always_inline)) void walk_lanes(
	struct walk *walk, unsigned lanes)
{
	uint64_t state[MOST_LANES];

	for (unsigned lane = 0; lane < lanes; lane++)
		state[lane] = walk->state[lane] & walk->mask;
	for (unsigned long i = 0; i < walk->steps; i++)
		for (unsigned lane = 0; lane < lanes; lane++)
			state[lane] = step_on(walk, state[lane]) & walk->mask;
	for (unsigned lane = 0; lane < lanes; lane++)
		walk->sum += walk->state[lane] = state[lane];
}

/* How many loads may be under way at a time. */
#define EACH_LANES(what) what(4) what(8) what(12) what(16) what(24) what(MOST_LANES)

/* Unrolled for each number of lanes, so that their states stay in registers. */
static void run_walk(void *context)
{
	struct walk *walk = context;

#define GO(number)                                                                       \
	if (walk->lanes == (number))                                                     \
		walk_lanes(walk, number);
	GO(1)
	EACH_LANES(GO)
}

/* The largest power of two. */
static uint64_t lines_of(size_t bytes)
{
	uint64_t lines = 1;

	while (lines * 2 * CP_LINE <= bytes)
		lines *= 2;
	return lines;
}

double cp_walk(const struct cp_host *host, size_t bytes, unsigned lanes)
{
	uint64_t lines = lines_of(bytes);
	struct walk walk = {host->memory, lines - 1, 0, lanes, 0, {0}, 0};

	while ((1u << 2 * walk.shift) < lines)
		walk.shift++;
	for (unsigned lane = 0; lane < lanes; lane++)
		walk.state[lane] = lines / lanes * lane;
	walk.steps = STEPS / lanes;
	/* Once all of it was read, the caches hold it, whatever they held before. */
	for (uint64_t read = 0; read < lines && lines <= 1u << 20; read += STEPS)
		run_walk(&walk);
	return cp_best(TRIES, (double)walk.steps * lanes, run_walk, &walk) / host->ns;
}

/* How many loads that miss are under way at a time, at most: each number of lanes by its
 * least time in all rounds so far, as is the one that goes alone. */
static double measure_parallel(const struct cp_host *host, size_t bytes, double least[])
{
#define NUMBER(number) number,
	static const unsigned lanes[] = {1, EACH_LANES(NUMBER)};
	double most = NAN;

	for (unsigned i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		double each = cp_least(&least[i], cp_walk(host, bytes, lanes[i])),
		       parallel = least[0] / each;

		if (i && parallel <= lanes[i] && (isnan(most) || parallel > most))
			most = parallel;
	}
	return most;
}

static double latency_in(const struct cp_host *host, size_t bytes)
{
	return cp_chain(host, host->scratch, bytes / CP_LINE, CP_LINE);
}

void cp_measure_latencies(struct cp_host *host, double found[CP_NFIGURES])
{
	size_t l1 = cp_host_level(host, CP_L1D), l2 = cp_host_level(host, CP_L2),
	       llc = cp_host_level(host, CP_LLC), piece = cp_host_llc_piece(host);
	double overhead;

	found[CP_FIGURE_L1] = latency_in(host, l1 / 2);
	if (l2)
		found[CP_FIGURE_L2] = latency_in(host, l2 / 2);
	if (llc && piece <= host->page_bytes)
		found[CP_FIGURE_LLC] = latency_in(host, piece);
	overhead = cp_walk(host, l1 / 2, 1) - found[CP_FIGURE_L1];
	found[CP_FIGURE_MEMORY] = cp_walk(host, host->bytes, 1) - overhead;
	found[CP_FIGURE_PARALLEL] =
		measure_parallel(host, llc ? piece : host->bytes, host->near_least);
	found[CP_FIGURE_PARALLEL_FAR] =
		measure_parallel(host, host->bytes, host->far_least);
}
