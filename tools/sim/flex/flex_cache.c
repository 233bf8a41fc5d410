/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flex/flex_cache.h"
#include "lines/ages.h"
#include "model/facts.h"

static uint64_t rows_size(const struct flex_cache *c)
{
	return (uint64_t)c->sets * c->stride;
}

/* Rows begin with a line of the host's, where that takes no more than a third more. */
static uint32_t row_size(uint32_t size)
{
	uint32_t least = (size + 15) & ~15u, whole = (size + 63) & ~63u;

	return 3 * whole <= 4 * least ? whole : least;
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
	c->lanes = (g->ways + 3) & ~3u;
	c->stride = row_size(4 * c->lanes + 2 * g->ways);
	c->shift = shift;
	c->set_bits = set_bits(g->sets);
	c->reciprocal = g->sets ? ~0ull / g->sets + 1 : 0;
	c->random = first_random(g);
	c->rows = c->sets ? host_alloc(rows_size(c)) : 0;
	return c->sets && !c->rows ? -1 : 0;
}

static uint64_t stamps_size(const struct flex_cache *c)
{
	return (uint64_t)c->sets * c->ways * sizeof(*c->stamps);
}

static int first_init(struct flex_cache *c, const struct geometry *g, uint32_t shift)
{
	if (flex_cache_init(c, g, shift) < 0)
		return -1;
	c->units = 1ull << shift;
	c->stamps = host_alloc(stamps_size(c));
	return c->stamps ? 0 : -1;
}

static uint64_t slots_size(const struct flex_cache *c)
{
	return (uint64_t)c->sets * c->ways * sizeof(*c->slots);
}

int flex_l1_init(struct flex_cache *c, const struct geometry *g, uint32_t shift)
{
	if (first_init(c, g, shift) < 0)
		return -1;
	c->slots = shift ? 0 : host_alloc(slots_size(c));
	return shift || c->slots ? 0 : -1;
}

/* Has it one set, of many ways? */
static int is_large(const struct flex_cache *c)
{
	return c->sets == 1 && c->ways > 16 && c->ways % 8 == 0;
}

static int begin_oldest(struct flex_cache *c)
{
	c->oldest = host_alloc(stamps_size(c) / 8);
	for (uint32_t i = 0; c->oldest && i < c->ways / 8; i++)
		c->oldest[i] = 8 * i;
	return c->oldest ? 0 : -1;
}

int flex_tlb_init(struct flex_cache *c, const struct geometry *g, uint32_t shift)
{
	if (first_init(c, g, shift) < 0)
		return -1;
	c->part_shift = shift > 6 ? shift - 6 : 0;
	c->last_part = shift > 6 ? 63 : (1u << shift) - 1;
	c->masks = host_alloc(stamps_size(c));
	c->hints = host_alloc(FLEX_HINTS);
	if (is_large(c) && begin_oldest(c) < 0)
		return -1;
	return c->masks && c->hints ? 0 : -1;
}

void flex_cache_free(struct flex_cache *c)
{
	if (c->masks)
		host_free(c->masks, stamps_size(c));
	c->masks = 0;
	if (c->hints)
		host_free(c->hints, FLEX_HINTS);
	c->hints = 0;
	if (c->oldest)
		host_free(c->oldest, stamps_size(c) / 8);
	c->oldest = 0;
	if (c->slots)
		host_free(c->slots, slots_size(c));
	c->slots = 0;
	if (c->stamps)
		host_free(c->stamps, stamps_size(c));
	c->stamps = 0;
	if (c->rows)
		host_free(c->rows, rows_size(c));
	c->rows = 0;
}

/* ---- policies ---- */

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

/* Ages are from 0 to 3; the state is what they lack of 3, so that empty ways are of age
 * 3.  The way was used; where none is of age 3, others age. */
static void qlru_settle(const struct flex_cache *c, uint8_t *state, uint32_t way)
{
	int all = !(c->g.update & 1);
	uint32_t least = 3;

	for (uint32_t i = 0; i < c->ways; i++) {
		if (!state[i])
			return;
		if ((all || i != way) && state[i] < least)
			least = state[i];
	}
	if (c->g.update >= 2)
		least = 1;
	for (uint32_t i = 0; i < c->ways; i++)
		if (all || i != way)
			state[i] -= (uint8_t)least;
}

static void qlru_touch(const struct flex_cache *c, uint8_t *state, uint32_t way)
{
	const uint8_t age[] = {0, 0, c->g.hit2, c->g.hit3};

	state[way] = (uint8_t)(3 - age[3 - state[way]]);
	qlru_settle(c, state, way);
}

/* The age of a line that is new to the set (struct age_duel). */
static uint32_t new_age(struct flex_cache *c, uint32_t set)
{
	const struct age_duel *d = &c->g.duel;
	uint32_t at = set & (d->of - 1);

	if (!d->of)
		return c->g.miss;
	if (at - d->first < d->count) {
		c->lost += c->lost + 1 < 1u << DUEL_BITS;
		return c->g.miss;
	}
	if (at - d->second < d->count)
		c->lost -= c->lost > 0;
	else if (!(c->lost >> (DUEL_BITS - 1)))
		return c->g.miss;
	return ++c->excepted % DUEL_EXCEPTS ? d->age : c->g.miss;
}

static void qlru_put(struct flex_cache *c, const struct flex_place *p, uint8_t *state)
{
	state[p->way] = (uint8_t)(3 - new_age(c, p->set));
	qlru_settle(c, state, (uint32_t)p->way);
}

/* Ages are 0 and 1, which empty ways keep; the state is 1 less that.  Where all have been
 * used, others age.  With MRU_N nothing is new before the set is full. */
static void mru_touch(
	const struct flex_cache *c, const struct flex_place *p, uint8_t *state)
{
	if (c->g.policy == POLICY_MRU_N && flex_find_tag(c, flex_tags(p), 0) >= 0)
		return;
	state[p->way] = 1;
	for (uint32_t i = 0; i < c->ways; i++)
		if (!state[i])
			return;
	for (uint32_t i = 0; i < c->ways; i++)
		state[i] = i == (uint32_t)p->way;
}

static uint32_t oldest_victim(const uint8_t *state, uint32_t ways)
{
	for (uint32_t way = 0; way < ways; way++)
		if (!state[way])
			return way;
	return 0;
}

/* xorshift64 */
static uint32_t random_victim(struct flex_cache *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return (uint32_t)((c->random >> 16) % c->ways);
}

/* ---- the first level ---- */

static uint64_t *stamps_of(const struct flex_cache *c, const struct flex_place *p)
{
	return c->stamps + (uint64_t)p->set * c->ways;
}

static uint64_t unit_in(
	const struct flex_cache *c, const struct flex_place *p, uint32_t way)
{
	return ((uint64_t)(flex_tags(p)[way] - 1) * c->sets + p->set) << c->shift;
}

static const struct front_entry *filter_of(const struct flex_cache *c)
{
	return c->code ? front->code : front->data;
}

static uint32_t filter_mask(const struct flex_cache *c)
{
	return (c->code ? CODE_FILTER : DATA_FILTER) - 1;
}

/* The fact that the front has of a line with this slot. */
LANES_INLINE uint64_t fact_at(
	const struct front_entry *filter, uint32_t mask, uint32_t slot)
{
	return front_stamp(front, filter[(slot - 1) & mask].stamp) &
	       -(uint64_t)(slot != 0);
}

static uint64_t *mask_of(const struct flex_cache *c, const struct flex_place *p)
{
	return c->masks + (uint64_t)p->set * c->ways;
}

/* The extent of a way of a TLB: where it begins, and the bits of a part's number of
 * units. */
struct extent {
	uint64_t first;
	uint32_t shift, part_shift;
};

LANES_INLINE struct extent extent_of(
	const struct flex_cache *c, const struct flex_place *p, uint32_t way)
{
	struct extent e = {unit_in(c, p, way), c->shift, c->part_shift};

	if (__builtin_expect(flex_state(c, p)[c->ways + way] & FLEX_HUGE, 0)) {
		e.first = e.first >> (c->shift + HUGE_PAGES_SHIFT)
					     << (c->shift + HUGE_PAGES_SHIFT);
		e.shift = c->shift + HUGE_PAGES_SHIFT;
		e.part_shift = e.shift - 6;
	}
	return e;
}

/* The newest reference to any of the units in a page, a bit of its mask each, while the
 * owner is a member.  There are no facts of most of them any more: these are left out
 * from now on. */
LANES_INLINE uint64_t newest_of_units(
	const struct flex_cache *c, uint64_t first, uint64_t *mask)
{
	const struct front_entry *filter = filter_of(c), *e;
	uint32_t in = filter_mask(c), newest = 0;

	for (uint64_t rest = *mask; rest; rest &= rest - 1) {
		uint64_t unit = first + (uint64_t)__builtin_ctzll(rest);

		e = &filter[unit & in];
		if (e->line != unit)
			*mask ^= rest & -rest;
		else if (e->stamp > newest)
			newest = e->stamp;
	}
	return newest ? front_stamp(front, newest) : 0;
}

static uint64_t newest_in_page(
	const struct flex_cache *c, const struct flex_place *p, uint32_t way)
{
	uint64_t *all = &mask_of(c, p)[way], mask = *all, newest = 0;
	struct extent e;

	if (!mask || !*c->bit)
		return 0;
	e = extent_of(c, p, way);
	if (!e.part_shift && e.first < FAR_LINES_FROM)
		return newest_of_units(c, e.first, all);
	for (; mask; mask &= mask - 1) {
		uint64_t part = (uint64_t)__builtin_ctzll(mask) << e.part_shift;
		uint64_t stamp = front_newest(
			c->owner, c->code, e.first + part, 1ull << e.part_shift);

		newest = stamp > newest ? stamp : newest;
	}
	return newest;
}

static uint64_t newest_in(
	const struct flex_cache *c, const struct flex_place *p, uint32_t way)
{
	if (c->masks)
		return newest_in_page(c, p, way);
	if (c->slots)
		return fact_at(filter_of(c), filter_mask(c),
			c->slots[(uint64_t)p->set * c->ways + way]);
	if (!(flex_state(c, p)[c->ways + way] & FLEX_FILTERED))
		return 0;
	return front_newest(c->owner, c->code, unit_in(c, p, way), c->units);
}

void flex_each_part(const struct flex_cache *c, const struct flex_place *p,
	void (*visit)(struct core *core, uint64_t first, uint64_t units))
{
	struct extent e = extent_of(c, p, (uint32_t)p->way);
	uint64_t mask = mask_of(c, p)[p->way];

	for (; mask; mask &= mask - 1)
		visit(c->owner,
			e.first + ((uint64_t)__builtin_ctzll(mask) << e.part_shift),
			1ull << e.part_shift);
}

/* Asks for the last use of what is in the way; returns whether it is news. */
static int refresh_stamp(
	const struct flex_cache *c, const struct flex_place *p, uint32_t way)
{
	uint64_t *stamp = &stamps_of(c, p)[way], newest = newest_in(c, p, way);

	if (newest <= *stamp)
		return 0;
	*stamp = newest;
	return 1;
}

/* A stamp and the number of its way as one number: stamps stay far below 2^57. */
LANES_INLINE uint64_t aged_way(uint64_t stamp, uint32_t way)
{
	return stamp << 7 | way;
}

LANES_INLINE uint64_t lesser_of(uint64_t a, uint64_t b)
{
	return b < a ? b : a;
}

LANES_INLINE uint64_t later_of(uint64_t a, uint64_t b)
{
	return b > a ? b : a;
}

/* Four at once: one after the other would wait for each other. */
static uint32_t oldest_way(const uint64_t *stamps, uint32_t ways)
{
	uint64_t a = ~0ull, b = a, c = a, d = a;
	uint32_t i = 0;

	for (; i + 4 <= ways; i += 4) {
		a = lesser_of(a, aged_way(stamps[i], i));
		b = lesser_of(b, aged_way(stamps[i + 1], i + 1));
		c = lesser_of(c, aged_way(stamps[i + 2], i + 2));
		d = lesser_of(d, aged_way(stamps[i + 3], i + 3));
	}
	for (; i < ways; i++)
		a = lesser_of(a, aged_way(stamps[i], i));
	return (uint32_t)lesser_of(lesser_of(a, b), lesser_of(c, d)) &
	       (CACHE_MAX_WAYS - 1);
}

/* When a way of an L1D or L1I was used last.  Nothing is written, so that the host need
 * not read again what is the same for all ways. */
LANES_INLINE uint64_t use_of(
	const struct flex_cache *c, const struct flex_place *p, uint32_t way)
{
	uint64_t at = (uint64_t)p->set * c->ways + way;

	return later_of(
		c->stamps[at], fact_at(filter_of(c), filter_mask(c), c->slots[at]));
}

/* Two at once, without a branch that nobody could predict. */
LANES_INLINE uint32_t oldest_of_uses(
	const struct flex_cache *c, const struct flex_place *p, uint32_t ways)
{
	uint64_t a = ~0ull, b = a;

	for (uint32_t i = 0; i + 2 <= ways; i += 2) {
		a = lesser_of(a, aged_way(use_of(c, p, i), i));
		b = lesser_of(b, aged_way(use_of(c, p, i + 1), i + 1));
	}
	if (ways & 1)
		a = lesser_of(a, aged_way(use_of(c, p, ways - 1), ways - 1));
	return (uint32_t)lesser_of(a, b) & (CACHE_MAX_WAYS - 1);
}

/* The oldest way of an L1D or L1I. */
static uint32_t lru_by_uses(const struct flex_cache *c, const struct flex_place *p)
{
	return c->ways == 8    ? oldest_of_uses(c, p, 8)
	       : c->ways == 12 ? oldest_of_uses(c, p, 12)
			       : oldest_of_uses(c, p, c->ways);
}

/* Four at once, as in oldest_way(). */
LANES_INLINE uint64_t least_of(const uint64_t *aged, uint32_t n)
{
	uint64_t a = ~0ull, b = a, c = a, d = a;
	uint32_t i = 0;

	for (; i + 4 <= n; i += 4) {
		a = lesser_of(a, aged[i]);
		b = lesser_of(b, aged[i + 1]);
		c = lesser_of(c, aged[i + 2]);
		d = lesser_of(d, aged[i + 3]);
	}
	for (; i < n; i++)
		a = lesser_of(a, aged[i]);
	return lesser_of(lesser_of(a, b), lesser_of(c, d));
}

/* The oldest of so many ways that have been looked at before: stamps only grow, so none
 * is older than its eight's oldest one was then. */
static uint32_t oldest_of_many(const struct flex_cache *c, const struct flex_place *p)
{
	const uint64_t *stamps = stamps_of(c, p);
	uint64_t is, was;
	uint32_t i, way;

	do {
		was = least_of(c->oldest, c->ways / 8);
		i = (uint32_t)was % CACHE_MAX_WAYS / 8;
		way = 8 * i + oldest_way(stamps + 8 * i, 8);
		is = aged_way(stamps[way], way);
		c->oldest[i] = is;
	} while (is != was);
	return way;
}

#define FEW 16
static uint32_t lru_by_stamps(const struct flex_cache *c, const struct flex_place *p)
{
	uint32_t way;

	if (c->slots && c->ways <= FEW)
		return lru_by_uses(c, p);
	do
		way = c->oldest ? oldest_of_many(c, p)
				: oldest_way(stamps_of(c, p), c->ways);
	while (refresh_stamp(c, p, way));
	return way;
}

/* The way that trees of two pairs lead to. */
LANES_INLINE uint32_t plru_of_four(const uint64_t *stamps)
{
	uint32_t pair = later_of(stamps[0], stamps[1]) > later_of(stamps[2], stamps[3]);

	return 2 * pair + (stamps[2 * pair] > stamps[2 * pair + 1]);
}

LANES_INLINE uint64_t newest_of_four(const uint64_t *stamps)
{
	return later_of(later_of(stamps[0], stamps[1]), later_of(stamps[2], stamps[3]));
}

static uint32_t plru_of_eight(const uint64_t *stamps)
{
	uint32_t half = newest_of_four(stamps) > newest_of_four(stamps + 4) ? 4 : 0;

	return half + plru_of_four(stamps + half);
}

static uint32_t plru_of_eight_uses(const struct flex_cache *c, const struct flex_place *p)
{
	uint64_t use[8];

#pragma GCC unroll 8
	for (uint32_t i = 0; i < 8; i++)
		use[i] = use_of(c, p, i);
	return plru_of_eight(use);
}

/* At each node to the half that was not used last.  The newest of the half below node
 * n is newest[n], the root is 1. */
static uint32_t plru_by_stamps(const struct flex_cache *c, const struct flex_place *p)
{
	uint64_t newest[2 * CACHE_MAX_WAYS];
	uint32_t node = 1;

	if (c->ways == 8 && c->slots)
		return plru_of_eight_uses(c, p);
	for (uint32_t i = 0; i < c->ways; i++) {
		refresh_stamp(c, p, i);
		newest[c->ways + i] = stamps_of(c, p)[i];
	}
	if (c->ways == 8)
		return plru_of_eight(newest + 8);
	for (uint32_t i = c->ways - 1; i > 1; i--)
		newest[i] = newest[2 * i] > newest[2 * i + 1] ? newest[2 * i]
							      : newest[2 * i + 1];
	while (node < c->ways)
		node = 2 * node + (newest[2 * node] > newest[2 * node + 1]);
	return node - c->ways;
}

/* The way that their tree leads to among the four that were used least recently. */
static uint32_t lru_plru4_by_stamps(
	const struct flex_cache *c, const struct flex_place *p)
{
	const uint64_t *stamps = stamps_of(c, p);
	uint64_t least = ~0ull;
	uint32_t way = 0;

	for (uint32_t i = 0; i < c->ways; i++)
		refresh_stamp(c, p, i);
	for (uint32_t i = 0; i < c->ways; i += 4) {
		uint64_t low = later_of(stamps[i], stamps[i + 1]),
			 high = later_of(stamps[i + 2], stamps[i + 3]);

		if (later_of(low, high) >= least)
			continue;
		least = later_of(low, high);
		way = i + (low > high ? 2 : 0);
	}
	return way + (stamps[way] > stamps[way + 1]);
}

int flex_learn(struct flex_cache *c, uint64_t unit, uint64_t stamp)
{
	struct flex_place p = c->hints ? flex_find_page(c, unit) : flex_find(c, unit);

	if (p.way < 0)
		return 0;
	if (stamps_of(c, &p)[p.way] < stamp)
		stamps_of(c, &p)[p.way] = stamp;
	if (c->slots)
		*flex_slot(c, &p) = 0;
	return 1;
}

/* ---- any level ---- */

void flex_touch_outer(struct flex_cache *c, const struct flex_place *p)
{
	uint8_t *state = flex_state(c, p);

	if (c->g.policy == POLICY_LRU && state[p->way])
		ages_renew(state, c->ways, (uint32_t)p->way, state[p->way]);
	else if (c->g.policy == POLICY_PLRU)
		plru_touch(state, c->ways, (uint32_t)p->way);
	else if (c->g.policy == POLICY_QLRU)
		qlru_touch(c, state, (uint32_t)p->way);
	else if (c->g.policy >= POLICY_MRU)
		mru_touch(c, p, state);
}

int flex_will_evict(const struct flex_cache *c, struct flex_place *p)
{
	const uint8_t *state = flex_state(c, p);

	if (c->g.policy > POLICY_PLRU || flex_find_tag(c, flex_tags(p), 0) >= 0)
		return 0;
	p->way = (int)(c->g.policy == POLICY_PLRU ? plru_victim(state, c->ways)
						  : ages_oldest(state, c->ways));
	return 1;
}

static uint32_t victim_of(struct flex_cache *c, const struct flex_place *p)
{
	uint8_t *state = flex_state(c, p);
	uint32_t way;

	switch (c->g.policy) {
	case POLICY_PLRU:
		return c->stamps ? plru_by_stamps(c, p) : plru_victim(state, c->ways);
	case POLICY_ROUND_ROBIN:
		way = state[0];
		state[0] = (uint8_t)((way + 1) % c->ways);
		return way;
	case POLICY_RANDOM:
		return random_victim(c);
	case POLICY_LRU_PLRU4:
		return lru_plru4_by_stamps(c, p);
	case POLICY_QLRU:
	case POLICY_MRU:
	case POLICY_MRU_N:
		return oldest_victim(state, c->ways);
	default:
		return c->stamps ? lru_by_stamps(c, p) : ages_oldest(state, c->ways);
	}
}

static int last_empty(const struct flex_cache *c, const struct flex_place *p)
{
	int way = (int)c->ways - 1;

	while (flex_tags(p)[way])
		way--;
	return way;
}

int flex_make_room(struct flex_cache *c, struct flex_place *p)
{
	/* TLBs mostly lose nothing, so they fill up from the first way on. */
	p->way = c->masks && !c->has_gaps && flex_tags(p)[c->ways - 1]
			 ? -1
			 : flex_find_tag(c, flex_tags(p), 0);
	if (p->way >= 0 && c->g.policy == POLICY_QLRU && c->g.place == 2)
		p->way = last_empty(c, p);
	if (p->way >= 0)
		return 0;
	p->way = (int)victim_of(c, p);
	return 1;
}

void flex_put(struct flex_cache *c, const struct flex_place *p, uint32_t flags)
{
	uint8_t *state = flex_state(c, p);
	uint32_t *tag = &flex_tags(p)[p->way];

	if (c->stamps)
		stamps_of(c, p)[p->way] = *c->now;
	else if (c->g.policy == POLICY_LRU)
		ages_renew(
			state, c->ways, (uint32_t)p->way, *tag ? state[p->way] : c->ways);
	else if (c->g.policy == POLICY_PLRU)
		plru_touch(state, c->ways, (uint32_t)p->way);
	else if (c->g.policy == POLICY_QLRU)
		qlru_put(c, p, state);
	else if (c->g.policy >= POLICY_MRU)
		mru_touch(c, p, state);
	if (c->masks)
		mask_of(c, p)[p->way] = 0;
	if (c->slots)
		*flex_slot(c, p) = 0;
	*tag = p->tag;
	*flex_flags(c, p) = (uint8_t)flags;
}

void flex_drop(struct flex_cache *c, const struct flex_place *p)
{
	uint8_t *state = flex_state(c, p);

	if (c->g.policy == POLICY_QLRU)
		state[p->way] = 0;
	if (c->stamps && c->g.policy == POLICY_PLRU) /* which remembers the way */
		refresh_stamp(c, p, (uint32_t)p->way);
	if (!c->stamps && c->g.policy == POLICY_LRU)
		ages_leave(state, c->ways, (uint32_t)p->way);
	flex_tags(p)[p->way] = 0;
	*flex_flags(c, p) = 0;
}

void flex_drop_page(struct flex_cache *c, uint64_t unit,
	void (*visit)(struct core *core, uint64_t first, uint64_t units))
{
	struct flex_place p = flex_find(c, unit);

	if (p.way < 0)
		return;
	if (c->masks)
		flex_each_part(c, &p, visit);
	flex_drop(c, &p);
	c->has_gaps = 1;
}
