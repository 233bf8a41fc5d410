/* SPDX-License-Identifier: MIT
 *
 * How far apart samples are: a prime, so that it shares no factor with what the
 * program repeats, and another one now and then, so that what it repeats does not
 * meet the same place each time.
 */
#ifndef CACHEPEEK_BASE_ENGINE_PERIOD_H
#define CACHEPEEK_BASE_ENGINE_PERIOD_H

#include <stdint.h>

#define CP_PERIOD_JITTER 5   /* percent, either way */
#define CP_PERIOD_SAMPLES 64 /* so many have one period */

struct cp_period {
	uint64_t middle; /* 1: each one, always */
	uint64_t step;   /* the hardware ignores what is no multiple of it; 0: 1 */
	uint64_t random; /* the generator's state; any seed */
};

/* The period from here on: a prime, times the step, within the jitter of the middle, or
 * the nearest one where there is none. */
uint64_t cp_period_next(struct cp_period *period);

#endif
