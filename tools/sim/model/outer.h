/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The part of L2 that the first level is compiled with: these caches stamp for
 * themselves; a stamp is (clock << 2 | flags).
 */
#ifndef CACHEPEEK_SIM_OUTER_H
#define CACHEPEEK_SIM_OUTER_H

#include "model/model.h"

enum { DIRTY = 1, OWNED = 2, FLAGS = 3, FLAG_BITS = 2 };

/* May rank all stamps of the cache anew, before it gives out the next. */
LANES_INLINE uint32_t next_stamp(struct cache *c, uint32_t flags)
{
	if (__builtin_expect(c->clock >= OUTER_CLOCK_LIMIT, 0))
		cache_rank(c, FLAG_BITS);
	return ++c->clock << FLAG_BITS | flags;
}

LANES_INLINE uint32_t flags_of(const struct cache *c, uint8_t *row, unsigned way)
{
	return row_stamps(c, row)[way] & FLAGS;
}

/* L2 does not have the line.  Returns whether no other core has it. */
typedef int outer_missed(
	struct core *core, uint64_t line, struct cache_place p, enum access kind);
outer_missed outer_l2_miss;

/* A line comes to an L1 from L2 of that shape; returns OWNED if no other core has
 * it, or 0. */
LANES_INLINE int outer_fetch_l2(struct core *core, uint64_t line, enum access kind,
	uint32_t lanes, outer_missed *missed)
{
	struct cache l2 = cache_shaped(&core->l2, lanes, 0);
	struct cache_place p = cache_place(&l2, line);
	int way = cache_find(&l2, p);
	uint32_t flags;

	if (__builtin_expect(way < 0, 0)) {
		core->l2_misses++;
		core->l2_missed = line;
		return missed(core, line, p, kind) ? OWNED : 0;
	}
	core->l2_misses = 0;
	flags = flags_of(&l2, p.row, way);
	row_stamps(&l2, p.row)[way] = next_stamp(&core->l2, flags);
	return flags & OWNED;
}

/* A modified line leaves an L1 for an L2 of that many lanes, up to eight; returns whether
 * that is all: L2 has it. */
LANES_INLINE int outer_put_l2(struct core *core, uint64_t line, uint32_t lanes)
{
	struct cache l2 = cache_shaped(&core->l2, lanes, 0);
	struct cache_place p = cache_place(&l2, line);
	int way = cache_find(&l2, p);

	if (__builtin_expect(way < 0, 0))
		return 0;
	row_stamps(&l2, p.row)[way] |= DIRTY | OWNED;
	return 1;
}

#endif
