/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level of a machine that is not plain (flex.h).
 */
#include "flex/flex.h"
#include "model/facts.h"

/* ---- translation ---- */

static void count_walk(struct core *core, enum access kind)
{
	static const unsigned char counter[] = {
		CP_SIM_itlb_walks, CP_SIM_dtlb_load_walks, CP_SIM_dtlb_store_walks};

	core->count[counter[kind]]++;
}

/* Returns whether the page of the unit was there; it is now. */
static int look_up_page(struct flex_cache *tlb, uint64_t unit)
{
	struct flex_place p = flex_find(tlb, unit);

	if (p.way >= 0) {
		flex_touch(tlb, &p);
		return 1;
	}
	if (tlb->sets) {
		flex_make_room(tlb, &p);
		flex_put(tlb, &p, 0);
	}
	return 0;
}

/* The same in the first level, where p is the page's place; the front may keep what is
 * in a page that is there for the second time. */
static int look_up_first(
	struct flex_cache *tlb, struct flex_place *p, uint64_t unit, uint32_t flags)
{
	if (p->way >= 0) {
		flex_touch(tlb, p);
		flex_filter_page(tlb, p, unit);
		return 1;
	}
	if (flex_make_room(tlb, p))
		flex_each_part(tlb, p, tlb->code ? front_lost_code : front_lost_data);
	flex_put(tlb, p, flags);
	return 0;
}

static struct flex_cache *second_tlb(struct flex_core *f, enum access kind)
{
	struct flex_cache *own = kind == IFETCH ? &f->itlb2 : &f->dtlb2;

	return own->sets ? own : &f->stlb;
}

/* An array with huge pages, and what stands there for the unit. */
struct huge_place {
	struct flex_cache *tlb;
	uint64_t unit;
};

static struct huge_place huge_place(
	struct flex_cache *own, struct flex_cache *common, uint64_t unit)
{
	if (own->sets || own->g.absent)
		return (struct huge_place){own, unit};
	return (struct huge_place){
		common, huge_key(unit >> common->shift, 0) << common->shift};
}

static struct huge_place huge_first(struct flex_core *f, uint64_t unit, int code)
{
	return code ? huge_place(&f->itlb_2m, &f->itlb, unit)
		    : huge_place(&f->dtlb_2m, &f->dtlb, unit);
}

static struct huge_place huge_second(struct flex_core *f, uint64_t unit, int code)
{
	if (f->itlb2.sets && code)
		return huge_place(&f->itlb2_2m, &f->itlb2, unit);
	if (f->dtlb2.sets && !code)
		return huge_place(&f->dtlb2_2m, &f->dtlb2, unit);
	return huge_place(&f->stlb_2m, &f->stlb, unit);
}

static void count_miss(struct core *core, enum access kind)
{
	static const unsigned char counter[] = {
		CP_SIM_itlb_misses, CP_SIM_dtlb_load_pages, CP_SIM_dtlb_store_pages};

	core->count[counter[kind]]++;
}

static uint64_t full_of(uint64_t unit)
{
	return far_lines_lengthen(&front->far_lines, unit);
}

/* Returns whether it was in the first level; -1: the page is huge no more. */
static __attribute__((noinline)) int translate_huge(
	struct core *core, uint64_t unit, enum access kind)
{
	struct flex_core *f = core->flex;
	uint64_t full = full_of(unit);
	struct huge_place first = huge_first(f, unit, kind == IFETCH), second;
	struct flex_place p = flex_find(first.tlb, first.unit);

	if (p.way < 0 && !huge_is_still(full >> core->area_shift,
				 full << core->line_shift, kind != STORE))
		return -1;
	if (look_up_first(first.tlb, &p, unit,
		    first.tlb->shift == f->page_shift ? FLEX_HUGE : 0))
		return 1;
	count_miss(core, kind);
	second = huge_second(f, unit, kind == IFETCH);
	if (!look_up_page(second.tlb, second.unit))
		count_walk(core, kind);
	return 0;
}

static int is_small(const struct core *core, uint64_t unit, enum access kind)
{
	uint64_t full;

	if (!core->area_shift)
		return 1;
	full = full_of(unit);
	return huge_is_small(
		full >> core->area_shift, full << core->line_shift, kind != STORE);
}

static int translate_missing(struct core *core, uint64_t unit, enum access kind);

/* Returns whether it was in the first level. */
LANES_INLINE int translate_page(struct core *core, uint64_t unit, enum access kind)
{
	struct flex_core *f = core->flex;
	struct flex_cache *tlb = kind == IFETCH ? &f->itlb : &f->dtlb;
	struct flex_place p = flex_find_page(tlb, unit);

	if (__builtin_expect(p.way < 0, 0))
		return translate_missing(core, unit, kind);
	flex_touch(tlb, &p);
	flex_filter_page(tlb, &p, unit);
	return 1;
}

/* The TLB has not the page as a small one. */
static __attribute__((noinline)) int translate_missing(
	struct core *core, uint64_t unit, enum access kind)
{
	struct flex_core *f = core->flex;
	struct flex_cache *tlb = kind == IFETCH ? &f->itlb : &f->dtlb;
	struct flex_place p = flex_place_of(tlb, unit);

	if (__builtin_expect(!is_small(core, unit, kind), 0)) {
		int was_there = translate_huge(core, unit, kind);

		return was_there < 0 ? translate_page(core, unit, kind) : was_there;
	}
	look_up_first(tlb, &p, unit, 0);
	count_miss(core, kind);
	if (!look_up_page(second_tlb(f, kind), unit))
		count_walk(core, kind);
	return 0;
}

void flex_translate(struct core *core, uint64_t unit, enum access kind)
{
	translate_page(core, unit, kind);
}

static uint64_t first_unit(struct core *core, uint64_t area)
{
	return far_lines_shorten(&front->far_lines, area << core->area_shift);
}

void flex_drop_small(struct core *core, uint64_t area)
{
	struct flex_core *f = core->flex;
	uint64_t unit = first_unit(core, area), page = 1ull << f->page_shift;

	for (uint64_t end = unit + (page << HUGE_PAGES_SHIFT); unit < end; unit += page) {
		flex_drop_page(&f->dtlb, unit, front_lost_data);
		flex_drop_page(&f->itlb, unit, front_lost_code);
		flex_drop_page(&f->stlb, unit, 0);
		flex_drop_page(&f->itlb2, unit, 0);
		flex_drop_page(&f->dtlb2, unit, 0);
	}
}

static void drop_huge(struct huge_place place,
	void (*lost)(struct core *core, uint64_t first, uint64_t count))
{
	flex_drop_page(place.tlb, place.unit, lost);
}

void flex_drop_huge(struct core *core, uint64_t area)
{
	struct flex_core *f = core->flex;
	uint64_t unit = first_unit(core, area);

	drop_huge(huge_first(f, unit, 0), front_lost_data);
	drop_huge(huge_first(f, unit, 1), front_lost_code);
	for (int code = 0; code < 2; code++)
		drop_huge(huge_second(f, unit, code), 0);
}

/* The page of the unit was used then. */
static void learn_page(
	struct core *core, struct flex_cache *tlb, uint64_t unit, uint64_t stamp)
{
	struct huge_place place;

	if (flex_learn(tlb, unit, stamp) || !huge.seen || !core->area_shift ||
		!huge_is_known(full_of(unit) >> core->area_shift))
		return;
	place = huge_first(core->flex, unit, tlb->code);
	flex_learn(place.tlb, place.unit, stamp);
}

/* ---- L1D ---- */

/* Which dirty bit a store to this unit sets. */
static uint32_t dirty_bit(const struct flex_cache *l1d, uint64_t unit)
{
	if (!l1d->g.halves)
		return FLEX_DIRTY;
	return unit >> (l1d->shift - 1) & 1 ? FLEX_DIRTY_UPPER : FLEX_DIRTY;
}

void flex_count_writeback(struct core *core, uint32_t flags)
{
	core->count[CP_SIM_l1d_writebacks]++;
	if (core->flex->l1d.g.halves)
		core->count[CP_SIM_l1d_half_writebacks] +=
			!!(flags & FLEX_DIRTY) + !!(flags & FLEX_DIRTY_UPPER);
}

void flex_lost_data(struct core *core, const struct flex_place *p)
{
	struct flex_cache *l1d = &core->flex->l1d;

	if (l1d->slots)
		front_lost_slot(front->data, *flex_slot(l1d, p), core->flex->bit);
	else if (*flex_flags(l1d, p) & FLEX_FILTERED)
		front_lost_data(core, flex_unit(l1d, p), l1d->units);
}

void flex_lost_code(struct core *core, const struct flex_place *p)
{
	struct flex_cache *l1i = &core->flex->l1i;

	if (l1i->slots)
		front_lost_slot(front->code, *flex_slot(l1i, p), core->flex->bit);
	else if (*flex_flags(l1i, p) & FLEX_FILTERED)
		front_lost_code(core, flex_unit(l1i, p), l1i->units);
}

static void fill_way(
	struct core *core, struct flex_cache *l1, struct flex_place *p, uint32_t flags)
{
	if (flex_make_room(l1, p)) {
		uint32_t old = *flex_flags(l1, p);
		uint64_t unit = flex_unit(l1, p);

		(l1 == &core->flex->l1d ? flex_lost_data : flex_lost_code)(core, p);
		flex_count_leaving(core, l1, p);
		if (old & FLEX_ANY_DIRTY)
			flex_count_writeback(core, old);
		flex_evicted(core, unit, old);
	}
	flex_put(l1, p, flags);
}

/* Modified lines out of an exclusive L2 are so as a whole. */
static uint32_t flags_fetched(const struct flex_cache *l1d, uint32_t flags)
{
	return l1d->g.halves && flags & FLEX_DIRTY ? flags | FLEX_DIRTY_UPPER : flags;
}

static void l1d_prefetch_line(struct core *core, uint64_t unit)
{
	struct flex_cache *l1d = &core->flex->l1d;
	struct flex_place p = flex_find(l1d, unit);
	uint32_t flags;

	if (p.way >= 0)
		return;
	core->flex->now++;
	core->count[CP_SIM_l1d_prefetches]++;
	core->count[CP_SIM_l1d_hardware_prefetches]++;
	core->count[CP_SIM_l1d_fills]++;
	flags = flags_fetched(l1d, flex_fetch(core, unit, PREFETCH));
	fill_way(core, l1d, &p, flags | FLEX_PREFETCHED | core->flex->from);
	flex_train_l2(core);
}

void flex_bring(struct core *core, uint64_t unit, int owned)
{
	struct flex_cache *l1d = &core->flex->l1d;
	struct flex_place p = flex_find(l1d, unit);
	uint8_t *flags;

	if (p.way >= 0) {
		flex_touch(l1d, &p);
	} else {
		core->count[CP_SIM_software_prefetch_lines]++;
		core->count[CP_SIM_l1d_prefetches]++;
		core->count[CP_SIM_l1d_fills]++;
		fill_way(core, l1d, &p,
			flags_fetched(l1d, flex_fetch(core, unit, PREFETCH)));
	}
	flags = flex_flags(l1d, &p);
	if (owned && !(*flags & FLEX_OWNED)) {
		flex_own(core, unit);
		*flags |= FLEX_OWNED;
	}
	flex_train_l2(core);
}

static void l1d_train(struct core *core, uint64_t unit, enum access kind)
{
	struct flex_core *f = core->flex;

	if (flex_prefetches(&f->l1d))
		flex_prefetch(
			core, f->l1d_prefetchers, &f->l1d, unit, kind, l1d_prefetch_line);
}

/* A store to a line that is in L1D. */
static void modify_line(struct core *core, uint64_t unit, const struct flex_place *p)
{
	struct flex_cache *l1d = &core->flex->l1d;
	uint8_t *flags = flex_flags(l1d, p);

	if (!(*flags & FLEX_OWNED)) {
		flex_own(core, unit);
		*flags |= FLEX_OWNED;
	}
	if (l1d->g.write_through) {
		core->count[CP_SIM_l1d_writes_through]++;
		flex_write(core, unit);
	} else {
		*flags |= (uint8_t)dirty_bit(l1d, unit);
	}
}

static void note_hit(
	struct core *core, uint64_t unit, const struct flex_place *p, enum access kind)
{
	struct flex_cache *l1d = &core->flex->l1d;
	int first = flex_is_first_use(core, l1d, p);

	if (first)
		flex_hide(core, unit, kind, 1);
	flex_touch(l1d, p);
	if (kind == STORE)
		modify_line(core, unit, p);
	if (first)
		l1d_train(core, unit, kind);
}

static void serve_miss(
	struct core *core, uint64_t unit, struct flex_place *p, enum access kind)
{
	struct flex_cache *l1d = &core->flex->l1d;
	int store = kind == STORE;

	core->count[CP_SIM_l1d_load_lines + store]++;
	if (store && l1d->g.no_allocate) {
		flex_home(core, unit);
		flex_own(core, unit);
		core->count[CP_SIM_l1d_writes_through]++;
		flex_write(core, unit);
		return;
	}
	core->count[CP_SIM_l1d_fills]++;
	fill_way(core, l1d, p, flags_fetched(l1d, flex_fetch(core, unit, kind)));
	if (store)
		modify_line(core, unit, p);
	flex_train_l2(core);
	l1d_train(core, unit, kind);
}

/* The references to the line at p that the front may keep to itself, if it is there. */
static uint32_t filter_unit(struct core *core, uint64_t unit, const struct flex_place *p)
{
	struct flex_cache *l1d = &core->flex->l1d;
	uint32_t writable = FLEX_OWNED | dirty_bit(l1d, unit);
	uint8_t *flags;

	if (p->way < 0 || flex_tags(p)[p->way] != p->tag)
		return 0;
	flags = flex_flags(l1d, p);
	*flags |= FLEX_FILTERED;
	if (l1d->slots)
		*flex_slot(l1d, p) = (uint16_t)((unit & (DATA_FILTER - 1)) + 1);
	if (l1d->g.write_through)
		return FLEX_READABLE | (*flags & FLEX_OWNED ? FLEX_PASSED_ON : 0);
	return FLEX_READABLE | ((*flags & writable) == writable ? FLEX_WRITABLE : 0);
}

/* Only after misses, which mostly come together. */
void flex_expect_data(struct core *core, uint64_t unit)
{
	if (!(core->flex->l1d_misses & 15))
		return;
	flex_expect(&core->flex->cluster->l2, unit);
	if (core->flex->l2_misses & 3)
		flex_expect(&core->flex->cluster->group->llc, unit);
}

uint32_t flex_data(struct core *core, uint64_t unit, enum access kind, uint64_t now)
{
	struct flex_place p;
	int settled;

	core->flex->now = now;
	settled = translate_page(core, unit, kind);
	p = flex_find(&core->flex->l1d, unit);
	core->flex->l1d_misses = core->flex->l1d_misses << 1 | (p.way < 0);
	if (p.way >= 0)
		note_hit(core, unit, &p, kind);
	else
		serve_miss(core, unit, &p, kind);
	return settled ? filter_unit(core, unit, &p) : 0;
}

void flex_pass_on(struct core *core, uint64_t unit)
{
	core->count[CP_SIM_l1d_writes_through]++;
	flex_write(core, unit);
}

void flex_bypass(struct core *core, uint64_t unit, uint64_t now)
{
	core->flex->now = now;
	translate_page(core, unit, LOAD);
	core->count[CP_SIM_l1d_bypasses]++;
	flex_fetch(core, unit, LOAD);
	flex_train_l2(core);
}

void flex_learn_data(struct core *core, uint64_t unit, uint64_t stamp)
{
	flex_learn(&core->flex->l1d, unit, stamp);
	if (stamp)
		learn_page(core, &core->flex->dtlb, unit, stamp);
}

/* ---- L1I ---- */

static void l1i_prefetch_line(struct core *core, uint64_t unit)
{
	struct flex_cache *l1i = &core->flex->l1i;
	struct flex_place p = flex_find(l1i, unit);

	if (p.way >= 0)
		return;
	core->flex->now++;
	core->count[CP_SIM_l1i_prefetches]++;
	flex_fetch(core, unit, PREFETCH);
	fill_way(core, l1i, &p, FLEX_PREFETCHED | core->flex->from);
	flex_train_l2(core);
}

static void l1i_train(struct core *core, uint64_t unit)
{
	struct flex_core *f = core->flex;

	if (flex_prefetches(&f->l1i))
		flex_prefetch(core, f->l1i_prefetchers, &f->l1i, unit, IFETCH,
			l1i_prefetch_line);
}

/* A line that L2's prefetcher brought may have taken it away. */
static int keep_code(
	struct core *core, uint64_t unit, const struct flex_place *p, int may_keep)
{
	struct flex_cache *l1i = &core->flex->l1i;

	if (flex_tags(p)[p->way] != p->tag)
		return 0;
	*flex_flags(l1i, p) |= FLEX_FILTERED;
	if (l1i->slots && may_keep)
		*flex_slot(l1i, p) = (uint16_t)((unit & (CODE_FILTER - 1)) + 1);
	return may_keep;
}

/* Returns whether the line is there, and one for the front, if it may keep it. */
static int fetch_code(struct core *core, uint64_t unit, int may_keep)
{
	struct flex_cache *l1i = &core->flex->l1i;
	struct flex_place p = flex_find(l1i, unit);
	int first;

	if (p.way < 0) {
		core->count[CP_SIM_l1i_misses]++;
		flex_fetch(core, unit, IFETCH);
		fill_way(core, l1i, &p, 0);
		flex_train_l2(core);
		l1i_train(core, unit);
		return keep_code(core, unit, &p, may_keep);
	}
	first = flex_is_first_use(core, l1i, &p);
	*flex_flags(l1i, &p) &= FLEX_FILTERED;
	flex_touch(l1i, &p);
	if (first) {
		flex_hide(core, unit, IFETCH, 1);
		l1i_train(core, unit);
		return 0;
	}
	return keep_code(core, unit, &p, may_keep);
}

/* Larger lines of L1I are told apart here; and what its prefetcher brings is newer than
 * a line that is still being executed. */
int flex_is_code_aware(const struct core *core)
{
	return core->flex->l1i.shift || flex_prefetches(&core->flex->l1i);
}

uint32_t flex_code(struct core *core, uint64_t unit, uint64_t now)
{
	struct flex_core *f = core->flex;
	int settled, aware = flex_is_code_aware(core);

	if (aware && unit >> f->l1i.shift == f->last_code)
		return 0;
	f->last_code = unit >> f->l1i.shift;
	f->now = now;
	core->count[CP_SIM_l1i_accesses] += (uint64_t)aware;
	settled = translate_page(core, unit, IFETCH);
	return fetch_code(core, unit, settled && !aware) ? FLEX_READABLE : 0;
}

void flex_learn_code(struct core *core, uint64_t unit, uint64_t stamp)
{
	flex_learn(&core->flex->l1i, unit, stamp);
	if (stamp)
		learn_page(core, &core->flex->itlb, unit, stamp);
}
