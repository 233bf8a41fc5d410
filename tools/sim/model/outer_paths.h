/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Misses of the commonest L2s in front of the commonest last level, that one core has to
 * itself, and of first-level TLBs: the same as outer_l2_miss() and outer_page()
 * (outer.c), with all sizes known to the compiler and nobody to tell.  Compiled with the
 * first level's paths (l1_paths.h).
 */
#ifndef CACHEPEEK_SIM_OUTER_PATHS_H
#define CACHEPEEK_SIM_OUTER_PATHS_H

#include "model/outer.h"
#include "model/sweep.h"

#define USUAL_LLC 16

LANES_INLINE void usual_llc_fill(
	struct core *core, struct cache *llc, struct cache_place p, uint32_t flags)
{
	struct cache c = cache_shaped(llc, USUAL_LLC, 0);
	unsigned way = cache_victim(&c, p.row);

	core->count[CP_SIM_llc_writebacks] += flags_of(&c, p.row, way) & DIRTY;
	core->count[CP_SIM_llc_fills]++;
	row_tags(p.row)[way] = p.tag;
	row_stamps(&c, p.row)[way] = next_stamp(llc, flags);
}

LANES_INLINE void usual_llc_put(struct core *core, struct cache *llc, uint64_t line)
{
	struct cache c = cache_shaped(llc, USUAL_LLC, 0);
	struct cache_place p = cache_place(&c, line);
	int way = cache_find(&c, p);

	if (way >= 0)
		row_stamps(&c, p.row)[way] |= DIRTY;
	else
		usual_llc_fill(core, llc, p, DIRTY);
}

LANES_INLINE void usual_llc_fetch(
	struct core *core, struct cache *llc, uint64_t line, enum access kind)
{
	struct cache c = cache_shaped(llc, USUAL_LLC, 0);
	struct cache_place p = cache_place(&c, line);
	int way = cache_find(&c, p);

	if (way >= 0) {
		row_stamps(&c, p.row)[way] =
			next_stamp(llc, flags_of(&c, p.row, (unsigned)way));
		return;
	}
	core->count[CP_SIM_llc_ifetch_misses + kind]++;
	usual_llc_fill(core, llc, p, 0);
}

LANES_INLINE void usual_l2_fill(
	struct core *core, struct cache *llc, struct cache_place p, uint32_t lanes)
{
	struct cache c = cache_shaped(&core->l2, lanes, 0);
	unsigned way = cache_victim(&c, p.row);

	if (flags_of(&c, p.row, way) & DIRTY) {
		core->count[CP_SIM_l2_writebacks]++;
		usual_llc_put(core, llc, cache_key(&c, p.set, row_tags(p.row)[way]));
	}
	core->count[CP_SIM_l2_fills]++;
	row_tags(p.row)[way] = p.tag;
	row_stamps(&c, p.row)[way] = next_stamp(&core->l2, OWNED);
}

/* Returns whether no other core has the line. */
LANES_INLINE int usual_l2_miss(struct core *core, uint64_t line, struct cache_place p,
	enum access kind, uint32_t lanes)
{
	struct cache *llc = &core->uncore->llc;

	if (!core->llc_of_16 || core->uncore->ncores > 1)
		return outer_l2_miss(core, line, p, kind);
	core->count[CP_SIM_l2_ifetch_misses + kind]++;
	usual_llc_fetch(core, llc, line, kind);
	usual_l2_fill(core, llc, p, lanes);
	return 1;
}

static __attribute__((noinline)) int miss_l2_of_8(
	struct core *core, uint64_t line, struct cache_place p, enum access kind)
{
	return usual_l2_miss(core, line, p, kind, 8);
}

static __attribute__((noinline)) int miss_l2_of_16(
	struct core *core, uint64_t line, struct cache_place p, enum access kind)
{
	return usual_l2_miss(core, line, p, kind, 16);
}

/* A page that the first-level TLB did not have; an STLB of that many lanes. */
LANES_INLINE void usual_page(
	struct core *core, uint64_t page, enum access kind, uint32_t lanes)
{
	struct cache c = cache_shaped(&core->stlb, lanes, 0);
	struct cache_place p = cache_place(&c, page);
	int way = cache_find(&c, p);

	if (__builtin_expect(way < 0, 0))
		outer_page(core, page, kind);
	else
		row_stamps(&c, p.row)[way] = next_stamp(&core->stlb, 0);
}

static void page_in_8(struct core *core, uint64_t page, enum access kind)
{
	usual_page(core, page, kind, 8);
}

static void page_in_12(struct core *core, uint64_t page, enum access kind)
{
	usual_page(core, page, kind, 12);
}

static void page_in_16(struct core *core, uint64_t page, enum access kind)
{
	usual_page(core, page, kind, 16);
}

static void choose_page(struct core *core)
{
	const struct cache *c = &core->stlb;

	if (!c->sets || is_sweeping(core, SWEEP_STLB))
		return;
	if (cache_has_shape(c, 8))
		core->paths.page = page_in_8;
	if (cache_has_shape(c, 12))
		core->paths.page = page_in_12;
	if (cache_has_shape(c, 16))
		core->paths.page = page_in_16;
}

#endif
