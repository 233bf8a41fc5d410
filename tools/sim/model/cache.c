/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The parts of a cache that are not on anybody's fast path.
 */
#include "model/cache.h"
#include "model/far_lines.h"

static uint64_t reciprocal_of(uint32_t sets)
{
	return (sets & (sets - 1)) ? ~0ull / sets + 1 : 0;
}

static uint64_t rows_size(const struct cache *c)
{
	return (uint64_t)c->sets * c->stride;
}

static uint64_t bytes_size(const struct cache *c, uint32_t extra)
{
	return extra & WITH_BYTE ? ((uint64_t)c->sets * c->lanes + 63) & ~63ull : 0;
}

static void mark_padding(struct cache *c)
{
	for (uint32_t set = 0; c->ways != c->lanes && set < c->sets; set++)
		for (uint32_t way = c->ways; way < c->lanes; way++)
			row_stamps(c, cache_row(c, set))[way] = STAMP_NEVER;
}

/* 0 sets: an absent cache. */
uint64_t cache_measure(struct cache *c, uint32_t sets, uint32_t ways, uint32_t extra)
{
	c->sets = sets;
	c->ways = ways;
	c->lanes = (ways + 3) & ~3u;
	c->stride = cache_stride(c->lanes, extra);
	c->shift = log2_of(sets);
	c->reciprocal = reciprocal_of(sets);
	c->clock = 0;
	return rows_size(c) + bytes_size(c, extra);
}

void cache_house(struct cache *c, void *zeroed)
{
	c->rows = zeroed;
	c->bytes = c->rows + rows_size(c);
	mark_padding(c);
}

int cache_init(struct cache *c, uint32_t sets, uint32_t ways)
{
	uint64_t size = cache_measure(c, sets, ways, 0);
	void *rows = size ? host_alloc(size) : 0;

	if (size && !rows)
		return -1;
	cache_house(c, rows);
	return 0;
}

void cache_free(struct cache *c)
{
	if (c->rows)
		host_free(c->rows, rows_size(c));
	c->rows = 0;
}

void cache_empty(struct cache *c, uint32_t set, uint32_t extra)
{
	uint8_t *row = cache_row(c, set);

	for (uint32_t way = 0; way < c->ways; way++) {
		row_tags(row)[way] = row_stamps(c, row)[way] = 0;
		if (extra & WITH_MASK)
			row_masks(c, row)[way] = 0;
		if (extra & WITH_BYTE)
			c->bytes[(uint64_t)set * c->lanes + way] = 0;
	}
}

static uint32_t rank_of(const uint32_t *stamps, uint32_t ways, uint32_t stamp)
{
	uint32_t rank = STAMP_TAKEN + 1;

	for (uint32_t way = 0; way < ways; way++)
		rank += stamps[way] && stamps[way] < stamp;
	return rank;
}

static void rank_row(struct cache *c, uint8_t *row, uint32_t flag_bits)
{
	uint32_t *stamps = row_stamps(c, row), ranked[CACHE_MAX_WAYS];
	uint32_t flags = (1u << flag_bits) - 1;

	for (uint32_t way = 0; way < c->ways; way++)
		ranked[way] = rank_of(stamps, c->ways, stamps[way]) << flag_bits |
			      (stamps[way] & flags);
	for (uint32_t way = 0; way < c->ways; way++)
		if (row_tags(row)[way])
			stamps[way] = ranked[way];
		else if (stamps[way] != STAMP_TAKEN)
			stamps[way] = 0;
}

/* Stamps have 32 bits.  Long before they wrap, each is replaced by its rank
 * within its set, which keeps the order and with it every later decision.
 * The low flag_bits of a stamp are not part of its age. */
void cache_rank(struct cache *c, uint32_t flag_bits)
{
	for (uint32_t set = 0; set < c->sets; set++)
		rank_row(c, cache_row(c, set), flag_bits);
	c->clock = c->ways + STAMP_TAKEN + 1;
}

/* ---- far lines ---- */

/* As many areas as tags can tell apart, and the table holds. */
void far_lines_init(struct far_lines *r, uint32_t fewest_sets)
{
	uint64_t lines = (0xffffffffull * fewest_sets) - FAR_LINES_FROM;
	uint64_t limit = lines >> FAR_LINES_BITS;

	r->used = 0;
	r->limit = limit < FAR_LINES_SLOTS / 2 ? (uint32_t)limit : FAR_LINES_SLOTS / 2;
}

/* A program that uses more areas than the limit has its last ones share
 * numbers: lines of different areas then hit each other. */
static uint64_t next_first(struct far_lines *r, uint64_t high)
{
	uint64_t n = r->used < r->limit ? r->used : r->limit - 1;

	r->used++;
	r->high[n] = high;
	return FAR_LINES_FROM + (n << FAR_LINES_BITS);
}

static uint32_t hash_region(uint64_t high)
{
	return (uint32_t)((high * 0x9e3779b97f4a7c15ull) >> 52) & (FAR_LINES_SLOTS - 1);
}

uint64_t far_lines_number(struct far_lines *r, uint64_t line)
{
	uint64_t high = line >> FAR_LINES_BITS;
	uint32_t i = hash_region(high);

	while (r->slot[i].high && r->slot[i].high != high + 1)
		i = (i + 1) & (FAR_LINES_SLOTS - 1);
	if (!r->slot[i].high && r->used < FAR_LINES_SLOTS - 1) {
		r->slot[i].high = high + 1;
		r->slot[i].first = next_first(r, high);
	}
	return r->slot[i].first | (line & ((1ull << FAR_LINES_BITS) - 1));
}
