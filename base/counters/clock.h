/* SPDX-License-Identifier: MIT
 *
 * CLOCK_MONOTONIC at the price of reading the timestamp counter, where the
 * kernel says how to turn that into nanoseconds.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_CLOCK_H
#define CACHEPEEK_BASE_COUNTERS_CLOCK_H

#include <stdint.h>

#include "base/engine/arch/arch.h"

/* Once, before cp_clock_ns is used for anything that lasts. */
void cp_clock_start(void);

/* The kernel's own: what it stamps on things is never before it. */
uint64_t cp_clock_of_kernel(void);

/* The kernel's, or as soon as the counter's rate is known that. */
uint64_t cp_clock_slowly(void);

struct cp_clock {
	int calibrated;     /* atomic: the rest is there */
	uint64_t ticks, ns; /* of one moment */
	uint64_t rate;      /* ns per tick, times 2^32 */
};

/* Nanoseconds since 1970. */
uint64_t cp_clock_realtime(void);

extern struct cp_clock cp_clock __attribute__((visibility("hidden")));

static inline uint64_t cp_clock_ns(void)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t now;

	if (__builtin_expect(!__atomic_load_n(&cp_clock.calibrated, __ATOMIC_ACQUIRE), 0))
		return cp_clock_slowly();
	now = cp_arch_timestamp();
	/* Another CPU's may be a few ticks behind. */
	if (__builtin_expect(now < cp_clock.ticks, 0))
		return cp_clock.ns;
	return cp_clock.ns +
	       (uint64_t)((wide)(now - cp_clock.ticks) * cp_clock.rate >> 32);
}

/* Waits, 2 ms at most, until reading it costs what it will from then on. */
void cp_clock_warm_up(void);

#endif
