/* SPDX-License-Identifier: MIT
 *
 * A thread that is counted, and its item of the record.
 */
#ifndef CACHEPEEK_PRELOAD_THREADS_THREAD_RECORD_H
#define CACHEPEEK_PRELOAD_THREADS_THREAD_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "regions/left_out.h"
#include "base/engine/engine.h"
#include "preload/self.h"
#include "regions/tree.h"

struct cp_live_thread {
	struct cp_live_thread *next, *previous; /* next: first (cp_threads_give) */
	pid_t tid;
	struct cp_thread_item *item; /* in the record */
	struct cp_thread_counters counters;
	struct cp_tree tree;
	struct cp_sampler *sampler; /* NULL: it is not sampled */
	uint64_t cpu_start;         /* ns of its CPU time that are not ours to know */
	uint64_t told;              /* the region that the engine was told of */
	struct cp_left_out left_out;
	bool lost; /* known, but its counters could not be opened */
	/* Somebody is inside the tree: the owner, or another thread that brings
	 * it up to date.  Whoever finishes the process sets cp_runtime.state
	 * first and then waits for this to be 0. */
	int busy;
	/* For whoever is inside: stacks may be small. */
	struct cp_reading reading;
};

/* Takes one, and gives it back.  NULL: no memory. */
struct cp_live_thread *cp_thread_take(void);
void cp_thread_give(struct cp_live_thread *thread);
/* All from the first to the last, linked by next. */
void cp_threads_give(struct cp_live_thread *first, struct cp_live_thread *last);

/* A published item of the record; NULL: no space. */
struct cp_thread_item *cp_thread_item_new(pid_t tid, uint32_t state);

/* By the thread itself: tells the engine, if that wants to know, in which region it goes
 * on. */
void cp_thread_tell_region(struct cp_live_thread *thread);

/* Threads are named after they begin: again when they end. */
void cp_thread_read_name(struct cp_thread_item *item);

/* Its counters cannot be opened; said once: where one thread fails, the next ones do,
 * too; the report counts them. */
void cp_thread_mark_lost(struct cp_thread_item *item, const struct cp_why *why);

/* Neither in the memory of the process nor in its record; said once, and counted. */
void cp_thread_warn_no_memory(pid_t tid);

/* In a fork child, whose record has none of the reasons. */
void cp_thread_forget_reason(void);

#endif
