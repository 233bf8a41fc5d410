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

#include <stdbool.h>
#include <sys/types.h>

/* In each process that counts: before its first thread begins, and after. */
void cp_interval_prepare(void);
void cp_interval_start(void);

/* No thread of ours is there any more when it returns. */
void cp_interval_stop(void);

/* The last row, after the last readings. */
void cp_interval_finish(void);

/* In a fork child: the parent's has not come along. */
void cp_interval_after_fork(void);

/* Our thread; 0: there is none. */
pid_t cp_interval_thread(void);

#endif
