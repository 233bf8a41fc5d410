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
};

/* decide.h has what was decided, run.h the run that this process belongs to,
 * counters/options.h the settings. */
struct cp_runtime {
	int state;           /* enum cp_state; atomic */
	bool confined;       /* by a seccomp filter of its own: see seccomp.h; atomic */
	bool starts_nothing; /* its filter forbids to execute what writes the report */
	bool quiet;          /* an earlier image of this process has said it all */
	bool forked;         /* this process is a fork child without an exec */
	pid_t pid;
	struct cp_recording record;
	struct cp_layout layout; /* of the regions in it */
	/* The writer of that process's report (program/reporter.h); pid 0: the process
	 * itself. */
	struct {
		pid_t pid, child;
		int socket;
	} reporter;
	/* Time in MPI, in the record; atomic.  NULL: the process is no rank. */
	struct cp_mpi_item *mpi;
	/* CPU time before counting began, of the process and of its main thread: for the
	 * check whether there were threads that nobody saw. */
	uint64_t cpu_base, main_cpu_base;
};

extern struct cp_runtime cp_runtime __attribute__((visibility("hidden")));

static inline bool cp_counting(void)
{
	return __atomic_load_n(&cp_runtime.state, __ATOMIC_RELAXED) == CP_ON;
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
