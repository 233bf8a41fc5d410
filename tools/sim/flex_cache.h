/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A set-associative array with any replacement policy.
 *
 * A row (set) is  tags[ways] (32 bits)  state[ways]  flags[ways] (8 bits):
 *   tag    0 for an empty way, else the key divided by the number of sets, plus one
 *   state  LRU: how many ways were used since; tree-PLRU: one bit for each node
 *          of the tree, the root first; round-robin: state[0] is whose turn it is
 * An all-zero row is an empty set.  An empty way, the first, is filled before
 * anything is evicted, and does not move the round-robin or the random sequence.
 */
#ifndef CACHEPEEK_SIM_FLEX_CACHE_H
#define CACHEPEEK_SIM_FLEX_CACHE_H

#include "model.h"

enum { FLEX_DIRTY = 1, FLEX_DIRTY_UPPER = 2, FLEX_OWNED = 4, FLEX_PREFETCHED = 8 };
#define FLEX_ANY_DIRTY (FLEX_DIRTY | FLEX_DIRTY_UPPER)

struct flex_cache {
	struct geometry g;
	uint8_t *rows;
	uint32_t sets, ways, stride;
	uint32_t shift;  /* from a unit's number to a line's (or page's) */
	int set_bits;    /* -1: the sets are no power of two */
	uint64_t random; /* state of the generator */
};

/* Where a key is (way >= 0), or where it would be. */
struct flex_place {
	uint8_t *row;
	uint32_t set, tag;
	int way;
};

LANES_INLINE uint32_t *flex_tags(const struct flex_place *p)
{
	return (uint32_t *)p->row;
}

LANES_INLINE uint8_t *flex_state(const struct flex_cache *c, const struct flex_place *p)
{
	return p->row + 4 * c->ways;
}

LANES_INLINE uint8_t *flex_flags(const struct flex_cache *c, const struct flex_place *p)
{
	return p->row + 5 * c->ways + p->way;
}

/* The first unit of the line in a way. */
LANES_INLINE uint64_t flex_unit(const struct flex_cache *c, const struct flex_place *p)
{
	uint64_t key = (uint64_t)(flex_tags(p)[p->way] - 1) * c->sets + p->set;

	return key << c->shift;
}

/* -1: no memory. */
int flex_cache_init(struct flex_cache *c, const struct geometry *g, uint32_t shift);
void flex_cache_free(struct flex_cache *c);

struct flex_place flex_find(const struct flex_cache *c, uint64_t unit);

/* The way at p was used. */
void flex_touch(struct flex_cache *c, const struct flex_place *p);

/* Chooses the way for a line that is not there; returns whether it holds another. */
int flex_make_room(struct flex_cache *c, struct flex_place *p);

/* Puts the line into the way at p, which flex_make_room chose. */
void flex_put(struct flex_cache *c, const struct flex_place *p, uint32_t flags);

/* Empties the way at p. */
void flex_drop(struct flex_cache *c, const struct flex_place *p);

#endif
