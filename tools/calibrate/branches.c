/* SPDX-License-Identifier: MIT
 *
 * What a branch costs that is predicted wrongly: one that a generator's high bit decides,
 * which no predictor learns, is wrong half the time; the same branch, never taken, is
 * always right.
 */
#include "tools/calibrate/calibrate.h"

enum { BRANCHES = 4000, TRIES = 30 };

struct branches {
	uint64_t mask, state, taken;
};

/* Taken or not is to be seen by the predictor alone: both ways are one instruction. */
#if defined(__x86_64__)
#define BRANCH "test %2, %1\n\tjz 1f\n\tinc %0\n1:"
#elif defined(__aarch64__)
#define BRANCH "tst %1, %2\n\tb.eq 1f\n\tadd %0, %0, 1\n1:"
#endif

static void run_branches(void *context)
{
	struct branches *branches = context;
	uint64_t mask = branches->mask, state = branches->state, taken = 0;

	for (unsigned i = 0; i < BRANCHES; i++) {
		state = cp_next_state(state);
		__asm__ volatile(BRANCH : "+r"(taken) : "r"(state), "r"(mask) : "cc");
	}
	branches->state = state; /* no two tries are the same */
	branches->taken += taken;
}

static double cycles_of(const struct cp_host *host, uint64_t mask)
{
	struct branches branches = {mask, 1, 0};

	return cp_best(TRIES, BRANCHES, run_branches, &branches) / host->ns;
}

void cp_measure_branches(struct cp_host *host, double found[CP_NFIGURES])
{
	double right = cycles_of(host, 0), wrong = cycles_of(host, (uint64_t)1 << 62);

	found[CP_FIGURE_MISPREDICT] = 2 * (wrong - right);
}
