/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One cache of the reference, which is searched from end to end.
 */
#include <stdlib.h>

#include "reference_parts.h"

void ref_make(struct ref_cache *c, const struct geometry *g, uint64_t line)
{
	c->g = *g;
	c->line = line;
	c->way = calloc((size_t)g->sets * g->ways + 1, sizeof(*c->way));
	c->tree = calloc((size_t)g->sets + 1, 256);
	c->turn = calloc((size_t)g->sets + 1, sizeof(*c->turn));
	c->random = g->seed ? g->seed : 0x9e3779b97f4a7c15ull;
}

void ref_unmake(struct ref_cache *c)
{
	free(c->way);
	free(c->tree);
	free(c->turn);
}

uint64_t ref_set_of(const struct ref_cache *c, uint64_t addr)
{
	return addr / c->line % c->g.sets;
}

struct ref_way *ref_find(struct ref_cache *c, uint64_t addr)
{
	struct ref_way *w;

	if (!c->g.sets)
		return NULL;
	w = &c->way[ref_set_of(c, addr) * c->g.ways];
	for (uint32_t i = 0; i < c->g.ways; i++)
		if (w[i].valid && w[i].key == addr / c->line)
			return &w[i];
	return NULL;
}

/* The ways [low, high) are a subtree, named like a heap's nodes from 1. */
static void point_away(
	uint8_t *tree, uint32_t node, uint32_t low, uint32_t high, uint32_t way)
{
	uint32_t middle = (low + high) / 2;

	if (high - low == 1)
		return;
	if (way < middle) {
		tree[node] = 1;
		point_away(tree, 2 * node, low, middle, way);
	} else {
		tree[node] = 0;
		point_away(tree, 2 * node + 1, middle, high, way);
	}
}

static uint32_t pointed_at(
	const uint8_t *tree, uint32_t node, uint32_t low, uint32_t high)
{
	uint32_t middle = (low + high) / 2;

	if (high - low == 1)
		return low;
	return tree[node] ? pointed_at(tree, 2 * node + 1, middle, high)
			  : pointed_at(tree, 2 * node, low, middle);
}

void ref_use(struct ref_system *s, struct ref_cache *c, struct ref_way *w)
{
	size_t n = (size_t)(w - c->way);

	w->used = ++s->now;
	if (c->g.policy == POLICY_PLRU)
		point_away(&c->tree[n / c->g.ways * 256], 1, 0, c->g.ways,
			(uint32_t)(n % c->g.ways));
}

static uint32_t next_random(struct ref_cache *c)
{
	uint64_t x = c->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	c->random = x;
	return (uint32_t)((x >> 16) % c->g.ways);
}

struct ref_way *ref_victim(struct ref_cache *c, uint64_t addr)
{
	uint64_t set = ref_set_of(c, addr);
	struct ref_way *w = &c->way[set * c->g.ways], *oldest = w;

	for (uint32_t i = 0; i < c->g.ways; i++)
		if (!w[i].valid)
			return &w[i];
	switch (c->g.policy) {
	case POLICY_PLRU:
		return &w[pointed_at(&c->tree[set * 256], 1, 0, c->g.ways)];
	case POLICY_ROUND_ROBIN:
		return &w[c->turn[set]++ % c->g.ways];
	case POLICY_RANDOM:
		return &w[next_random(c)];
	default:
		for (uint32_t i = 0; i < c->g.ways; i++)
			if (w[i].used < oldest->used)
				oldest = &w[i];
		return oldest;
	}
}

void ref_put(struct ref_system *s, struct ref_cache *c, struct ref_way *w, uint64_t addr,
	int dirty, int prefetched)
{
	*w = (struct ref_way){addr / c->line, 0, 1, dirty, prefetched, 0, {dirty, dirty}};
	ref_use(s, c, w);
}
