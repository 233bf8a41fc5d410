/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_INTERVAL: the time series of this process.
 *
 * perf: a thread of ours that libc does not know (it counts no threads, takes no
 * locks because of it, and none of the program's signals) brings the counts up to
 * date and adds a row.  The simulated PMU adds the rows itself, between two time
 * slices: there is no thread.
 */
#ifndef CACHEPEEK_PRELOAD_INTERVAL_H
#define CACHEPEEK_PRELOAD_INTERVAL_H

/* In each process that counts: before its first thread begins, and after. */
void cp_interval_prepare(void);
void cp_interval_start(void);

/* The last row, after the last readings. */
void cp_interval_finish(void);

#endif
