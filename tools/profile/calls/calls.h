/* SPDX-License-Identifier: MIT
 *
 * The call paths of a profile as one tree: those of all threads and processes together,
 * or of one thread, by the names of functions.
 */
#ifndef CACHEPEEK_TOOLS_CALLS_H
#define CACHEPEEK_TOOLS_CALLS_H

#include "tools/profile/model/measurement.h"

struct cp_called {
	const char *name;   /* "": of the root */
	const char *module; /* path; "": no file */
	const char *file;   /* of source, where it begins; "": not known */
	unsigned line;
};

struct cp_call {
	size_t function, parent; /* in struct cp_calls; the root is its own parent */
	size_t first, next;      /* a child, and its parent's next one; 0: none */
	unsigned depth;
	uint64_t calls, folded;
	uint64_t own[CP_SIM_NCOUNTERS]; /* without what is called from there */
	uint64_t all[CP_SIM_NCOUNTERS];
	/* The same by event for samples, which count no calls. */
	struct cp_estimate own_estimates[CP_SAMPLED_EVENTS];
	struct cp_estimate all_estimates[CP_SAMPLED_EVENTS];
};

/* call[0] is the root: what was counted outside of all calls, and with them all. */
struct cp_calls {
	struct cp_arena *arena;
	size_t n, nfunctions;
	struct cp_call *call; /* parents before their children */
	struct cp_called *function;
	uint64_t folded; /* calls of functions that have no node of their own */
	struct cp_keys *functions, *children;
};

/* The name of what called the outermost frame of a call chain that does not begin where
 * its thread does. */
#define CP_NOT_UNWOUND "[not unwound]"

/* thread NULL: all.  After cp_profile_resolve. */
struct cp_calls *cp_calls_of(
	const struct cp_profile *profile, const struct cp_profiled_thread *thread);

/* A tree with a root only, and the call of a function from another one: a new one, if
 * there is none. */
struct cp_calls *cp_calls_new(struct cp_arena *arena);
size_t cp_calls_child(
	struct cp_calls *calls, size_t parent, const char *name, const char *module);

/* The callers of the functions of that name, and their callers: the root has their counts
 * with all that they call, and a call the part of it for which that is the caller.
 * NULL: nothing of that name was called. */
struct cp_calls *cp_calls_callers(const struct cp_calls *calls, const char *name);

/* The largest children of a call first, by the order. */
typedef double cp_calls_order(const void *context, const struct cp_call *call);
size_t cp_calls_children(const struct cp_calls *calls, size_t of, cp_calls_order *order,
	const void *context, size_t **children);

/* To sort by size, and then by number. */
struct cp_ranked {
	size_t number; /* of a call, or of a path */
	double size;
};
int cp_largest_first(const void *a, const void *b);

/* A quantity of calls: counters that belong together. */
struct cp_calls_quantity {
	const char *measurement; /* of that one only; NULL: of any */
	const char *heading;     /* of a column */
	const char *name;
	bool misses; /* what the measurement goes by */
	unsigned n, counter[3];
};

#define CP_CALLS_QUANTITIES 8 /* at most, of a measurement */

/* Lists the quantities that the machine has; returns how many. */
size_t cp_calls_quantities(const struct cp_profile *profile,
	const struct cp_group *measurement, const struct cp_calls_quantity **list);
uint64_t cp_calls_amount(const struct cp_calls_quantity *quantity, const uint64_t *count);

/* Tallies a call by itself, or with all that it calls, as the rest of a profile
 * measures. */
void cp_calls_tally(struct cp_tally *tally, const struct cp_call *call, bool all);

/* Adds CP_SIM_NCOUNTERS counters. */
void cp_calls_add(uint64_t *to, const uint64_t *count);

#endif
