/* SPDX-License-Identifier: MIT
 *
 * Context switches of a thread from the kernel's accounts, for users who may not
 * open an event in kernel mode: none of the process's threads (cp_counter.rusage), or
 * one of them, after the process gave up its rights (refused).  The scheduler adds to
 * ru_nvcsw or ru_nivcsw where it raises PERF_COUNT_SW_CONTEXT_SWITCHES, so the sum is as
 * exact as the event.
 */
#ifndef CACHEPEEK_BASE_ENGINE_RUSAGE_H
#define CACHEPEEK_BASE_ENGINE_RUSAGE_H

#include "base/engine/engine.h"

/* Do the accounts have what this event counts? */
bool cp_rusage_has(const struct perf_event_attr *attr);

/* Remembers what counters->tid has had so far, if any counter of the set is read
 * from there.  The caller is that thread if own. */
void cp_rusage_open(
	const struct cp_event_set *set, struct cp_thread_counters *counters, bool own);

/* Fills in those counters of the reading.  Where the accounts cannot be read, or do not
 * have what was refused, the counter's time goes on but its running time does not: the
 * value is unavailable. */
void cp_rusage_read(const struct cp_event_set *set,
	const struct cp_thread_counters *counters, bool own, struct cp_reading *reading);

/* From now on no system call is made: the program forbids itself some. */
void cp_rusage_stop(void);

#endif
