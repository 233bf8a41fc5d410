/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Numbers that are the same in every run (xorshift64).
 */
#ifndef CACHEPEEK_TESTS_SIM_RANDOM_H
#define CACHEPEEK_TESTS_SIM_RANDOM_H

#include <stdint.h>

#define RANDOM_SEED 88172645463325252ull

static uint64_t seed = RANDOM_SEED;

static inline uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

#endif
