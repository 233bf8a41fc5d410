/* SPDX-License-Identifier: MIT
 *
 * What there is of shadows in a process that asked for them.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_STATE_H
#define CACHEPEEK_PRELOAD_SHADOW_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/shadow/shadow.h"

#define CP_TICKERS 256 /* threads that have ticks at a time */
#define CP_PROBES 8
#define CP_PROBE_PAGE 4096

/* Windows, and what has come of them. */
struct cp_shadow_log {
	unsigned ended[CP_SHADOW_NENDS]; /* windows, by how they ended */
	unsigned ticks;
	unsigned put_off; /* windows that would have cost more than the budget */
	unsigned refused; /* forks that the kernel refused */
	int refused_error;
	uint32_t last_detail[CP_SHADOW_NENDS];
	uint64_t last_where[CP_SHADOW_NENDS];
	unsigned nwindows; /* those that are counted */
	struct cp_shadow_window window[CP_SHADOW_WINDOWS];
};

/* The cost of shadows, in CPU time of the program (controller.h). */
struct cp_shadow_cost {
	uint64_t ns;        /* all of it: ticks, and pages that were copied; atomic */
	uint64_t ticks_ns;  /* of them, ticks; atomic */
	uint64_t window_ns; /* of the last window; 0: there was none */
	uint64_t began;     /* the process's CPU time, when they did */
	uint64_t began_faults;
	/* The least time that copying CP_PROBES pages took: with the mean, one that
	 * others disturbed would leave no time to windows that have faults of their own.
	 */
	uint64_t probes_ns;
	/* When the shadow was forked; when the last one was reaped. */
	uint64_t at_fork, fork_faults, fork_cpu;
	uint64_t reap_faults, reap_cpu;
	/* While there was no shadow. */
	uint64_t quiet_faults, quiet_ns;
};

/* BUSY: a thread goes from one state to the next. */
enum cp_ticks_state {
	CP_TICKS_OFF,
	CP_TICKS_IDLE,
	CP_TICKS_BUSY,
	CP_TICKS_FORKED,
	CP_TICKS_POSTED
};

/* The timer of a thread. */
struct cp_ticker {
	pid_t thread; /* 0: free; atomic */
	int timer;
	uint64_t slice_began, slice_faults;
};

/* The state of it all, from the kernel: nothing of it is there unless it was asked for
 * (runtime.h). */
struct cp_shadows {
	const struct cp_shadow *shadow;
	struct cp_shadow_shared *shared;
	enum cp_ticks_state state; /* atomic */
	pid_t pid, child;
	unsigned untimed;        /* threads without a timer; atomic */
	struct cp_ticker *owner; /* of the window */
	struct cp_ticker ticker[CP_TICKERS];
	uint64_t random;
	struct cp_shadow_cost cost;
	struct cp_shadow_log log;
	unsigned char probed[CP_PROBES][CP_PROBE_PAGE];
	/* shadow.c */
	bool plain;
	bool cut; /* the program ended the windows: what came later is not estimated */
};

#endif
