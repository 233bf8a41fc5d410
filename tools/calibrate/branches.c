/* SPDX-License-Identifier: MIT
 *
 * Measures what a mispredicted branch costs: one that a number in a table decides, which
 * is another one in each try, so that no predictor learns it, is wrong half the time; the
 * same branch, never taken, is always right.  The load and the comparison that it waits
 * for are not of the cost (L1D's latency and a cycle).
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

/* Nanoseconds of a branch; `mask`: what there is of the numbers. */
static double time_of(struct branches *branches, uint32_t mask)
{
	for (unsigned k = 0; k < BRANCHES; k++) {
		branches->state = cp_next_state(branches->state);
		branches->number[k] = (uint32_t)(branches->state >> 60) & mask;
	}
	return cp_best(1, BRANCHES, run_branches, branches);
}

/* Twice the difference of two times would be off by a tenth where the clock is higher
 * than in the other measurements, by a fifteenth, for a moment: it is measured with them,
 * before and behind. */
static double cycles_of(const struct cp_host *host, struct branches *branches)
{
	double before = cp_cycle_ns(host), right = time_of(branches, 0),
	       wrong = time_of(branches, 1);

	return (wrong - right) / fmin(before, cp_cycle_ns(host));
}

void cp_measure_branches(struct cp_host *host, struct cp_round *round)
{
	struct branches branches = {.state = 1 + host->round};
	double cycles[TRIES];

	for (unsigned i = 0; i < TRIES; i++)
		cycles[i] = cycles_of(host, &branches);
	round->value[CP_FIGURE_MISPREDICT] =
		fmax(2 * cp_quarter(cycles, TRIES) - round->value[CP_FIGURE_L1] - 1, 1);
}
