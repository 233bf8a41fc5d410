/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The levels behind the first one: where a core's are, and what a line in them is.
 */
#ifndef CACHEPEEK_SIM_FLEX_OUTER_PARTS_H
#define CACHEPEEK_SIM_FLEX_OUTER_PARTS_H

#include "flex/flex.h"
#include "model/facts.h"
#include "model/model.h"

LANES_INLINE struct flex_shared *shared_of(const struct core *core)
{
	return core->uncore->flex;
}

LANES_INLINE struct flex_cache *llc_of(const struct core *core)
{
	return &core->flex->cluster->group->llc;
}

LANES_INLINE int is_dirty(const struct flex_cache *c, const struct flex_place *p)
{
	return *flex_flags(c, p) & FLEX_ANY_DIRTY;
}

/* ---- what L2 was written last ---- */

/* The line at p, which is modified, owned and the newest of its set, as its write-back
 * L2 was told to write it: the next write finds it so, unless anything else in the set
 * is looked up before. */
LANES_INLINE uint64_t *written_in(
	struct flex_cluster *cluster, const struct flex_place *p)
{
	return &cluster->written[p->set % FLEX_WRITTEN];
}

LANES_INLINE uint64_t name_of(const struct flex_place *p)
{
	return (uint64_t)p->tag << 32 | p->set;
}

/* A line comes to the last level from L2 (or L1, if there is no L2). */
void flex_demoted(struct core *core, uint64_t unit, int dirty);

/* Empties the way; returns whether it was modified. */
LANES_INLINE int take_line(struct flex_cache *c, const struct flex_place *p)
{
	int dirty = is_dirty(c, p) != 0;

	flex_drop(c, p);
	return dirty;
}

#endif
