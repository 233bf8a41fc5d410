/* SPDX-License-Identifier: MIT
 *
 * The threads of this process that are being counted.
 */
#ifndef CACHEPEEK_PRELOAD_THREADS_H
#define CACHEPEEK_PRELOAD_THREADS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/engine/engine.h"
#include "regions/tree.h"
#include "preload/libc/real.h"

struct cp_live_thread {
	struct cp_live_thread *next, *previous;
	pid_t tid;
	struct cp_thread_item *item; /* in the record */
	struct cp_thread_counters counters;
	struct cp_tree tree;
	struct cp_sampler *sampler; /* NULL: it is not sampled */
	uint64_t cpu_start;         /* ns of its CPU time that are not ours to know */
	bool lost;                  /* known, but its counters could not be opened */
	/* Somebody is inside the tree: the owner, or another thread that brings
	 * it up to date.  Whoever finishes the process sets cp_runtime.state
	 * first and then waits for this to be 0. */
	int busy;
	/* For whoever is inside: stacks may be small. */
	struct cp_reading reading;
};

/* All that a thread has of its own: initial-exec, so that reading it calls
 * nothing.  depth > 0 or dead: keep out, we were called from within. */
struct cp_self {
	struct cp_live_thread *thread; /* NULL if it is not counted */
	struct cp_live_thread *lost;   /* known all the same */
	int depth;
	bool dead;
	unsigned char rounds; /* of the TSD destructor */
	uint32_t function;    /* innermost that is patched (preload/patch); 0: none */
	uintptr_t counting;   /* where its begin or end is under way; 0: none is */
	void *stack;          /* the alternate signal stack that we gave it */
	/* A fatal signal that came at depth > 0; 0: none. */
	volatile int pending;
	siginfo_t pending_info;
};

extern __thread struct cp_self cp_self __attribute__((tls_model("initial-exec")));

/* May this thread do anything of ours now?  Pairs with cp_leave(). */
static inline bool cp_enter(void)
{
	if (cp_self.dead || cp_self.depth > 0)
		return false;
	cp_self.depth++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

/* Lets cp_self.pending strike (fatal.c). */
void cp_deferred_signal(void);

static inline void cp_leave(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	cp_self.depth--;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(cp_self.pending != 0, 0))
		cp_deferred_signal();
}

/*
 * Around our own work that calls others, mostly libc: it is not counted, and the thread
 * is not cancelled, since one that is cancelled inside would leave locks held (what
 * opens, reads or writes files is a cancellation point).  state is for the end.
 */
static inline void cp_own_work_begin(int *state)
{
	cp_engine_pause();
	CP_REAL(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, state);
}

static inline void cp_own_work_end(int state)
{
	CP_REAL(pthread_setcancelstate)(state, NULL);
	cp_engine_resume();
}

/* Both at once.  A thread that is cancelled at any time is so when it has left; libc's
 * work for that is not the program's either. */
static inline bool cp_enter_slowly(int *state)
{
	if (!cp_enter())
		return false;
	cp_own_work_begin(state);
	return true;
}

static inline void cp_leave_slowly(int state)
{
	cp_leave();
	CP_REAL(pthread_setcancelstate)(state, NULL);
	cp_engine_resume();
}

/* ---- for ended.c ---- */

/* A published item of the record; NULL: no space. */
struct cp_thread_item *cp_thread_item_new(pid_t tid, uint32_t state);

void cp_thread_give(struct cp_live_thread *thread);

/* ---- ---- */

/* CPU time of the process, and of a thread (0: the caller), in ns. */
uint64_t cp_process_cpu(void);
uint64_t cp_thread_cpu(pid_t tid);

/* Threads whose creation was begun and that are not counted yet; atomic. */
extern int cp_threads_starting;

/* Once, in the constructor (and never again: keys survive a fork). */
void cp_threads_start(void);

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

/* What is open in the caller, whose last reading was just taken; the other threads end
 * in the exec, wherever they are. */
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
void cp_threads_settle(void);

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
