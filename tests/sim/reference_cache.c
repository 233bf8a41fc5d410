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

void ref_leave(struct ref_core *by, const struct ref_cache *c, struct ref_way *w)
{
	if (w->prefetched)
		by->count[c->useless]++;
	w->valid = w->prefetched = 0;
}

int ref_first_use(struct ref_core *by, const struct ref_cache *c, struct ref_way *w)
{
	int first = w->prefetched;

	if (first)
		by->count[c->useless - 1]++;
	w->prefetched = 0;
	return first;
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

static int age_of(const struct ref_way *w)
{
	return w->valid ? w->age : 3;
}

/* If no way of the set has age 3: U0 ages all so far that the oldest has, U1 all but the
 * one that is used, U2 and U3 the same ones by one. */
static void grow_old(struct ref_cache *c, struct ref_way *used)
{
	struct ref_way *set = c->way + (size_t)(used - c->way) / c->g.ways * c->g.ways;
	int oldest = 0, step;

	for (uint32_t i = 0; i < c->g.ways; i++)
		if (age_of(&set[i]) == 3)
			return;
	for (uint32_t i = 0; i < c->g.ways; i++)
		if ((c->g.update % 2 == 0 || &set[i] != used) && set[i].age > oldest)
			oldest = set[i].age;
	step = c->g.update < 2 ? 3 - oldest : 1;
	for (uint32_t i = 0; i < c->g.ways; i++)
		if (c->g.update % 2 == 0 || &set[i] != used)
			set[i].age += step;
}

/* How many ways of its set are like that. */
static uint32_t count_ways(
	const struct ref_cache *c, const struct ref_way *way, int valid, int recent)
{
	const struct ref_way *set =
		c->way + (size_t)(way - c->way) / c->g.ways * c->g.ways;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->g.ways; i++)
		n += (!valid || set[i].valid) && (!recent || set[i].recent);
	return n;
}

/* Recent are at most all but one: who makes it all is the only one.  An MRU_N set that
 * was not full does not learn. */
static void make_recent(struct ref_cache *c, struct ref_way *used, int was_full)
{
	struct ref_way *set = c->way + (size_t)(used - c->way) / c->g.ways * c->g.ways;

	if (c->g.policy == POLICY_MRU_N && !was_full)
		return;
	used->recent = 1;
	if (count_ways(c, used, 0, 1) < c->g.ways)
		return;
	for (uint32_t i = 0; i < c->g.ways; i++)
		set[i].recent = &set[i] == used;
}

void ref_use(struct ref_system *s, struct ref_cache *c, struct ref_way *w)
{
	size_t n = (size_t)(w - c->way);

	w->used = ++s->now;
	if (c->g.policy == POLICY_QLRU) {
		w->age = w->age == 3 ? c->g.hit3 : w->age == 2 ? c->g.hit2 : 0;
		grow_old(c, w);
	}
	if (c->g.policy == POLICY_MRU || c->g.policy == POLICY_MRU_N)
		make_recent(c, w, count_ways(c, w, 1, 0) == c->g.ways);
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

static uint64_t latest(const struct ref_way *w, int n)
{
	return n == 1 || w->used > latest(w + 1, n - 1) ? w->used : latest(w + 1, n - 1);
}

/* Among the fours of ways, the one that was not used for the longest time, of that the
 * half, of that the way. */
static struct ref_way *of_fours(const struct ref_cache *c, struct ref_way *set)
{
	struct ref_way *four = set, *half;

	for (uint32_t i = 4; i < c->g.ways; i += 4)
		if (latest(&set[i], 4) < latest(four, 4))
			four = &set[i];
	half = latest(four, 2) > latest(four + 2, 2) ? four + 2 : four;
	return half[0].used > half[1].used ? half + 1 : half;
}

static struct ref_way *first_of_age_3(const struct ref_cache *c, struct ref_way *set)
{
	for (uint32_t i = 0; i < c->g.ways; i++)
		if (set[i].age == 3)
			return &set[i];
	return set;
}

static struct ref_way *first_not_recent(const struct ref_cache *c, struct ref_way *set)
{
	uint32_t i = 0;

	while (i < c->g.ways - 1 && set[i].recent)
		i++;
	return set[i].recent ? set : &set[i];
}

static struct ref_way *empty_way(const struct ref_cache *c, struct ref_way *set)
{
	int backwards = c->g.policy == POLICY_QLRU && c->g.place == 2;

	for (uint32_t i = 0; i < c->g.ways; i++) {
		struct ref_way *w = &set[backwards ? c->g.ways - 1 - i : i];

		if (!w->valid)
			return w;
	}
	return NULL;
}

struct ref_way *ref_victim(struct ref_cache *c, uint64_t addr)
{
	uint64_t set = ref_set_of(c, addr);
	struct ref_way *w = &c->way[set * c->g.ways], *oldest = w,
		       *empty = empty_way(c, w);

	c->evicts = !empty;
	if (empty)
		return empty;
	switch (c->g.policy) {
	case POLICY_PLRU:
		return &w[pointed_at(&c->tree[set * 256], 1, 0, c->g.ways)];
	case POLICY_ROUND_ROBIN:
		return &w[c->turn[set]++ % c->g.ways];
	case POLICY_RANDOM:
		return &w[next_random(c)];
	case POLICY_LRU_PLRU4:
		return of_fours(c, w);
	case POLICY_QLRU:
		return first_of_age_3(c, w);
	case POLICY_MRU:
	case POLICY_MRU_N:
		return first_not_recent(c, w);
	default:
		for (uint32_t i = 0; i < c->g.ways; i++)
			if (w[i].used < oldest->used)
				oldest = &w[i];
		return oldest;
	}
}

/* In a duel: is the set among those that are the first's (0) or the second's (1)? */
static int is_of(const struct ref_cache *c, uint64_t set, int second)
{
	uint64_t from = second ? c->g.duel.second : c->g.duel.first;

	for (uint64_t i = 0; i < c->g.duel.count; i++)
		if (set % c->g.duel.of == from + i)
			return 1;
	return 0;
}

/* The age of a line that comes to the set. */
static uint8_t first_age(struct ref_cache *c, uint64_t set)
{
	if (!c->g.duel.of)
		return c->g.miss;
	if (is_of(c, set, 0)) {
		if (c->lost < 1023)
			c->lost++;
		return c->g.miss;
	}
	if (is_of(c, set, 1)) {
		if (c->lost > 0)
			c->lost--;
	} else if (c->lost < 512) {
		return c->g.miss;
	}
	c->others++;
	return c->others % 16 == 0 ? c->g.miss : (uint8_t)c->g.duel.age;
}

void ref_put(struct ref_system *s, struct ref_cache *c, struct ref_way *w, uint64_t addr,
	int dirty, int prefetched)
{
	int was_full;

	w->valid = c->evicts;
	was_full = count_ways(c, w, 1, 0) == c->g.ways;
	*w = (struct ref_way){.key = addr / c->line,
		.recent = w->recent,
		.valid = 1,
		.dirty = dirty,
		.prefetched = prefetched,
		.age = c->g.policy == POLICY_QLRU
			       ? first_age(c, (uint64_t)(w - c->way) / c->g.ways)
			       : 0,
		.half = {dirty, dirty}};
	if (c->g.policy < POLICY_QLRU) {
		ref_use(s, c, w);
		return;
	}
	w->used = ++s->now;
	if (c->g.policy == POLICY_QLRU)
		grow_old(c, w);
	else
		make_recent(c, w, was_full);
}
