/* SPDX-License-Identifier: MIT
 *
 * Latencies: loads of which each needs the one before, from all lines of a piece of
 * memory in an order that no prefetcher knows.  The order is that of a congruential
 * generator whose period is the whole piece, or up to twice as many loads, so that
 * nothing has to be written first.
 */
#include <math.h>

#include "tools/calibrate/calibrate.h"

/* So few that a busy machine lets one try alone, and others drive little out meanwhile.
 */
enum { STEPS = 1500, TRIES = 6, PASSES = 2 };

struct walk {
	const char *memory;
	uint64_t mask, shift; /* of states */
	uint64_t lines, bits; /* of the piece, and of the mask */
	unsigned long steps;
	uint64_t state, sum;
};

/* The low bits of a state are regular: the high ones are folded into them. */
static inline __attribute__((always_inline)) uint64_t load_at(
	const struct walk *walk, uint64_t state)
{
	uint64_t line =
		((state ^ state >> walk->shift) & walk->mask) * walk->lines >> walk->bits;

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

static struct walk make_walk(const struct cp_host *host, size_t bytes)
{
	struct walk walk = {.memory = host->memory, .lines = bytes / CP_LINE};
	uint64_t states = 1;

	for (; states < walk.lines; walk.bits++)
		states *= 2;
	walk.mask = states - 1;
	walk.shift = (walk.bits + 1) / 2;
	return walk;
}

static double take(struct walk *walk, cp_task *run, unsigned long steps)
{
	walk->steps = steps;
	return cp_best(1, (double)steps, run, walk);
}

/* A last level that is filled by what L2 evicts keeps all after some passes, on a Zen 4
 * after five: the last tries are behind so many. */
double cp_walk(const struct cp_host *host, size_t bytes)
{
	struct walk walk = make_walk(host, bytes);
	double least = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		take(&walk, run_loads, (walk.mask + 1) * PASSES);
		cp_least(&least, take(&walk, run_walk, STEPS));
	}
	return least / host->ns;
}

double cp_walk_later(const struct cp_host *host, size_t bytes, double wait)
{
	struct walk walk = make_walk(host, bytes);
	double begin;

	take(&walk, run_loads, (walk.mask + 1) * TRIES * PASSES);
	begin = cp_calibrate_now_ns();
	while (cp_calibrate_now_ns() - begin < wait)
		continue;
	return take(&walk, run_walk, STEPS) / host->ns;
}

/* Any first-level TLB knows so many pages: there may be no huge ones (pages.c). */
#define KNOWN ((size_t)64 * CP_SMALL_PAGE)

static double latency_in(const struct cp_host *host, size_t bytes, unsigned passes)
{
	return cp_chain(host, host->scratch, bytes / CP_LINE, CP_LINE, passes);
}

/* The first TLB does not know the pages, the second does. */
static double without_pages(double latency, const struct cp_round *round)
{
	double hit = round->value[CP_FIGURE_STLB_HIT];

	return isfinite(hit) && round->value[CP_FIGURE_DTLB] < CP_FEW_PAGES / 2.0
		       ? latency - hit
		       : latency;
}

/* By how much the last level is slower than L2, at the least: those of current processors
 * take three times as long. */
#define LEAST_APART 1.5

/* Finds the last level by a walk, where lines of one place are in all sets of L2. */
static void find_llc_by_walk(
	const struct cp_host *host, size_t bytes, struct cp_round *round)
{
	size_t known = cp_host_level(host, CP_L1D) / 2;
	double number = cp_walk(host, known) - round->value[CP_FIGURE_L1],
	       latency = cp_walk(host, bytes) - number;

	round->value[CP_FIGURE_LLC] =
		host->huge ? latency : without_pages(latency, round);
}

/* Lines of one place in small pages are in few sets of L2, unless it chooses them by more
 * bits of the address than a place has, as AMD's does: then it has all of them, and lines
 * of all places have to be more than it has room for. */
static void find_llc(const struct cp_host *host, char *few, struct cp_round *round)
{
	size_t bytes = 4 * cp_host_level(host, CP_L2);
	struct cp_pages pages;
	double latency;

	cp_pages_behind_l2(host, few, &pages);
	if (!pages.count)
		return;
	latency = without_pages(cp_pages_chain(host, &pages, false), round);
	if (latency > LEAST_APART * round->value[CP_FIGURE_L2]) {
		round->value[CP_FIGURE_LLC] = latency;
		round->value[CP_FIGURE_LONE_LINE] = cp_pages_loads(host, &pages, false);
	} else if (bytes <= host->bytes && 2 * bytes <= cp_host_level(host, CP_LLC)) {
		find_llc_by_walk(host, bytes, round);
	}
}

/* How many loads from memory are under way at a time: as many times as one takes longer
 * alone. */
static void find_far(
	const struct cp_host *host, const struct cp_kept *kept, struct cp_round *round)
{
	(void)host;
	round->value[CP_FIGURE_MEMORY] = without_pages(kept->far_alone, round);
	round->value[CP_FIGURE_PARALLEL] = kept->far_alone / kept->far_beside;
	round->value[CP_FIGURE_PARALLEL_FAR] = round->value[CP_FIGURE_PARALLEL];
}

/* Other pages in each round: some are nearer than others, or have a set to themselves,
 * and a program has any. */
enum { FEW_PLACES = 8 };

void cp_measure_latencies(struct cp_host *host, struct cp_round *round)
{
	size_t l1 = cp_host_level(host, CP_L1D), l2 = cp_host_level(host, CP_L2);
	char *few = host->pages + host->round % FEW_PLACES * CP_FEW_PAGES * CP_SMALL_PAGE;
	struct cp_pages pages;

	round->value[CP_FIGURE_L1] = latency_in(host, l1 / 2, 1);
	if (l2)
		round->value[CP_FIGURE_L2] =
			latency_in(host, l2 / 2 < KNOWN ? l2 / 2 : KNOWN, 1);
	find_llc(host, few, round);
	cp_pages_anywhere(few, &pages);
	cp_keep(host, &host->kept.far_alone, cp_pages_chain(host, &pages, true));
	cp_keep(host, &host->kept.far_beside, cp_pages_loads(host, &pages, true));
	cp_find_both(host, round, find_far);
}
