/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flex_cache.h"
#include "host.h"

static uint64_t rows_size(const struct flex_cache *c)
{
	return (uint64_t)c->sets * c->stride;
}

/* Zero would stay zero. */
static uint64_t first_random(const struct geometry *g)
{
	return g->seed ? g->seed : 0x9e3779b97f4a7c15ull;
}

static int set_bits(uint32_t sets)
{
	return sets & (sets - 1) ? -1 : __builtin_ctz(sets | 1u << 31);
}

int flex_cache_init(struct flex_cache *c, const struct geometry *g, uint32_t shift)
{
	c->g = *g;
	c->sets = g->sets;
	c->ways = g->ways;
	c->stride = (6 * g->ways + 3) & ~3u;
	c->shift = shift;
	c->set_bits = set_bits(g->sets);
	c->random = first_random(g);
	c->rows = c->sets ? host_alloc(rows_size(c)) : 0;
	return c->sets && !c->rows ? -1 : 0;
}

void flex_cache_free(struct flex_cache *c)
{
	if (c->rows)
		host_free(c->rows, rows_size(c));
	c->rows = 0;
}

static int find_tag(const uint32_t *tags, uint32_t ways, uint32_t tag)
{
	for (uint32_t way = 0; way < ways; way++)
		if (tags[way] == tag)
			return (int)way;
	return -1;
}

struct flex_place flex_find(const struct flex_cache *c, uint64_t unit)
{
	struct flex_place p = {0, 0, 0, -1};
	uint64_t key = unit >> c->shift;

	if (!c->sets)
		return p;
	if (c->set_bits >= 0) {
		p.set = (uint32_t)key & (c->sets - 1);
		p.tag = (uint32_t)(key >> c->set_bits) + 1;
	} else {
		p.set = (uint32_t)(key % c->sets);
		p.tag = (uint32_t)(key / c->sets) + 1;
	}
	p.row = c->rows + (uint64_t)p.set * c->stride;
	p.way = find_tag(flex_tags(&p), c->ways, p.tag);
	return p;
}

/* ---- policies ---- */

/* The way becomes the newest of those that are newer than `age`. */
static void lru_touch(uint8_t *state, uint32_t ways, uint32_t way, uint32_t age)
{
	for (uint32_t i = 0; i < ways; i++)
		state[i] += state[i] < age;
	state[way] = 0;
}

/* A bit tells which half was not used last: 0 the lower, 1 the upper. */
static void plru_touch(uint8_t *state, uint32_t ways, uint32_t way)
{
	uint32_t node = 0;

	for (uint32_t half = ways / 2; half; half /= 2) {
		uint32_t upper = (way & half) != 0;

		state[node] = !upper;
		node = 2 * node + 1 + upper;
	}
}

static uint32_t plru_victim(const uint8_t *state, uint32_t ways)
{
	uint32_t node = 0, way = 0;

	for (uint32_t half = ways / 2; half; half /= 2) {
		way += state[node] ? half : 0;
		node = 2 * node + 1 + state[node];
	}
	return way;
}

/* xorshift64 */
static uint32_t random_victim(struct flex_cache *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return (uint32_t)((c->random >> 16) % c->ways);
}

static uint32_t lru_victim(const uint8_t *state, uint32_t ways)
{
	uint32_t way = 0;

	while (state[way] != ways - 1)
		way++;
	return way;
}

void flex_touch(struct flex_cache *c, const struct flex_place *p)
{
	uint8_t *state = flex_state(c, p);

	if (c->g.policy == POLICY_LRU && state[p->way])
		lru_touch(state, c->ways, (uint32_t)p->way, state[p->way]);
	else if (c->g.policy == POLICY_PLRU)
		plru_touch(state, c->ways, (uint32_t)p->way);
}

static uint32_t victim(struct flex_cache *c, const struct flex_place *p)
{
	uint8_t *state = flex_state(c, p);
	uint32_t way;

	switch (c->g.policy) {
	case POLICY_PLRU:
		return plru_victim(state, c->ways);
	case POLICY_ROUND_ROBIN:
		way = state[0];
		state[0] = (uint8_t)((way + 1) % c->ways);
		return way;
	case POLICY_RANDOM:
		return random_victim(c);
	default:
		return lru_victim(state, c->ways);
	}
}

int flex_make_room(struct flex_cache *c, struct flex_place *p)
{
	p->way = find_tag(flex_tags(p), c->ways, 0);
	if (p->way >= 0)
		return 0;
	p->way = (int)victim(c, p);
	return 1;
}

void flex_put(struct flex_cache *c, const struct flex_place *p, uint32_t flags)
{
	uint8_t *state = flex_state(c, p);
	uint32_t *tag = &flex_tags(p)[p->way];

	if (c->g.policy == POLICY_LRU)
		lru_touch(
			state, c->ways, (uint32_t)p->way, *tag ? state[p->way] : c->ways);
	else if (c->g.policy == POLICY_PLRU)
		plru_touch(state, c->ways, (uint32_t)p->way);
	*tag = p->tag;
	*flex_flags(c, p) = (uint8_t)flags;
}

void flex_drop(struct flex_cache *c, const struct flex_place *p)
{
	uint8_t *state = flex_state(c, p);

	/* The ages of the others stay those of a smaller set. */
	for (uint32_t i = 0; c->g.policy == POLICY_LRU && i < c->ways; i++)
		if (state[i] > state[p->way])
			state[i]--;
	flex_tags(p)[p->way] = 0;
	*flex_flags(c, p) = 0;
}
