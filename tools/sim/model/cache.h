/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A set-associative array with exact least-recently-used replacement: every
 * cache and TLB of the model is one of these.
 *
 * A row (set) is laid out as  tags[lanes] stamps[lanes] masks[lanes], the last
 * only in first-level TLBs:
 *   tag    0 for an empty way, else the key divided by the number of sets,
 *          plus one (far_lines.h sees to it that 32 bits are enough).
 *   stamp  when the way was last used; the smallest is the victim.  Empty ways
 *          have 0, those of lines that another core has taken STAMP_TAKEN, ways that
 *          only pad the row to whole vectors STAMP_NEVER.
 *   mask   64 bits of whoever wants them.
 * A byte for each way, where there is one, is behind all rows: eight ways of tags
 * and stamps are one line of the host's.
 * An all-zero row is an empty set, so fresh pages from the kernel need no
 * initialisation, which matters for a last level of 200,000 sets.
 */
#ifndef CACHEPEEK_SIM_CACHE_H
#define CACHEPEEK_SIM_CACHE_H

#include "lines/lanes.h"

#define STAMP_NEVER 0x7fffffffu
#define STAMP_TAKEN 1u
#define CACHE_MAX_WAYS 128

/* The logarithm of a power of two; 0 of 0. */
LANES_INLINE uint32_t log2_of(uint32_t n)
{
	return n ? 31 - (uint32_t)__builtin_clz(n) : 0;
}

struct cache {
	uint8_t *rows, *bytes;
	uint64_t reciprocal; /* of the number of sets; 0: a power of two */
	uint32_t sets, ways, lanes, stride, shift;
	uint32_t clock; /* of caches that stamp for themselves */
};

struct cache_place {
	uint8_t *row;
	uint32_t set, tag;
};

LANES_INLINE uint32_t *row_tags(uint8_t *row)
{
	return (uint32_t *)row;
}

LANES_INLINE uint32_t *row_stamps(const struct cache *c, uint8_t *row)
{
	return (uint32_t *)row + c->lanes;
}

/* The first-level TLBs keep the lines of each page that are in a filter here. */
LANES_INLINE uint64_t *row_masks(const struct cache *c, uint8_t *row)
{
	return (uint64_t *)(row + 8 * c->lanes);
}

/* The bytes of a set: L1D's flags, and in the first-level TLBs how often the page
 * was asked for since it came. */
LANES_INLINE uint8_t *cache_bytes(const struct cache *c, struct cache_place p)
{
	return c->bytes + (uint64_t)p.set * c->lanes;
}

LANES_INLINE uint8_t *cache_row(const struct cache *c, uint32_t set)
{
	return c->rows + (uint64_t)set * c->stride;
}

/* The mask of each way, beside tag and stamp. */
enum { WITH_BYTE = 1, WITH_MASK = 8, L1D_EXTRA = WITH_BYTE, TLB_EXTRA = 9 };

LANES_INLINE uint32_t cache_stride(uint32_t lanes, uint32_t extra)
{
	return (lanes * (8 + (extra & WITH_MASK)) + 63) & ~63u;
}

/* May code for that many lanes and a power of two of sets serve this cache? */
LANES_INLINE int cache_has_shape(const struct cache *c, uint32_t lanes)
{
	return c->lanes == lanes && !c->reciprocal;
}

/* The same cache, with what its shape tells known to the compiler; 0: nothing
 * is.  A copy to search with, not to be kept: its clock is not the cache's. */
LANES_INLINE struct cache cache_shaped(
	const struct cache *c, uint32_t lanes, uint32_t extra)
{
	struct cache shaped = *c;

	if (lanes) {
		shaped.lanes = lanes;
		shaped.stride = cache_stride(lanes, extra);
		shaped.reciprocal = 0;
	}
	return shaped;
}

/* Division by multiplication: the rounded-up reciprocal yields the quotient or
 * one more, for every 64-bit key. */
LANES_INLINE uint64_t cache_divide(const struct cache *c, uint64_t key)
{
	uint64_t q = (uint64_t)(((unsigned __int128)key * c->reciprocal) >> 64);

	return q - (q * c->sets > key);
}

LANES_INLINE struct cache_place cache_place(const struct cache *c, uint64_t key)
{
	struct cache_place p;
	uint64_t q;

	if (c->reciprocal) {
		q = cache_divide(c, key);
		p.set = (uint32_t)(key - q * c->sets);
	} else {
		q = key >> c->shift;
		p.set = (uint32_t)key & (c->sets - 1);
	}
	p.tag = (uint32_t)q + 1;
	p.row = cache_row(c, p.set);
	return p;
}

LANES_INLINE uint64_t cache_key(const struct cache *c, uint32_t set, uint32_t tag)
{
	return (uint64_t)(tag - 1) * c->sets + set;
}

LANES_INLINE int cache_find(const struct cache *c, struct cache_place p)
{
	return lanes_find(row_tags(p.row), c->lanes, p.tag);
}

LANES_INLINE unsigned cache_victim(const struct cache *c, uint8_t *row)
{
	return lanes_oldest(row_stamps(c, row), c->lanes);
}

/* Lets the host fetch the tags of a set while we do something else. */
LANES_INLINE void cache_prefetch(const struct cache *c, uint64_t key)
{
	uint8_t *row = cache_place(c, key).row;

	__builtin_prefetch(row);
	if (c->stride > 64)
		__builtin_prefetch(row + 64);
}

int cache_init(struct cache *c, uint32_t sets, uint32_t ways);
/* The same in two steps, with memory of the caller's, and more for each way; returns
 * how much. */
uint64_t cache_measure(struct cache *c, uint32_t sets, uint32_t ways, uint32_t extra);
void cache_house(struct cache *c, void *zeroed);
void cache_rank(struct cache *c, uint32_t flag_bits);
/* Empties one set; extra: as it was measured. */
void cache_empty(struct cache *c, uint32_t set, uint32_t extra);
void cache_free(struct cache *c);

/* The host of the model, which is the tool or a unit test, gives it memory: zeroed,
 * aligned to 64 bytes, and backed only where it is touched; NULL if there is none. */
void *host_alloc(uint64_t size);
void host_free(void *p, uint64_t size);
void host_zero(void *p, uint64_t size);

#endif
