/* SPDX-License-Identifier: MIT
 *
 * The state of the library in this process.
 */
#ifndef CACHEPEEK_PRELOAD_RUNTIME_H
#define CACHEPEEK_PRELOAD_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/counters/clock.h"
#include "base/engine/engine.h"
#include "regions/record_write.h"
#include "regions/tree.h"

enum cp_state {
	CP_OFF,      /* not started, or disabled */
	CP_ON,       /* counting */
	CP_FINISHED, /* last readings taken: nothing is recorded any more */
	CP_SHADOW,   /* this is a shadow (shadow/shadow.h), which looks at regions only */
};

/* The signal of the shadows' ticks (shadow/tick_signal.h). */
#define CP_TICK_SIGNAL 32

struct cp_live_thread;

/* What a boundary of a region is in a shadow. */
enum cp_passed { CP_PASSED_BEGIN, CP_PASSED_END, CP_PASSED_END_ALONE, CP_PASSED_PAUSE };

/* Wants to know of each thread but the first, in that thread: it begins, and ends; of
 * each execution of a region, in its thread: it begins; and in a shadow of all
 * boundaries. */
struct cp_watch {
	void (*begun)(void);
	void (*ended)(void);
	void (*region_begins)(struct cp_live_thread *thread);
	void (*passed)(const struct cp_name *name, uint64_t tag, enum cp_passed boundary);
};

/* decide.h has what was decided, run.h the run that this process belongs to,
 * counters/options.h the settings. */
struct cp_runtime {
	int state;     /* enum cp_state; atomic */
	bool confined; /* by a seccomp filter of its own: see seccomp.h; atomic */
	bool quiet;    /* an earlier image of this process has said it all */
	bool forked;   /* this process is a fork child without an exec */
	pid_t pid;
	struct cp_recording record;
	struct cp_layout layout; /* of the regions in it */
	/* Time in MPI, in the record; atomic.  NULL: the process is no rank. */
	struct cp_mpi_item *mpi;
	/* CPU time before counting began, of the process and of its main thread: for the
	 * check whether there were threads that nobody saw. */
	uint64_t cpu_base, main_cpu_base;
	/* The estimates of shadows, in the record; NULL: there are none. */
	struct cp_shadowed_item *shadowed;
	/* CACHEPEEK_ENGINE=shadow (shadow/state.h); NULL: there are none. */
	struct cp_shadows *shadows;
	const struct cp_shadow *parents_shadow; /* in a fork child: what its parent has */
	const struct cp_watch *watch;           /* or NULL */
};

extern struct cp_runtime cp_runtime __attribute__((visibility("hidden")));

static inline bool cp_counting(void)
{
	return __atomic_load_n(&cp_runtime.state, __ATOMIC_RELAXED) == CP_ON;
}

/* Are regions looked at: do names mean anything?  One instruction: on, or a shadow. */
static inline bool cp_marking(void)
{
	_Static_assert((CP_ON & CP_SHADOW & 1) && !((CP_OFF | CP_FINISHED) & 1), "");
	return __atomic_load_n(&cp_runtime.state, __ATOMIC_RELAXED) & 1;
}

static inline bool cp_confined(void)
{
	return __atomic_load_n(&cp_runtime.confined, __ATOMIC_ACQUIRE);
}

/* A vfork child has our memory but is not us.  Who is confined may not ask. */
bool cp_is_this_process(void);

/* CLOCK_MONOTONIC; 0 where the time that passes is not the program's. */
static inline uint64_t cp_now_ns(void)
{
	return cp_engine->has_time ? cp_clock_ns() : 0;
}

/* Is this image the program executed again, under the simulated PMU? */
static inline bool cp_is_reexecuted(void)
{
	return cp_engine == &cp_engine_sim;
}

/* On a stack of ours that is large enough: where a process begins and ends. */
void cp_call_aside(void (*function)(void *), void *argument);

#endif
