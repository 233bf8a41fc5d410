/* SPDX-License-Identifier: MIT
 *
 * What a branch costs that is predicted wrongly: one that a number in a table decides,
 * which is another one in each try, so that no predictor learns it, is wrong half the
 * time; the same branch, never taken, is always right.  The load and the comparison that
 * it waits for are not of the cost (L1D's latency and a cycle).
 */
#include <math.h>

#include "tools/calibrate/calibrate.h"

enum { BRANCHES = 4000, TRIES = 30 };

struct branches {
	uint32_t number[BRANCHES];
	uint64_t state, taken;
};

/* Taken or not is to be seen by the predictor alone: both ways are one instruction. */
#if defined(__x86_64__)
#define BRANCH "test %2, %1\n\tjz 1f\n\tinc %0\n1:"
#elif defined(__aarch64__)
#define BRANCH "tst %w1, %w2\n\tb.eq 1f\n\tadd %0, %0, 1\n1:"
#endif

static void run_branches(void *context)
{
	struct branches *branches = context;
	uint64_t taken = 0;

	for (unsigned i = 0; i < BRANCHES; i++) {
		uint32_t number = *(volatile uint32_t *)&branches->number[i];

		__asm__ volatile(BRANCH : "+r"(taken) : "r"(number), "r"(1u) : "cc");
	}
	branches->taken += taken;
}

/* No two tries are the same; `mask`: what there is of the numbers. */
static double cycles_of(
	const struct cp_host *host, struct branches *branches, uint32_t mask)
{
	double least = INFINITY;

	for (unsigned i = 0; i < TRIES; i++) {
		for (unsigned k = 0; k < BRANCHES; k++) {
			branches->state = cp_next_state(branches->state);
			branches->number[k] = (uint32_t)(branches->state >> 60) & mask;
		}
		least = fmin(least, cp_best(1, BRANCHES, run_branches, branches));
	}
	return least / host->ns;
}

void cp_measure_branches(struct cp_host *host, double found[CP_NFIGURES])
{
	struct branches branches = {.state = 1};
	double right = cycles_of(host, &branches, 0),
	       wrong = cycles_of(host, &branches, 1);

	found[CP_FIGURE_MISPREDICT] =
		fmax(2 * (wrong - right) - found[CP_FIGURE_L1] - 1, 1);
}
