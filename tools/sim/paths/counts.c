/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The counts of a core, and of the front before it, since somebody looked.  They keep
 * some of it in a form that only core_collect makes counts of; what that does is linear,
 * so it can be done to what has been added.
 */
#include "paths/counts.h"
#include "model/huge.h"
#include "model/span.h"

struct path_counts path_counts;

/* A member that is told of all code counts its lines by itself. */
struct path_noted counts_noted_by_front(const struct core *core)
{
	const struct front *f = path_counts.front;

	if (!f->nmembers || f->member[0] != core)
		return (struct path_noted){0};
	return (struct path_noted){(UInt)(f->clock >> 32), f->loads, f->stores, f->rmw,
		f->code_aware & 1 ? 0
				  : path_lines((UInt)f->clock - (UInt)f->clock_seen,
					    f->idle_ticks, f->loads + f->stores)};
}

/* A reference's misses are its lines', but for those that it has more than one of. */
static void add_spans(uint64_t *to, const uint64_t *now, const uint64_t *before)
{
	for (UInt i = 0; i < 2 * SPAN_LEVELS; i++) {
		UInt lines = (UInt)span_levels[i / 2].lines + i % 2;

		if (now[lines] != before[lines])
			to[span_levels[i / 2].misses + i % 2] +=
				now[lines] - before[lines];
	}
}

/* Four pairs, if any has changed: seldom are all in use, and nodes are many. */
static inline void add_group(uint64_t *to, const uint64_t *now, uint64_t *before)
{
	path_pair *sum = (path_pair *)to, *old = (path_pair *)before, more[4], any;

#pragma GCC unroll 4
	for (UInt i = 0; i < 4; i++)
		more[i] = ((const path_pair *)now)[i] - old[i];
	any = more[0] | more[1] | more[2] | more[3];
	if (!(any[0] | any[1]))
		return;
#pragma GCC unroll 4
	for (UInt i = 0; i < 4; i++) {
		sum[i] += more[i];
		old[i] += more[i];
	}
}

void counts_add_counted(uint64_t *to, const struct core *core, uint64_t *before)
{
	const uint64_t *now = core->count;
	UInt i = 0;

	add_spans(to, now, before);
	for (; i + 8 <= CP_SIM_TIMED; i += 8)
		add_group(&to[i], &now[i], &before[i]);
	for (; i < CP_SIM_TIMED; i++) {
		to[i] += now[i] - before[i];
		before[i] = now[i];
	}
	if (!core->flex)
		core_derive_lines(core, to);
}

static void add_huge_pages(uint64_t *to)
{
	if (machine_knows_huge(&tool_options.machine))
		to[CP_SIM_huge_pages] += huge.seen - path_counts.huge_seen;
	path_counts.huge_seen = huge.seen;
}

void counts_settle_all(struct cp_profile_path *to, const struct core *core)
{
	uint64_t nothing[CP_SIM_NCOUNTERS] = {0};
	struct path_noted none = {0};

	/* All counts of a core that was not looked at before are new. */
	if (core != path_counts.core) {
		counts_take_noted(to->count, core, &none);
		counts_add_counted(to->count, core, nothing);
	} else {
		counts_take_noted(to->count, core, &path_counts.noted);
		counts_add_counted(to->count, core, path_counts.seen);
	}
	add_huge_pages(to->count);
}

void counts_collected(struct cp_profile_path *to, const struct core *core)
{
	for (UInt i = CP_SIM_TIMED; i < CP_SIM_TIMED_END; i++)
		to->count[i] += core->count[i];
	if (core == path_counts.core)
		counts_forget();
}

void counts_use(const struct core *core)
{
	if (core != path_counts.core)
		counts_forget();
	path_counts.core = core;
}

void counts_forget(void)
{
	VG_(memset)(path_counts.seen, 0, sizeof(path_counts.seen));
	VG_(memset)(&path_counts.noted, 0, sizeof(path_counts.noted));
}

void counts_start(const struct front *front)
{
	path_counts.front = front;
}
