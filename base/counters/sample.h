/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_SAMPLE: the simulated PMU simulates first-level caches and TLBs in bursts of
 * instructions only, and L2 and the last level in some of their sets.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_SAMPLE_H
#define CACHEPEEK_BASE_COUNTERS_SAMPLE_H

#include "base/counters/sweep.h"
#include "base/machine/machine.h"

struct cp_sample_plan {
	unsigned sets, groups; /* so many of the groups of sets; 0: nothing is sampled */
	uint64_t warm, burst, period; /* instructions */
	uint64_t seed;                /* 0: whatever */
};

/* fast, balanced, and KEY=NUMBER after that, or instead of it: sets, warm, burst, period,
 * seed.  0, or -EINVAL with one line in error. */
int cp_sample_parse(
	struct cp_sample_plan *plan, const char *text, char *error, size_t error_size);

/* Can it be done on this machine, too?  Fills in the groups, as many as all machines have
 * that were asked about.  0, or -EINVAL the same way. */
int cp_sample_fit(struct cp_sample_plan *plan, const struct cp_machine *machine,
	char *error, size_t error_size);

/* The same for the points of a sweep: what it has no value for says why. */
void cp_sample_fit_sweep(struct cp_sample_plan *plan, struct cp_sweep_plan *sweep);

/* The option of the simulated PMU (seed: if the plan has none), and what of it a report
 * should say. */
#define CP_SAMPLE_OPTION 128
void cp_sample_option(
	const struct cp_sample_plan *plan, uint64_t seed, char *to, size_t size);
void cp_sample_describe(const struct cp_sample_plan *plan, char *to, size_t size);

#endif
