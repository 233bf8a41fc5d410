/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Behind the first level: L2, last level, second-level TLB, other cores.
 */
#include "model/outer.h"
#include "model/huge.h"
#include "model/sets.h"
#include "model/sweep.h"

static void stamp_way(struct cache *c, uint8_t *row, unsigned way, uint32_t flags)
{
	row_stamps(c, row)[way] = next_stamp(c, flags);
}

static void set_flags(struct cache *c, uint8_t *row, unsigned way, uint32_t flags)
{
	row_stamps(c, row)[way] |= flags;
}

static void clear_flags(struct cache *c, uint8_t *row, unsigned way)
{
	row_stamps(c, row)[way] &= ~(uint32_t)FLAGS;
}

static void empty_way(struct cache *c, uint8_t *row, unsigned way)
{
	row_tags(row)[way] = 0;
	row_stamps(c, row)[way] = 0;
}

/* Makes room in the last level and puts the line there. */
static void llc_fill(struct core *core, struct cache_place p, uint32_t flags)
{
	struct cache *c = &core->uncore->llc;
	unsigned way = cache_victim(c, p.row);

	core->count[CP_SIM_llc_writebacks] += flags_of(c, p.row, way) & DIRTY;
	core->count[CP_SIM_llc_fills]++;
	row_tags(p.row)[way] = p.tag;
	stamp_way(c, p.row, way, flags);
}

static void llc_write_back(struct core *core, uint64_t line)
{
	struct cache *c = &core->uncore->llc;
	struct cache_place p;
	int way;

	if (!c->sets)
		return;
	if (is_sweeping(core, SWEEP_LLC))
		sweep_put(core, line);
	p = cache_place(c, line);
	way = cache_find(c, p);
	if (way >= 0)
		set_flags(c, p.row, way, DIRTY);
	else
		llc_fill(core, p, DIRTY);
}

/* A line leaves L1D and L2 for the last level, which there is. */
void outer_demote(struct core *core, uint64_t line, int dirty)
{
	struct cache *c = &core->uncore->llc;
	struct cache_place p = cache_place(c, line);

	if (sample_leaves_out(core->sets, line))
		return;
	if (dirty)
		llc_write_back(core, line);
	else if (cache_find(c, p) < 0)
		llc_fill(core, p, 0);
	if (!dirty && is_sweeping(core, SWEEP_LLC))
		sweep_put(core, line);
}

static void llc_fetch(struct core *core, uint64_t line, enum access kind)
{
	struct cache *c = &core->uncore->llc;
	struct cache_place p;
	int way;

	if (!c->sets)
		return;
	if (is_sweeping(core, SWEEP_LLC))
		sweep_ask(core, line);
	p = cache_place(c, line);
	way = cache_find(c, p);
	if (way >= 0) {
		stamp_way(c, p.row, way, flags_of(c, p.row, way));
		return;
	}
	core->count[CP_SIM_llc_ifetch_misses + kind]++;
	llc_fill(core, p, 0);
}

static void l2_fill(struct core *core, struct cache_place p, uint32_t flags)
{
	struct cache *c = &core->l2;
	unsigned way = cache_victim(c, p.row);

	if (flags_of(c, p.row, way) & DIRTY) {
		core->count[CP_SIM_l2_writebacks]++;
		llc_write_back(core, cache_key(c, p.set, row_tags(p.row)[way]));
	}
	core->count[CP_SIM_l2_fills]++;
	row_tags(p.row)[way] = p.tag;
	stamp_way(c, p.row, way, flags);
}

static void write_back(struct core *core, uint64_t line)
{
	struct cache *c = &core->l2;
	struct cache_place p;
	int way;

	if (!c->sets) {
		llc_write_back(core, line);
		return;
	}
	if (is_sweeping(core, SWEEP_L2))
		sweep_put(core, line);
	p = cache_place(c, line);
	way = cache_find(c, p);
	if (way >= 0)
		set_flags(c, p.row, way, DIRTY | OWNED);
	else
		l2_fill(core, p, DIRTY | OWNED);
}

/* A modified line leaves the L1D. */
void outer_write_back(struct core *core, uint64_t line)
{
	if (__builtin_expect(sample_leaves_out(core->sets, line), 0))
		return;
	write_back(core, line);
	if (__builtin_expect(core->sets != 0, 0))
		sample_sets_take(core, line);
}

/* One line in another core's L1D and L2, if it is there. */
struct remote {
	struct cache_place l1, l2;
	int l1_way, l2_way;
};

static int remote_find(struct core *other, uint64_t line, struct remote *r)
{
	r->l1 = cache_place(&other->l1d, line);
	r->l1_way = cache_find(&other->l1d, r->l1);
	r->l2_way = -1;
	if (other->l2.sets) {
		r->l2 = cache_place(&other->l2, line);
		r->l2_way = cache_find(&other->l2, r->l2);
	}
	return r->l1_way >= 0 || r->l2_way >= 0;
}

static int remote_dirty(struct core *other, const struct remote *r)
{
	if (r->l1_way >= 0 && cache_bytes(&other->l1d, r->l1)[r->l1_way] & L1_DIRTY)
		return 1;
	return r->l2_way >= 0 && flags_of(&other->l2, r->l2.row, r->l2_way) & DIRTY;
}

/* The entry that filters the line in this way of the L1D, or NULL. */
static struct entry *filter_entry(
	struct core *core, const struct remote *r, uint64_t line)
{
	struct entry *e = &core->data[line & (DATA_FILTER - 1)];
	uint8_t *stamp = (uint8_t *)&row_stamps(&core->l1d, r->l1.row)[r->l1_way];

	return e->line != NO_LINE && (uint8_t *)core + e->at.line == stamp ? e : 0;
}

static void remote_take(struct core *other, const struct remote *r, uint64_t line)
{
	struct entry *e;

	if (r->l1_way >= 0) {
		e = filter_entry(other, r, line);
		if (e)
			e->line = NO_LINE;
		empty_way(&other->l1d, r->l1.row, r->l1_way);
		row_stamps(&other->l1d, r->l1.row)[r->l1_way] = STAMP_TAKEN;
		cache_bytes(&other->l1d, r->l1)[r->l1_way] = 0;
	}
	if (r->l2_way >= 0)
		empty_way(&other->l2, r->l2.row, r->l2_way);
}

static void remote_share(struct core *other, const struct remote *r, uint64_t line)
{
	struct entry *e;

	if (r->l1_way >= 0) {
		cache_bytes(&other->l1d, r->l1)[r->l1_way] &= L1_FILTERED;
		e = filter_entry(other, r, line);
		if (e)
			e->line |= CLEAN;
	}
	if (r->l2_way >= 0)
		clear_flags(&other->l2, r->l2.row, r->l2_way);
}

/* Tells the other cores of our access; returns whether the line is ours alone. */
static int snoop_cores(struct core *core, uint64_t line, enum access kind)
{
	int alone = 1;
	struct remote r;

	for (struct core *other = core->uncore->cores; other; other = other->next) {
		if (other == core || !remote_find(other, line, &r))
			continue;
		if (remote_dirty(other, &r)) {
			core->count[CP_SIM_hitm]++;
			core->count[CP_SIM_loads_cache_to_cache] += kind == LOAD;
			llc_write_back(core, line);
		}
		if (kind == STORE) {
			core->count[CP_SIM_invalidations]++;
			remote_take(other, &r, line);
		} else {
			remote_share(other, &r, line);
			alone = 0;
		}
	}
	return alone;
}

/* Our L1D wants to modify a line that others may have. */
void outer_own(struct core *core, uint64_t line)
{
	struct cache_place p;
	int way;

	if (__builtin_expect(sample_leaves_out(core->sets, line), 0))
		return;
	snoop_cores(core, line, STORE);
	if (!core->l2.sets)
		return;
	p = cache_place(&core->l2, line);
	way = cache_find(&core->l2, p);
	if (way >= 0)
		set_flags(&core->l2, p.row, way, OWNED);
}

static int beyond_private(struct core *core, uint64_t line, enum access kind)
{
	int alone = core->uncore->ncores <= 1 || snoop_cores(core, line, kind);

	llc_fetch(core, line, kind);
	return alone;
}

int outer_l2_miss(
	struct core *core, uint64_t line, struct cache_place p, enum access kind)
{
	int alone;

	core->count[CP_SIM_l2_ifetch_misses + kind]++;
	alone = beyond_private(core, line, kind);
	l2_fill(core, p, alone ? OWNED : 0);
	return alone;
}

void outer_prefetch(struct core *core, uint64_t line)
{
	int alone = beyond_private(core, line, PREFETCH);

	if (is_sweeping(core, SWEEP_L2))
		sweep_put(core, line);
	core->count[CP_SIM_software_prefetch_lines]++;
	core->count[CP_SIM_l2_prefetches]++;
	l2_fill(core, cache_place(&core->l2, line), alone ? OWNED : 0);
}

static int fetch_any(struct core *core, uint64_t line, enum access kind)
{
	return outer_fetch_l2(core, line, kind, 0, outer_l2_miss);
}

static int fetch_8(struct core *core, uint64_t line, enum access kind)
{
	return outer_fetch_l2(core, line, kind, 8, outer_l2_miss);
}

static int fetch_16(struct core *core, uint64_t line, enum access kind)
{
	return outer_fetch_l2(core, line, kind, 16, outer_l2_miss);
}

static int missed_in_set(
	struct core *core, uint64_t line, struct cache_place p, enum access kind)
{
	int alone = outer_l2_miss(core, line, p, kind);

	sample_sets_take(core, line);
	return alone;
}

/* An L2 without sets behaves as if it had the line. */
static int fetch_in_sets(struct core *core, uint64_t line, enum access kind)
{
	if (sample_leaves_out(core->sets, line))
		return OWNED;
	core->sets->kept += kind != IFETCH;
	if (is_sweeping(core, SWEEP_L2)) {
		sweep_ask(core, line);
		sample_sets_take_swept(core, line);
	}
	return outer_fetch_l2(core, line, kind, 0, missed_in_set);
}

static int fetch_swept(struct core *core, uint64_t line, enum access kind)
{
	sweep_ask(core, line);
	return outer_fetch_l2(core, line, kind, 0, outer_l2_miss);
}

static void count_walk(struct core *core, enum access kind)
{
	static const unsigned char counter[] = {
		CP_SIM_itlb_walks, CP_SIM_dtlb_load_walks, CP_SIM_dtlb_store_walks};

	core->count[counter[kind]]++;
}

static void look_up_page(
	struct core *core, struct cache *c, uint64_t page, enum access kind)
{
	struct cache_place p;
	int way;

	if (!c->sets) {
		count_walk(core, kind);
		return;
	}
	if (is_sweeping(core, SWEEP_STLB)) /* by lines, of which a page has many */
		sweep_ask(core, page << core->page_shift);
	p = cache_place(c, page);
	way = cache_find(c, p);
	if (way < 0) {
		count_walk(core, kind);
		way = (int)cache_victim(c, p.row);
		core->unsure[UNSURE_CODE_WALKS + kind] += !row_stamps(c, p.row)[way];
		row_tags(p.row)[way] = p.tag;
	}
	stamp_way(c, p.row, way, 0);
}

/* A page that the first-level TLB did not have. */
void outer_page(struct core *core, uint64_t page, enum access kind)
{
	look_up_page(core, &core->stlb, page, kind);
}

/* A huge one: the number of any small page in it. */
void outer_huge_page(struct core *core, uint64_t page, enum access kind)
{
	int own = core->stlb_2m.sets != 0;

	if (core->stlb_is_small)
		count_walk(core, kind);
	else
		look_up_page(core, own ? &core->stlb_2m : &core->stlb,
			huge_key(page, own), kind);
}

void outer_choose_paths(struct core *core)
{
	const struct cache *l2 = &core->l2;

	core->paths.page = outer_page;
	core->llc_of_16 =
		cache_has_shape(&core->uncore->llc, 16) && !is_sweeping(core, SWEEP_LLC);
	core->l2_lanes = 0;
	if (core->sets) {
		core->llc_of_16 = 0;
		core->paths.fetch = fetch_in_sets;
		return;
	}
	if (is_sweeping(core, SWEEP_L2)) {
		core->paths.fetch = fetch_swept;
		return;
	}
	core->paths.fetch = !l2->sets                 ? beyond_private
			    : cache_has_shape(l2, 8)  ? fetch_8
			    : cache_has_shape(l2, 16) ? fetch_16
						      : fetch_any;
	if (core->paths.fetch == fetch_8 || core->paths.fetch == fetch_16)
		core->l2_lanes = l2->lanes;
}

void outer_drop_page(struct cache *tlb, uint64_t key)
{
	struct cache_place p;
	int way;

	if (!tlb->sets)
		return;
	p = cache_place(tlb, key);
	way = cache_find(tlb, p);
	if (way >= 0)
		empty_way(tlb, p.row, way);
}
