/* SPDX-License-Identifier: MIT
 *
 * What there is of shadows in a process that asked for them.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_STATE_H
#define CACHEPEEK_PRELOAD_SHADOW_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/engine/engine.h"
#include "base/files/memory_left.h"
#include "base/lock.h"
#include "preload/runtime.h"
#include "regions/tree.h"
#include "tools/shadow/shadow.h"

#define CP_TICKERS 256 /* threads that have ticks at a time */
#define CP_PROBES 8
#define CP_PROBE_PAGE 4096
#define CP_PROBE_ROUNDS 31
#define CP_SITES 64 /* regions that have windows of their own; 0 is none */
#define CP_SITE_DEPTH CP_SHADOWED_DEPTH
#define CP_WALK_DEPTH 64

/* Windows, and what has come of them. */
struct cp_shadow_log {
	unsigned ended[CP_SHADOW_NENDS]; /* windows, by how they ended */
	unsigned ticks;
	unsigned forks;
	unsigned put_off; /* windows that would have cost more than the budget */
	unsigned waited; /* windows that were put off, as those before met system calls */
	unsigned refused; /* forks that the kernel refused */
	int refused_error;
	uint32_t last_detail[CP_SHADOW_NENDS];
	uint64_t last_where[CP_SHADOW_NENDS];
	unsigned nwindows; /* those that are counted */
	struct cp_shadow_window window[CP_SHADOW_WINDOWS];
};

/* The cost of shadows, in CPU time of the program (controller.h). */
struct cp_shadow_cost {
	uint64_t ns;        /* all of it: ticks, and faults that follow forks; atomic */
	uint64_t ticks_ns;  /* of them, ticks; atomic */
	uint64_t window_ns; /* from the fork before the last one to the last one; or 0 */
	uint64_t began;     /* the process's CPU time, when they did */
	/* How long CP_PROBES pages took that were copied, after the last forks, and that
	 * only had to be made writable again, after the last shadows. */
	struct cp_probes {
		uint32_t ns[CP_PROBE_ROUNDS];
		unsigned n;
	} copied, freed;
	bool has_shadow;
	/* When the shadow was forked, or 0; when the last one was reaped. */
	uint64_t ns_at_fork, fork_cpu, reap_cpu;
	/* Page faults and resident pages that have been taken into account, and the pages
	 * that were resident at the fork and have not faulted since. */
	uint64_t seen_faults, seen_pages, shared_pages;
	unsigned in_vain; /* windows of the whole run that met a system call in a row
			   */
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

/* A path of regions, in whatever threads. */
struct cp_site {
	unsigned depth; /* 0: free */
	const struct cp_name *path[CP_SITE_DEPTH];
	uint64_t executions;   /* that have begun; atomic */
	uint64_t next;         /* the one that is to have a window; atomic */
	unsigned counted;      /* windows that ended where it did */
	unsigned cut;          /* that did not, though the execution had begun */
	unsigned row;          /* the last ones, of which none was counted */
	unsigned early;        /* windows that were cut before that */
	uint64_t instructions; /* of those that are counted */
	bool paused;           /* some were begun in a pause */
	struct cp_shadowed_region_item *item;
};

/* What is done of regions (sites.c): the watch's part; a window of its own is over; and
 * for the engine of a shadow: what follows is our own work; is the program's again. */
struct cp_site_calls {
	void (*begins)(struct cp_live_thread *thread);
	void (*passed)(const struct cp_name *name, uint64_t tag, enum cp_passed boundary);
	void (*ended)(struct cp_site *site, const struct cp_shadow_window *window);
	void (*pause)(void);
	void (*resume)(void);
};

/* What a shadow of a region knows of those that are open in it. */
struct cp_walk {
	const struct cp_site *site; /* NULL: it is no such shadow */
	unsigned before;            /* executions, until the one that is counted */
	bool inside;                /* of one */
	unsigned depth;
	struct cp_open_region open[CP_WALK_DEPTH];
};

/* The state of it all, from the kernel: nothing of it is there unless it was asked for
 * (runtime.h). */
struct cp_shadows {
	const struct cp_shadow *shadow;
	struct cp_shadow_shared *shared;
	enum cp_ticks_state state; /* atomic */
	pid_t pid, child;
	uint64_t settling_ns;    /* as the window that is at work will have it */
	unsigned untimed;        /* threads without a timer; atomic */
	struct cp_ticker *owner; /* of the window */
	struct cp_ticker ticker[CP_TICKERS];
	uint64_t random;
	struct cp_shadow_cost cost;
	struct cp_shadow_log log, regions;
	/* The last look at memory, in CPU time; where it was short: what there should
	 * have been, and in what. */
	struct {
		uint64_t looked, wanted;
		bool is_short;
		const char *whose;
		unsigned left_out; /* windows */
		struct cp_memory_text text;
	} memory;
	struct cp_watch watch;
	const struct cp_site_calls *calls;
	struct cp_site site[CP_SITES];
	struct cp_lock finding; /* a free one; a child gives all of this back */
	pid_t forks_now;        /* the thread that asked for a fork where it is */
	struct cp_walk walk;
	struct cp_engine engine; /* of a shadow: the other one, but for our own work */
	struct cp_shadow_window gathered[CP_SHADOW_WINDOWS];
	unsigned char copied[CP_PROBES][CP_PROBE_PAGE], freed[CP_PROBES][CP_PROBE_PAGE];
	struct cp_places *places; /* NULL: nobody asks where misses are */
	/* shadow.c */
	bool plain;
	bool cut; /* the program ended the windows: what came later is not estimated */
};

#endif
