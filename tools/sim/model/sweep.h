/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One level in many sizes at once (--sweep): beside it, what it would hold if it had
 * other sets or ways, and how much of what is asked of it is not there.
 *
 * An array keeps, for each set, the lines in the order of their last use, newest
 * first: what a cache of W ways holds are the first W of them.  So one array serves
 * any number of ways, and each number of sets needs an array of its own.  A line
 * that another core takes away leaves a hole in its place, an empty way of every
 * cache that had it; the next line that comes from behind the hole fills it.
 *
 * L2 and the last level also get modified lines from the level in front of them,
 * which are new only where they are not: caches of different ways do not hold the
 * same in the same order then, and each point has an array of its own.
 *
 * What is counted is what the level's own misses count: references that missed a first
 * level, and lines (pages) that another was asked for.
 *
 * Lines come with the model's short numbers (far_lines.h), in the order in which the
 * program refers to them, whatever the model's filters do.
 */
#ifndef CACHEPEEK_SIM_SWEEP_H
#define CACHEPEEK_SIM_SWEEP_H

#include "model/batch.h"

enum sweep_level {
	SWEEP_NONE,
	SWEEP_L1I,
	SWEEP_L1D,
	SWEEP_L2,
	SWEEP_LLC,
	SWEEP_ITLB,
	SWEEP_DTLB,
	SWEEP_STLB
};

struct sweep_plan {
	enum sweep_level level;
	uint32_t npoints;
	struct sweep_point {
		uint32_t sets, ways;
	} point[CP_SIM_SWEEP_POINTS];
};

/* Points from first on, by growing ways, share an array. */
struct sweep_array {
	uint32_t sets, depth, first, npoints;
	uint64_t *lines; /* [sets][depth], plus one; 0: none */
};

struct sweep {
	const struct sweep_plan *plan;
	uint32_t narrays;
	uint32_t shift, granule; /* from units to lines (pages), to what stores take */
	struct sweep_array array[CP_SIM_SWEEP_POINTS];
};

/* Before core_attach.  A core has a sweep of its own; of the last level there is one.
 * -1: no memory. */
int sweep_begin(
	struct core *core, const struct sweep_plan *plan, const struct machine *m);
/* Frees what a core has that is not used; for the last level, the last core's. */
void sweep_free(struct sweep *s);

/* For the level of a core, if that is the swept one: a line is asked for; comes
 * modified from the level in front; is taken by another core's store. */
void sweep_ask(struct core *core, uint64_t line);
void sweep_put(struct core *core, uint64_t line);
void sweep_stored(struct core *core, uint64_t line);
/* The units leave the level in all cores, or in the core's own. */
void sweep_leave(struct core *core, uint64_t first, uint64_t units, int all);

LANES_INLINE int is_sweeping(const struct core *core, enum sweep_level level)
{
	return __builtin_expect(core->sweep != 0, 0) && core->sweep->plan->level == level;
}

/* Where the level is one that sees all references, they come by every.h. */
void sweep_watch(const struct sweep_plan *plan);

/* Where the running thread's references go; NULL: nowhere. */
extern struct core *sweep_core;

#endif
