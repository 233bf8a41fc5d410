/* SPDX-License-Identifier: MIT
 *
 * Shadows: the program runs natively; now and then it is forked, and the fork executes
 * what the program does next on the simulated PMU, and leaves its counts here.
 *
 * This is all that the library, which forks, and shadow.so, which executes, know of each
 * other.
 */
#ifndef CACHEPEEK_SHADOW_H
#define CACHEPEEK_SHADOW_H

#include <stdint.h>

#include "tools/sim/request.h"

#define CP_SHADOW_PROTOCOL 8
#define CP_SHADOW_WINDOWS 4096

/* The counters of a window: presets, as output/presets/sim.events has them. */
#define CP_SHADOW_COUNTERS(X)                                                            \
	X(instructions)                                                                  \
	X(l1d_accesses)                                                                  \
	X(l1d_loads)                                                                     \
	X(l1d_stores)                                                                    \
	X(l1i_misses)                                                                    \
	X(l1d_misses)                                                                    \
	X(l2_accesses)                                                                   \
	X(l2_misses)                                                                     \
	X(llc_accesses)                                                                  \
	X(llc_misses)                                                                    \
	X(dtlb_misses)                                                                   \
	X(dtlb_walks)                                                                    \
	X(itlb_misses)                                                                   \
	X(itlb_walks)

enum cp_shadow_counter {
#define X(name) CP_SHADOW_##name,
	CP_SHADOW_COUNTERS(X)
#undef X
		CP_SHADOW_NCOUNTERS
};

/* How a window ends; X(name, text).  The first two are counted: one of the whole run, and
 * one of a region. */
#define CP_SHADOW_ENDS(X)                                                                \
	X(MATCHED, "ended where the program was at a later tick")                        \
	X(REGION, "ended where an execution of their region did")                        \
	X(LIMIT, "did not get there within the limit of instructions")                   \
	X(LATE, "did not get there in time")                                             \
	X(SYSCALL, "met a system call that would have had an effect")                    \
	X(REREAD, "read a file that the program has changed since")                      \
	X(UNDECODED, "met an instruction that libVEX does not know")                     \
	X(X87, "began with values in x87 registers")                                     \
	X(FAULT, "met a fault, or memory that is shared with others")                    \
	X(AMBIGUOUS, "came by the place twice")                                          \
	X(UNPOSTED, "saw no later ticks of the program")                                 \
	X(CROSSED, "met regions that cross each other, or a pause")                      \
	X(BROKEN, "failed in the translation of code")                                   \
	X(COPIED,                                                                        \
		"were spent on copies of pages, which a fork makes, for the most part")  \
	X(KILLED, "were killed")

enum cp_shadow_end {
#define X(name, text) CP_SHADOW_##name,
	CP_SHADOW_ENDS(X)
#undef X
		CP_SHADOW_NENDS
};

struct cp_shadow_window {
	uint32_t end; /* enum cp_shadow_end */
	/* The number of a system call or signal (that killed it, too), or the first byte
	 * of an instruction. */
	uint32_t detail;
	uint32_t site;     /* of a region: which; 0: it is of the whole run */
	uint32_t measured; /* of a region: the execution that is counted has begun */
	uint64_t where;    /* the address of an instruction, or of memory */
	/* Of the thread, between the two bounds; and of the process, at the first of
	 * them. Of a region: 1, and the number of the execution. */
	uint64_t cpu_ns, at_ns;
	uint64_t copied_ns; /* beside cpu_ns, for pages that were copied meanwhile */
	/* From the fork to the first bound, where the program is slower: CPU time without
	 * copies, and instructions. */
	uint64_t settling_ns, settling;
	uint64_t count[CP_SHADOW_NCOUNTERS];
	/* The part of count that may not have been: misses that were hits, if the cache,
	 * empty when the window began, had the line. */
	uint64_t unknown[CP_SHADOW_NCOUNTERS];
	/* What caches held at the first bound, which the run has missed once, in a window
	 * or not. */
	uint64_t held[CP_SHADOW_NCOUNTERS];
};

/* Where the thread was at a tick: what its registers held, in the order of gregs, and
 * what is in memory where they point to.  An interpreter comes by the same place with the
 * same registers in each turn of a loop. */
#define CP_SHADOW_REGISTERS 17
#define CP_SHADOW_CODE 16 /* the one that tells the instruction */
#define CP_SHADOW_SEEN 64
struct cp_shadow_place {
	uint64_t reg[CP_SHADOW_REGISTERS];
	uint32_t readable; /* a bit for each register */
	uint8_t memory[CP_SHADOW_REGISTERS][CP_SHADOW_SEEN];
};

/* What is counted begins and ends where the program was at ticks after the fork. */
enum cp_shadow_bound { CP_SHADOW_FIRST, CP_SHADOW_LAST, CP_SHADOW_NBOUNDS };

/*
 * What the library tells its shadow by a system call of that number, which there is not,
 * from its own code: the execution that is to be counted begins here, or ends; its window
 * is cut here; what follows is not the program's, or is again; the program's call, which
 * we are in, has no result.
 */
#define CP_SHADOW_CALL 0x43500000
enum cp_shadow_word {
	CP_SHADOW_BEGINS,
	CP_SHADOW_ENDS,
	CP_SHADOW_CUT,
	CP_SHADOW_PAUSES,
	CP_SHADOW_RESUMES,
	CP_SHADOW_SILENT,
};

/* Where a window's misses were (CACHEPEEK_PROFILE), by instruction.  The first entry, of
 * address 0, has those for which there is no room. */
#define CP_SHADOW_PLACES 4096
#define CP_SHADOW_PLACE_SLOTS 8192
struct cp_shadow_misses {
	uint32_t n;
	uint32_t beyond; /* references whose misses the first entry has */
	/* The part of all counts that may not have been, as of a window. */
	uint64_t unknown[CP_SIM_NBURST];
	uint16_t slot[CP_SHADOW_PLACE_SLOTS]; /* by a hash: entries; 0: free */
	struct cp_shadow_missed {
		uint64_t address;
		uint32_t count[CP_SIM_NBURST]; /* those that places have */
	} of[CP_SHADOW_PLACES];
};

/* Descriptors that a shadow can read from. */
#define CP_SHADOW_FILES 64

/* Shared by the program and its shadows. */
struct cp_shadow_shared {
	/* Where the program was in its files when it was forked; < 0: nowhere. */
	int64_t offset[CP_SHADOW_FILES];
	/* When that was, by the clock that files have their times from. */
	int64_t forked_seconds, forked_ns;
	/* 1: it ends where the library says so, and not at a place. */
	uint32_t is_region;
	uint32_t posted;   /* a futex: how many bounds are there; with the last, times */
	uint32_t finished; /* by the shadow, when its window is there */
	struct cp_shadow_place bound[CP_SHADOW_NBOUNDS];
	uint64_t at_ns, slice_ns;       /* of process and thread */
	uint64_t copied_ns;             /* what copies of pages took of the latter */
	struct cp_shadow_window window; /* of the shadow that is at work */
	/* Of a window of the whole run; behind this, in the same mapping.  NULL: nobody
	 * asks for them. */
	struct cp_shadow_misses *misses;
};

#define CP_SHADOW_CODES 8
struct cp_shadow_plan {
	struct cp_shadow_shared *shared;
	const char *const *words; /* the machine, as the simulated PMU's options */
	uint32_t nwords;
	uint64_t limit, region_limit; /* instructions */
	uint64_t limit_ns;            /* of the shadow's CPU time */
	/* Code that is not counted: the library's, and that of what it has loaded. */
	struct cp_shadow_code {
		const char *begin, *end;
	} own[CP_SHADOW_CODES];
};

struct cp_shadow {
	uint32_t protocol;
	/* 0, or -errno with one line in why: the reason and the cure. */
	int (*start)(const struct cp_shadow_plan *plan, char *why, uint64_t size);
	/* In a fork child of the program, whose own shadows these are to be: takes
	 * memory of its own in place of the parent's.  0, or -ENOMEM: there can be none.
	 */
	int (*start_again)(struct cp_shadow_shared *shared);
	/* In the fork: executes from what the signal (its ucontext_t) has interrupted.
	 * parent: the process that was forked. */
	__attribute__((noreturn)) void (*execute)(
		const void *context, int parent, int thread);
	/* Are its caches plain ones, of which it is known which misses are unknown? */
	int (*is_plain)(void);
	/* Is there code that is not counted?  Of a signal's handler, too. */
	int (*is_own)(uint64_t code);
};

#endif
