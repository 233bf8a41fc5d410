/* SPDX-License-Identifier: MIT
 *
 * CLOCK_MONOTONIC at the price of reading the timestamp counter, where the
 * kernel says how to turn that into nanoseconds.
 */
#ifndef CACHEPEEK_PRELOAD_CLOCK_H
#define CACHEPEEK_PRELOAD_CLOCK_H

#include <stdint.h>

/* Once, before cp_clock_ns is used for anything that lasts. */
void cp_clock_start(void);

uint64_t cp_clock_ns(void);

/* Waits, 2 ms at most, until reading it costs what it will from then on. */
void cp_clock_settle(void);

#endif
