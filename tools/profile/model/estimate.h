/* SPDX-License-Identifier: MIT
 *
 * From samples to what they stand for, with an error bar: the one place where that
 * is done, for the kernel's samples and for those of the simulated PMU's misses.
 *
 * Each thread is scaled by itself: what its event counted over what its samples'
 * periods add up to (the end of each thread's last period is no sample's, and some
 * samples are lost).  A place's samples times their period times that scale is the
 * estimate.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_MODEL_ESTIMATE_H
#define CACHEPEEK_TOOLS_PROFILE_MODEL_ESTIMATE_H

#include <stdint.h>

/* All of a thread. */
struct cp_population {
	double total; /* counted by the event */
	double periods;
	uint64_t samples;
};

/* The estimate of a place, added up over threads. */
struct cp_estimate {
	double value;
	double variance; /* as if the place were a small part of the whole */
};

/* That many samples of the thread, with these periods, are the place's. */
void cp_estimate_add(struct cp_estimate *estimate, const struct cp_population *population,
	uint64_t samples, double periods);

/*
 * Half of the 95 % interval around the value: Wilson's, which holds for few samples
 * as well, from its farther end.  total: of all places together.  0 if each event
 * was sampled.
 */
double cp_estimate_error(const struct cp_estimate *estimate, double total);

#endif
