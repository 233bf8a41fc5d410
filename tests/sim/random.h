/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Numbers by chance that are the same in every run.
 */
#ifndef CACHEPEEK_TESTS_SIM_RANDOM_H
#define CACHEPEEK_TESTS_SIM_RANDOM_H

#include <stdint.h>

static uint64_t seed = 1;

static inline uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* From now on they are the same once more. */
static inline void random_again(void)
{
	seed = 1;
}

#endif
