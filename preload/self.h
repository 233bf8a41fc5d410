/* SPDX-License-Identifier: MIT
 *
 * The calling thread: whether it may do anything of ours now, and what it is not to be
 * interrupted in.
 */
#ifndef CACHEPEEK_PRELOAD_SELF_H
#define CACHEPEEK_PRELOAD_SELF_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/engine/engine.h"
#include "preload/libc/real.h"

struct cp_live_thread;
struct cp_omp_site;

/* All that a thread has of its own: initial-exec, so that reading it calls
 * nothing.  depth > 0 or dead: keep out, we were called from within. */
struct cp_self {
	struct cp_live_thread *thread; /* NULL if it is not counted */
	struct cp_live_thread *lost;   /* known all the same */
	int depth;
	bool dead;
	bool left;            /* at depth > 0 for good: see jump.h */
	uintptr_t entered;    /* the stack pointer, about, where depth became 1 */
	unsigned char rounds; /* of the TSD destructor */
	uint32_t function;    /* innermost that is patched (preload/patch); 0: none */
	uintptr_t counting;   /* where its begin or end is under way; 0: none is */
	void *stack;          /* the alternate signal stack that we gave it */
	/* Its own one, where its creator has said how large; low 0: wherever the C
	 * library has put it. */
	struct cp_stack_bounds {
		uintptr_t low;
		size_t size; /* 0: nobody has said */
	} bounds;
	/* Inside a function of another interface, whose functions may call each other
	 * through us: then that is no call of the program. */
	struct {
		bool caliper, scorep, tau, mpi, pcontrol;
	} within;
	bool paused; /* by MPI_Pcontrol */
	/* The body of the parallel region that it is about to begin. */
	const struct cp_omp_site *omp_next;
	/* The body, or the task, that gcc's runtime has it run. */
	const void *omp_body;
	/* A fatal signal that came at depth > 0; 0: none. */
	volatile int pending;
	siginfo_t pending_info;
};

extern __thread struct cp_self cp_self __attribute__((tls_model("initial-exec")));

/* Without a frame pointer, which would cost each region more. */
static inline uintptr_t cp_stack_pointer(void)
{
	uintptr_t sp;

#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
	__asm__ volatile("mov %0, sp" : "=r"(sp));
#else
	sp = (uintptr_t)__builtin_frame_address(0);
#endif
	return sp;
}

/* May this thread do anything of ours now?  Pairs with cp_leave(). */
static inline bool cp_enter(void)
{
	if (cp_self.dead || cp_self.depth > 0)
		return false;
	cp_self.entered = cp_stack_pointer();
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

#endif
