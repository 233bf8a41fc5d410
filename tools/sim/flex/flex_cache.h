/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A set-associative array with any replacement policy.
 *
 * A row (set) is  tags[lanes] (32 bits)  state[ways]  flags[ways] (8 bits):
 *   tag    0 for an empty way, and where ways are rounded up to whole vectors, else
 *          the key divided by the number of sets, plus one
 *   state  LRU: how many ways were used since; tree-PLRU: one bit for each node
 *          of the tree, the root first; round-robin: state[0] is whose turn it is; QLRU:
 *          3 less the age; MRU: 1 less the age
 * An all-zero row is an empty set.  An empty way, the first (of some QLRU the last), is
 * filled before anything is evicted, and does not move the round-robin or the random
 * sequence.
 *
 * First-level arrays, which do not hear of every use (front.h), keep for each way when
 * it was used last instead of state, and ask for what is newer before they evict.
 */
#ifndef CACHEPEEK_SIM_FLEX_CACHE_H
#define CACHEPEEK_SIM_FLEX_CACHE_H

#include "model/huge.h"
#include "model/model.h"

enum {
	FLEX_DIRTY = 1,
	FLEX_DIRTY_UPPER = 2,
	FLEX_OWNED = 4,
	FLEX_PREFETCHED = 8,
	FLEX_FILTERED =
		16,     /* of L1 without slots: there may be facts of it in the front */
	FLEX_HUGE = 32, /* of TLBs: a huge page among small ones (huge.h) */
	/* Where PREFETCHED lines came from, which was L2 without either. */
	FLEX_FROM_LLC = 64,
	FLEX_FROM_MEMORY = 128,
};
#define FLEX_FROM (FLEX_FROM_LLC | FLEX_FROM_MEMORY)
#define FLEX_ANY_DIRTY (FLEX_DIRTY | FLEX_DIRTY_UPPER)

struct flex_cache {
	struct geometry g;
	uint8_t *rows;
	uint32_t sets, ways, stride;
	uint32_t shift; /* from a unit's number to a line's (or page's) */
	/* Counts prefetched lines that leave unused; before it stands what counts those
	 * that are used. */
	uint32_t useless;
	int set_bits; /* -1: the sets are no power of two, but have a reciprocal */
	uint64_t reciprocal;
	uint64_t random; /* state of the generator */
	uint32_t lost,
		excepted; /* of the duel: its counter, and lines of the other age */
	uint32_t lanes;

	/* For the first level, else NULL. */
	uint64_t *stamps;
	const uint64_t *now; /* the stamp of a use */
	struct core *owner;
	const uint32_t *bit; /* the owner's, as a member of the front; 0: it is none */
	int code;
	uint64_t units; /* of a line, or of a page */
	/* Lines that are units, while the owner is a member of the front: where that
	 * has facts of the way, plus one; 0: nowhere. */
	uint16_t *slots;
	/* TLBs: the parts of the page of which there may be facts, each so large. */
	uint64_t *masks;
	uint32_t part_shift, last_part;
	int has_gaps;   /* empty ways may be in front of others */
	uint8_t *hints; /* where a page was found last, by the low bits of its number */
	/* If there is one set of many ways: of each eight, stamp and way of what was its
	 * oldest one when it was looked at; else NULL. */
	uint64_t *oldest;
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
	return p->row + 4 * c->lanes;
}

LANES_INLINE uint8_t *flex_flags(const struct flex_cache *c, const struct flex_place *p)
{
	return p->row + 4 * c->lanes + c->ways + p->way;
}

LANES_INLINE uint16_t *flex_slot(const struct flex_cache *c, const struct flex_place *p)
{
	return &c->slots[(uint64_t)p->set * c->ways + (uint32_t)p->way];
}

/* The first unit of the line in a way. */
LANES_INLINE uint64_t flex_unit(const struct flex_cache *c, const struct flex_place *p)
{
	uint64_t key = (uint64_t)(flex_tags(p)[p->way] - 1) * c->sets + p->set;

	return key << c->shift;
}

/* -1: no memory. */
int flex_cache_init(struct flex_cache *c, const struct geometry *g, uint32_t shift);
/* The same of the first level, where now, owner and code are set; and of a TLB. */
int flex_l1_init(struct flex_cache *c, const struct geometry *g, uint32_t shift);
int flex_tlb_init(struct flex_cache *c, const struct geometry *g, uint32_t shift);
void flex_cache_free(struct flex_cache *c);

/* The padding of a row is empty, and behind all ways. */
LANES_INLINE int flex_find_tag(
	const struct flex_cache *c, const uint32_t *tags, uint32_t tag)
{
	int way = lanes_find(tags, c->lanes, tag);

	return way < (int)c->ways ? way : -1;
}

/* The rounded-up reciprocal yields the quotient or one more. */
LANES_INLINE uint64_t flex_divide(const struct flex_cache *c, uint64_t key)
{
	uint64_t q = (uint64_t)(((unsigned __int128)key * c->reciprocal) >> 64);

	return q - (q * c->sets > key);
}

LANES_INLINE struct flex_place flex_place_of(const struct flex_cache *c, uint64_t unit)
{
	struct flex_place p = {0, 0, 0, -1};
	uint64_t key = unit >> c->shift;

	if (c->set_bits >= 0) {
		p.set = (uint32_t)key & (c->sets - 1);
		p.tag = (uint32_t)(key >> c->set_bits) + 1;
	} else {
		uint64_t q = flex_divide(c, key);

		p.set = (uint32_t)(key - q * c->sets);
		p.tag = (uint32_t)q + 1;
	}
	p.row = c->rows + (uint64_t)p.set * c->stride;
	return p;
}

LANES_INLINE struct flex_place flex_find(const struct flex_cache *c, uint64_t unit)
{
	struct flex_place p;

	if (!c->sets)
		return (struct flex_place){0, 0, 0, -1};
	p = flex_place_of(c, unit);
	p.way = flex_find_tag(c, flex_tags(&p), p.tag);
	return p;
}

#define FLEX_HINTS 64

/* The same in a TLB, whose sets may be large. */
LANES_INLINE struct flex_place flex_find_page(const struct flex_cache *c, uint64_t unit)
{
	struct flex_place p;
	uint8_t *hint;

	if (c->ways <= 8 || !c->sets)
		return flex_find(c, unit);
	p = flex_place_of(c, unit);
	hint = &c->hints[unit >> c->shift & (FLEX_HINTS - 1)];
	if (flex_tags(&p)[*hint] == p.tag) {
		p.way = *hint;
		return p;
	}
	p.way = flex_find_tag(c, flex_tags(&p), p.tag);
	if (p.way >= 0)
		*hint = (uint8_t)p.way;
	return p;
}

/* Lets the host fetch the set that the unit is in while we do something else. */
LANES_INLINE void flex_expect(const struct flex_cache *c, uint64_t unit)
{
	uint8_t *row;

	if (!c->sets)
		return;
	row = flex_place_of(c, unit).row;
	__builtin_prefetch(row);
	__builtin_prefetch(row + c->stride - 1);
}

/* Which way a level behind the first one would empty for another line, if its policy
 * tells before it is asked; returns whether. */
int flex_will_evict(const struct flex_cache *c, struct flex_place *p);

void flex_touch_outer(struct flex_cache *c, const struct flex_place *p);

/* The way at p was used. */
LANES_INLINE void flex_touch(struct flex_cache *c, const struct flex_place *p)
{
	if (c->stamps)
		c->stamps[(uint64_t)p->set * c->ways + (uint32_t)p->way] = *c->now;
	else
		flex_touch_outer(c, p);
}

/* The key (line or page) of unit was used then, if it is there.  Returns whether. */
int flex_learn(struct flex_cache *c, uint64_t unit, uint64_t stamp);

/* Chooses the way for a line that is not there; returns whether it holds another. */
int flex_make_room(struct flex_cache *c, struct flex_place *p);

/* Puts the line into the way at p, which flex_make_room chose. */
void flex_put(struct flex_cache *c, const struct flex_place *p, uint32_t flags);

/* Notes that there may be facts of this unit, which is in the page at p of a TLB. */
LANES_INLINE void flex_filter_page(
	struct flex_cache *c, const struct flex_place *p, uint64_t unit)
{
	uint32_t shift = c->part_shift;

	if (__builtin_expect(*flex_flags(c, p) & FLEX_HUGE, 0))
		shift = c->shift + HUGE_PAGES_SHIFT - 6;
	c->masks[(uint64_t)p->set * c->ways + (uint32_t)p->way] |=
		1ull << (unit >> shift & c->last_part);
}

/* Calls visit for each part of that page of which there may be facts. */
void flex_each_part(const struct flex_cache *c, const struct flex_place *p,
	void (*visit)(struct core *core, uint64_t first, uint64_t units));

/* The same of a TLB, if the page of the unit is there. */
void flex_drop_page(struct flex_cache *c, uint64_t unit,
	void (*visit)(struct core *core, uint64_t first, uint64_t units));

/* Empties the way at p. */
void flex_drop(struct flex_cache *c, const struct flex_place *p);

#endif
