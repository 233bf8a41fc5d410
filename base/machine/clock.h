/* SPDX-License-Identifier: MIT
 *
 * The clock of the processor that this process runs on, where nothing tells one but the
 * TSC's: a server's processor runs at up to twice that.
 */
#ifndef CACHEPEEK_BASE_MACHINE_CLOCK_H
#define CACHEPEEK_BASE_MACHINE_CLOCK_H

#include <stdint.h>

/* The clock in MHz by which a chain of 60,000 additions takes so long.  All that disturbs
 * the chain makes it longer, so the clock is no lower than the one that is told. */
uint32_t cp_clock_of_chain(uint32_t told, uint64_t ns);

/* By such a chain, run here; the one that is told, where none can be run, or this process
 * is to measure nothing. */
uint32_t cp_clock_here(uint32_t told);

/* Runs that are the same whenever they are made measure nothing.  Not thread-safe. */
void cp_clock_measure_nothing(void);

#endif
