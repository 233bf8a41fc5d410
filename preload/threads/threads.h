/* SPDX-License-Identifier: MIT
 *
 * The threads of this process that are being counted.
 */
#ifndef CACHEPEEK_PRELOAD_THREADS_H
#define CACHEPEEK_PRELOAD_THREADS_H

#include <stdbool.h>
#include <sys/types.h>

#include "preload/threads/thread_record.h"

/* CPU time of the process, and of a thread (0: the caller), in ns. */
uint64_t cp_process_cpu(void);
uint64_t cp_thread_cpu(pid_t tid);

/* A thread's creation has begun; and it is counted now, or was not created. */
void cp_thread_starts(void);
void cp_thread_started(void);
/* Is any between the two? */
bool cp_threads_start_now(void);

/* Once, in the constructor (and never again: keys survive a fork); left: a thread that is
 * counted has left the program's code for good. */
void cp_threads_start(void (*left)(void));

/* Counts the calling thread from here on. */
void cp_thread_begin(void);

/* The calling thread ends: last reading, state in the record, counters closed.
 * Nothing of ours happens in it afterwards. */
void cp_thread_end(void);

/* Is nobody left whom we count, or are about to? */
bool cp_threads_all_ended(void);

/* Last readings of every thread that still runs; none of them can enter its
 * tree any more (cp_runtime.state is set). */
void cp_threads_finish(void);

/* Brings every thread's root region up to date, without ending anything. */
void cp_threads_flush(void);

/* Ends the regions that are open in the caller, whose last reading was just taken; the
 * other threads end in the exec, wherever they are. */
void cp_thread_before_exec(void);
void cp_thread_exec_failed(void);

/* The same, and calls take while nobody comes or goes; nothing once the process
 * is being finished. */
void cp_threads_sample(void (*take)(void));

/* Calls visit for the thread tid, if it is still there, with nobody else inside
 * its tree. */
void cp_thread_visit(
	pid_t tid, void (*visit)(struct cp_live_thread *, void *), void *context);

/* Returns when no reading that was under way is any more. */
void cp_threads_wait_for_readings(void);

/* In a fork child that goes back to what a signal handler has interrupted: there is
 * all that its threads' readings look at. */
void cp_threads_forked_inside(void);

/* In a fork child: what its parent's threads had is not there. */
void cp_threads_after_fork(void);

/* The same, if it is counted: only the caller is left, from zero. */
void cp_threads_of_child(void);

/* Looks for threads that nobody saw being created and counts them from now on
 * (where the engine can). */
void cp_threads_adopt(void);

/* For that: live, or ended a moment ago (its entry in /proc may be there still); how
 * many live; and a thread that is counted from now on. */
bool cp_thread_is_known(pid_t tid);
unsigned cp_threads_live(void);
void cp_thread_adopt(pid_t tid);

#endif
