/* SPDX-License-Identifier: MIT
 *
 * Samples of what the program's threads do, from the kernel's rings
 * (CACHEPEEK_PROFILE on the perf engine): a ring per thread, which a thread of
 * ours empties into PID-N.samples (regions/samples.h), and the threads themselves
 * where a region or they end.
 */
#ifndef CACHEPEEK_PRELOAD_SAMPLING_H
#define CACHEPEEK_PRELOAD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cp_sampler;

/* Chooses, once, what to sample; then makes the file, before any thread begins and
 * again in a fork child. */
void cp_sampling_choose(void);
void cp_sampling_prepare(void);
/* The thread that empties rings. */
void cp_sampling_start(void);
/* Another program may take its place, or system calls be forbidden: what is in the
 * rings is saved. */
void cp_sampling_flush(void);
/* In a fork child, before cp_sampling_prepare. */
void cp_sampling_after_fork(void);

/* Begins to sample that thread; own: the thread calls this itself.  NULL: it is not
 * sampled. */
struct cp_sampler *cp_sampling_thread_begin(pid_t tid, bool own);
/* NULL is fine; own as above. */
void cp_sampling_thread_end(struct cp_sampler *sampler, bool own);
/* The calling thread's, where a region ends. */
void cp_sampling_boundary(struct cp_sampler *sampler);
void cp_sampling_forget(struct cp_sampler *sampler);
/* In a fork child that may go back to its thread's ring (NULL is fine): nothing is in
 * it; and what it writes is no longer in the file. */
void cp_sampling_forked_inside(const struct cp_sampler *sampler);
void cp_sampling_detach(void);

#endif
