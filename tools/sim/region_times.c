/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "region_times.h"

#include "model/ahead.h"
#include "pub_tool_hashtable.h"
#include "units/learnt.h"

struct region_times {
	VgHashTable *regions;
	struct learnt *now;
};

/* As tables have them. */
struct region {
	struct region *next;
	UWord number;
	struct learnt learnt;
};

void region_times_enter(struct region_times *times, UWord number)
{
	struct region *r;

	if (!times)
		return;
	r = VG_(HT_lookup)(times->regions, number);
	if (!r) {
		r = VG_(malloc)("cachepeek.region", sizeof(*r));
		r->number = number;
		learnt_begin(&r->learnt, batch_told.sample.full);
		VG_(HT_add_node)(times->regions, r);
	}
	times->now = &r->learnt;
}

struct region_times *region_times_begin(void)
{
	struct region_times *times;

	if (!batch_told.sample.unit)
		return NULL;
	times = VG_(malloc)("cachepeek.times", sizeof(*times));
	times->regions = VG_(HT_construct)("cachepeek.regions");
	region_times_enter(times, 0);
	return times;
}

void region_times_use(const struct region_times *times, struct core *core)
{
	if (times)
		ahead_region(core, times->now);
}

struct region_times *region_times_end(struct region_times *times, struct core *core)
{
	if (!times)
		return NULL;
	ahead_region(core, NULL);
	VG_(HT_destruct)(times->regions, VG_(free));
	VG_(free)(times);
	return NULL;
}
