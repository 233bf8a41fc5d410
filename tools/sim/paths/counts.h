/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The counts since the last time.  This runs at each call and return, so what changes at
 * each of them is here, to become part of who asks.
 */
#ifndef CACHEPEEK_SIM_PATHS_COUNTS_H
#define CACHEPEEK_SIM_PATHS_COUNTS_H

#include "model/facts.h"
#include "paths/paths.h"

/* Written by generated code. */
struct path_noted {
	UInt instructions, loads, stores, rmw, lines;
};

/* The running thread's counters at the last look: what they have grown by since is
 * charged to its path. */
struct path_counts {
	const struct front *front;
	const struct core *core;
	/* The counts of the observed core at the last look. */
	struct path_noted noted;
	uint64_t seen[CP_SIM_NCOUNTERS] __attribute__((aligned(16)));
	ULong huge_seen;
};

extern struct path_counts path_counts;

typedef ULong path_pair __attribute__((vector_size(16), may_alias, aligned(8)));

void counts_start(const struct front *front);
/* The core whose counters are looked at. */
void counts_use(const struct core *core);
/* Adds what a core has counted, and what changes on no machine while its thread runs. */
void counts_settle_all(struct cp_profile_path *to, const struct core *core);
/* Adds what only core_collect() knows, after which all counts are 0. */
void counts_collected(struct cp_profile_path *to, const struct core *core);
void counts_forget(void);

/* Adds what the model has counted since `before`. */
void counts_add_counted(uint64_t *to, const struct core *core, uint64_t *before);
/* The notes of generated code, on a machine with a front. */
struct path_noted counts_noted_by_front(const struct core *core);

static inline UInt path_lines(UInt ticks, UInt idle, UInt references)
{
	return ticks - idle - 2 * references;
}

static inline struct path_noted counts_noted_by_core(const struct core *c)
{
	return (struct path_noted){(UInt)(c->clock >> 32), c->loads, c->stores, c->rmw,
		path_lines((UInt)c->clock - (UInt)c->clock_seen, c->idle_ticks,
			c->loads + c->stores)};
}

static inline void counts_take_noted(
	uint64_t *to, const struct core *core, struct path_noted *before)
{
	struct path_noted now =
		core->flex ? counts_noted_by_front(core) : counts_noted_by_core(core);

	to[CP_SIM_instructions] += now.instructions - before->instructions;
	to[CP_SIM_l1d_loads] += now.loads - before->loads;
	to[CP_SIM_l1d_stores] += now.stores - before->stores;
	to[CP_SIM_l1d_rmw] += now.rmw - before->rmw;
	to[CP_SIM_l1i_accesses] += now.lines - before->lines;
	*before = now;
}

/* On a plain machine one of these grows if anything does but what is noted
 * (profile/profile.c). */
static inline Bool counts_are_quiet(const uint64_t *now)
{
	static const UChar telling[] = {CP_SIM_l1i_misses, CP_SIM_l1d_store_lines,
		CP_SIM_itlb_misses, CP_SIM_dtlb_load_pages, CP_SIM_invalidations};
	path_pair changed = {0, 0};

#pragma GCC unroll 8
	for (UInt i = 0; i < sizeof(telling); i++)
		changed |= *(const path_pair *)&now[telling[i]] ^
			   *(const path_pair *)&path_counts.seen[telling[i]];
	return !(changed[0] | changed[1]);
}

/* Adds that of the core that is looked at. */
static inline void counts_settle(struct cp_profile_path *to, const struct core *core)
{
	counts_take_noted(to->count, core, &path_counts.noted);
	if (core->flex || !counts_are_quiet(core->count))
		counts_add_counted(to->count, core, path_counts.seen);
}

#endif
