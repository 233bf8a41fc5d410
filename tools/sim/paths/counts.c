/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a core, and the front before it, have counted since somebody looked.  They keep
 * some of it in a form that only core_collect makes counts of; what that does is linear,
 * so it can be done to what has been added.
 */
#include "machines/front.h"
#include "model/huge.h"
#include "paths/paths.h"
#include "profile/profile.h"

/* Written by generated code. */
struct noted {
	ULong instructions, loads, stores, rmw, lines;
};

typedef ULong pair __attribute__((vector_size(16), may_alias, aligned(8)));

/* The running thread's counters at the last look: what they have grown by since is
 * charged to its path. */
static struct {
	const struct front *front;
	const struct core *core;
	/* The counts of the observed core at the last look. */
	struct noted noted;
	uint64_t seen[CP_SIM_NCOUNTERS] __attribute__((aligned(16)));
	ULong huge_seen;
} counts;

static ULong lines_of(ULong clock, ULong before, ULong idle, ULong references)
{
	return (UInt)clock - (UInt)before - idle - 2 * references;
}

static struct noted noted_by_core(const struct core *c)
{
	return (struct noted){c->clock >> 32, c->loads, c->stores, c->rmw,
		lines_of(c->clock, c->clock_seen, c->idle_ticks,
			(ULong)c->loads + c->stores)};
}

/* A member that is told of all code counts its lines by itself. */
static struct noted noted_by_front(const struct front *f, const struct core *core)
{
	if (!f->nmembers || f->member[0] != core)
		return (struct noted){0};
	return (struct noted){f->clock >> 32, f->loads, f->stores, f->rmw,
		f->code_aware & 1 ? 0
				  : lines_of(f->clock, f->clock_seen, f->idle_ticks,
					    (ULong)f->loads + f->stores)};
}

static void add_noted(uint64_t *to, const struct core *core, struct noted *before)
{
	struct noted now =
		core->flex ? noted_by_front(counts.front, core) : noted_by_core(core);

	to[CP_SIM_instructions] += now.instructions - before->instructions;
	to[CP_SIM_l1d_loads] += now.loads - before->loads;
	to[CP_SIM_l1d_stores] += now.stores - before->stores;
	to[CP_SIM_l1d_rmw] += now.rmw - before->rmw;
	to[CP_SIM_l1i_accesses] += now.lines - before->lines;
	*before = now;
}

/* On a plain machine one of these grows if anything does but what is noted
 * (profile/profile.c). */
static Bool is_quiet(const uint64_t *now)
{
	static const UChar telling[] = {CP_SIM_l1i_misses, CP_SIM_l1d_store_lines,
		CP_SIM_itlb_misses, CP_SIM_dtlb_load_pages, CP_SIM_invalidations};
	pair changed = {0, 0};

#pragma GCC unroll 8
	for (UInt i = 0; i < sizeof(telling); i++)
		changed |= *(const pair *)&now[telling[i]] ^
			   *(const pair *)&counts.seen[telling[i]];
	return !(changed[0] | changed[1]);
}

static __attribute__((noinline)) void add_counted(
	uint64_t *to, const struct core *core, uint64_t *before)
{
	uint64_t more[CP_SIM_NCOUNTERS] = {0};

	for (UInt i = 0; i < CP_SIM_TIMED; i++) {
		more[i] = core->count[i] - before[i];
		before[i] = core->count[i];
	}
	core_derive(core, more);
	for (UInt i = 0; i < CP_SIM_TIMED; i++)
		to[i] += more[i];
}

static void add_huge_pages(uint64_t *to)
{
	if (machine_knows_huge(&tool_options.machine))
		to[CP_SIM_huge_pages] += huge.seen - counts.huge_seen;
	counts.huge_seen = huge.seen;
}

/* All counts of a core that was not looked at before are new. */
static void settle_unseen(struct cp_profile_path *to, const struct core *core)
{
	uint64_t nothing[CP_SIM_NCOUNTERS] = {0};
	struct noted none = {0};

	add_noted(to->count, core, &none);
	add_counted(to->count, core, nothing);
}

void counts_settle(struct cp_profile_path *to, const struct core *core)
{
	add_noted(to->count, core, &counts.noted);
	if (core->flex || !is_quiet(core->count))
		add_counted(to->count, core, counts.seen);
}

void counts_settle_all(struct cp_profile_path *to, const struct core *core)
{
	if (core != counts.core) {
		settle_unseen(to, core);
	} else {
		add_noted(to->count, core, &counts.noted);
		add_counted(to->count, core, counts.seen);
	}
	add_huge_pages(to->count);
}

void counts_collected(struct cp_profile_path *to, const struct core *core)
{
	for (UInt i = CP_SIM_TIMED; i < CP_SIM_TIMED_END; i++)
		to->count[i] += core->count[i];
	if (core == counts.core)
		counts_forget();
}

void counts_use(const struct core *core)
{
	if (core != counts.core)
		counts_forget();
	counts.core = core;
}

void counts_forget(void)
{
	VG_(memset)(counts.seen, 0, sizeof(counts.seen));
	VG_(memset)(&counts.noted, 0, sizeof(counts.noted));
}

void counts_start(const struct front *front)
{
	counts.front = front;
}
