/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Chance that is the same in every run of a seed (xorshift64), of all bits, natively and
 * simulated.
 */
#ifndef CACHEPEEK_TESTS_SIM_NATIVE_CHANCE_H
#define CACHEPEEK_TESTS_SIM_NATIVE_CHANCE_H

#include <stdint.h>

static uint64_t chance;

static inline uint64_t random64(void)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return chance;
}

static inline unsigned below(unsigned n)
{
	return (unsigned)(random64() >> 33) % n;
}

#endif
