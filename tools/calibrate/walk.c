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

/* Hull and Dobell: a full period modulo any power of two, as the factor is 1 modulo 4 and
 * the increment odd.  Its low bits are regular: the high ones are folded into them. */
#define FACTOR 6364136223846793005u
#define INCREMENT 1442695040888963407u

static inline __attribute__((always_inline)) uint64_t step(
	const struct walk *walk, uint64_t state)
{
	uint64_t line = (state ^ state >> walk->shift) & walk->mask;
	uint64_t loaded = *(const volatile uint64_t *)(walk->memory + line * CP_LINE);

	/* The memory is all zeros, which the compiler does not know. */
	return (state + loaded) * FACTOR + INCREMENT;
}

static inline __attribute__((always_inline)) void go(struct walk *walk, unsigned lanes)
{
	uint64_t state[MOST_LANES];

	for (unsigned lane = 0; lane < lanes; lane++)
		state[lane] = walk->state[lane] & walk->mask;
	for (unsigned long i = 0; i < walk->steps; i++)
		for (unsigned lane = 0; lane < lanes; lane++)
			state[lane] = step(walk, state[lane]) & walk->mask;
	for (unsigned lane = 0; lane < lanes; lane++)
		walk->sum += walk->state[lane] = state[lane];
}

/* Unrolled for each number of lanes, so that their states stay in registers. */
static void run_walk(void *context)
{
	struct walk *walk = context;

	switch (walk->lanes) {
	case 1:
		go(walk, 1);
		break;
	case 4:
		go(walk, 4);
		break;
	case 8:
		go(walk, 8);
		break;
	case 12:
		go(walk, 12);
		break;
	case 16:
		go(walk, 16);
		break;
	case 24:
		go(walk, 24);
		break;
	default:
		go(walk, 32);
	}
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
	/* What the caches hold is there once all of it was read, whatever was before. */
	for (uint64_t read = 0; read < lines && lines <= 1u << 20; read += STEPS)
		run_walk(&walk);
	return cp_best(TRIES, (double)walk.steps * lanes, run_walk, &walk) / host->ns;
}

/* How many loads that miss are under way at a time, at most. */
static double measure_parallel(const struct cp_host *host, size_t bytes)
{
	static const unsigned lanes[] = {4, 8, 12, 16, 24, 32};
	double alone = cp_walk(host, bytes, 1), most = NAN;

	for (unsigned i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		double parallel = alone / cp_walk(host, bytes, lanes[i]);

		if (parallel <= lanes[i] && (isnan(most) || parallel > most))
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
	found[CP_FIGURE_PARALLEL] = measure_parallel(host, llc ? piece : host->bytes);
}
