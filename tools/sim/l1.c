/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level: L1D, L1I, their TLBs, and the filters that let generated
 * code do most hits by itself.
 *
 * A hit that a filter admits only writes a stamp: the L1D's own for data, one
 * in the filter for code.  Everything else that the hit should have made newer
 * (the TLB entry; the L1I line) has a stamp that is a lower bound, and is made
 * exact when a victim is chosen: the candidate that looks oldest is compared
 * with its filtered lines, until one is known to be the oldest.  Hence no
 * decision ever differs from that of a model without filters.
 */
#include "model.h"

enum { L1_DIRTY = 1, L1_OWNED = 2 };

/* Where a way is: the offset of its stamp in the rows, and in the high half,
 * for TLBs, of its mask.  Found once, followed often. */
LANES_INLINE uint64_t slot_of(const struct cache *c, uint8_t *row, unsigned way)
{
	uint64_t stamp = (uint64_t)(row - c->rows) + 4 * (c->lanes + way);

	return stamp | (stamp + 4 * (c->lanes + way)) << 32;
}

/* Pages that come and go would only cost the filter's upkeep: a page's lines
 * are filtered when it has been found in the DTLB more often than this. */
#define USES_TO_FILTER 1

struct page_use {
	uint64_t slot;
	int settled;
};

LANES_INLINE uint32_t *slot_stamp(const struct cache *c, uint64_t slot)
{
	return (uint32_t *)(c->rows + (uint32_t)slot);
}

LANES_INLINE uint64_t *slot_mask(const struct cache *c, uint64_t slot)
{
	return (uint64_t *)(c->rows + (slot >> 32));
}

LANES_INLINE uint64_t mask_bit(const struct core *core, uint64_t line)
{
	return 1ull << ((line & core->page_mask) >> core->group_shift);
}

/* The page was used at least as late as this line of it, which leaves a filter. */
LANES_INLINE void page_inherit(const struct core *core, const struct cache *tlb,
	uint64_t slot, uint64_t line, uint32_t stamp)
{
	uint32_t *page_stamp = slot_stamp(tlb, slot);

	if (*page_stamp < stamp)
		*page_stamp = stamp;
	if (!core->group_shift)
		*slot_mask(tlb, slot) &= ~mask_bit(core, line);
}

void filter_forget_data(struct core *core, uint32_t index)
{
	struct data_entry *e = &core->data[index];

	page_inherit(core, &core->dtlb, e->page_slot, e->read, *e->stamp_at);
	e->read = e->write = NO_LINE;
}

static void filter_forget_code(struct core *core, uint32_t index)
{
	struct code_entry *e = &core->code[index];

	*slot_stamp(&core->l1i, e->slot) = e->stamp;
	page_inherit(core, &core->itlb, e->page_slot, e->line, e->stamp);
	e->line = NO_LINE;
}

/* Leaves every stamp exact. */
void filter_forget_all(struct core *core)
{
	for (uint32_t i = 0; i < DATA_FILTER; i++)
		if (core->data[i].read != NO_LINE)
			filter_forget_data(core, i);
	for (uint32_t i = 0; i < CODE_FILTER; i++)
		if (core->code[i].line != NO_LINE)
			filter_forget_code(core, i);
}

/* Do for each filtered line of a page: `visit` is inlined. */
LANES_INLINE uint32_t page_lines(struct core *core, uint64_t page, uint64_t slot,
	uint64_t mask, uint32_t bound,
	uint32_t (*visit)(struct core *, uint64_t, uint64_t, uint32_t))
{
	uint64_t first = page << core->page_shift;
	uint32_t result = bound;

	for (; mask && result == bound; mask &= mask - 1) {
		uint64_t line =
			first + ((uint64_t)__builtin_ctzll(mask) << core->group_shift);
		uint64_t end = line + (1ull << core->group_shift);

		for (; line < end && result == bound; line++)
			result = visit(core, line, slot, bound);
	}
	return result;
}

LANES_INLINE uint32_t data_newer(
	struct core *core, uint64_t line, uint64_t slot, uint32_t bound)
{
	struct data_entry *e = &core->data[line & (DATA_FILTER - 1)];

	if (e->read == NO_LINE || e->page_slot != slot || *e->stamp_at <= bound)
		return bound;
	return *e->stamp_at;
}

LANES_INLINE uint32_t data_drop(
	struct core *core, uint64_t line, uint64_t slot, uint32_t bound)
{
	struct data_entry *e = &core->data[line & (DATA_FILTER - 1)];

	if (e->page_slot == slot)
		e->read = e->write = NO_LINE;
	return bound;
}

LANES_INLINE uint32_t code_newer(
	struct core *core, uint64_t line, uint64_t slot, uint32_t bound)
{
	struct code_entry *e = &core->code[line & (CODE_FILTER - 1)];

	if (e->line == NO_LINE || e->page_slot != slot || e->stamp <= bound)
		return bound;
	return e->stamp;
}

LANES_INLINE uint32_t code_drop(
	struct core *core, uint64_t line, uint64_t slot, uint32_t bound)
{
	struct code_entry *e = &core->code[line & (CODE_FILTER - 1)];

	if (e->line != NO_LINE && e->page_slot == slot)
		filter_forget_code(core, line & (CODE_FILTER - 1));
	return bound;
}

/* The way whose page was used longest ago, with no line left in the filter. */
LANES_INLINE unsigned tlb_victim(struct core *core, const struct cache *tlb,
	struct cache_place p,
	uint32_t (*newer)(struct core *, uint64_t, uint64_t, uint32_t),
	uint32_t (*drop)(struct core *, uint64_t, uint64_t, uint32_t))
{
	uint32_t *stamps = row_stamps(tlb, p.row), stamp;
	uint64_t *masks = row_masks(tlb, p.row), page, slot;
	unsigned way;

	for (;;) {
		way = cache_victim(tlb, p.row);
		if (!masks[way])
			return way;
		page = cache_key(tlb, p.set, row_tags(p.row)[way]);
		slot = slot_of(tlb, p.row, way);
		stamp = page_lines(core, page, slot, masks[way], stamps[way], newer);
		if (stamp == stamps[way])
			break;
		stamps[way] = stamp;
	}
	page_lines(core, page, slot, masks[way], 0, drop);
	return way;
}

LANES_INLINE void tlb_fill(
	struct cache *tlb, struct cache_place p, unsigned way, uint32_t stamp)
{
	row_tags(p.row)[way] = p.tag;
	row_stamps(tlb, p.row)[way] = stamp;
	row_masks(tlb, p.row)[way] = 0;
	row_uses(tlb, p.row)[way] = 0;
}

LANES_INLINE void dtlb_miss(struct core *core, struct cache *dtlb, uint64_t page,
	struct cache_place p, enum access kind, uint32_t stamp)
{
	unsigned way;

	core->count[CP_SIM_dtlb_load_misses + (kind == STORE)]++;
	outer_page(core, page, kind);
	way = tlb_victim(core, dtlb, p, data_newer, data_drop);
	tlb_fill(dtlb, p, way, stamp);
}

LANES_INLINE unsigned itlb_miss(struct core *core, struct cache *itlb, uint64_t page,
	struct cache_place p, uint32_t stamp)
{
	unsigned way;

	core->count[CP_SIM_itlb_misses]++;
	outer_page(core, page, IFETCH);
	way = tlb_victim(core, itlb, p, code_newer, code_drop);
	tlb_fill(itlb, p, way, stamp);
	return way;
}

/* The line that a way of the L1D holds is going away; e is its filter's entry. */
LANES_INLINE void l1d_evict(struct core *core, uint32_t *stamp_at, uint8_t flags,
	uint64_t old, struct data_entry *e)
{
	if (e->stamp_at == stamp_at) {
		if (e->read != NO_LINE)
			filter_forget_data(core, old & (DATA_FILTER - 1));
		e->stamp_at = &core->nowhere;
	}
	if (flags & L1_DIRTY) {
		core->count[CP_SIM_l1d_writebacks]++;
		outer_write_back(core, old);
	}
}

/* Nobody else changes our L1D, so the victim is known before the line comes,
 * and the host may fetch what its eviction needs meanwhile. */
LANES_INLINE unsigned l1d_miss(struct core *core, struct cache *l1d, uint64_t line,
	struct cache_place p, enum access kind)
{
	unsigned way = cache_victim(l1d, p.row);
	uint32_t tag = row_tags(p.row)[way];
	uint8_t *flags = &row_flags(l1d, p.row)[way];
	uint64_t old = cache_key(l1d, p.set, tag);
	struct data_entry *e = &core->data[old & (DATA_FILTER - 1)];
	int owned;

	__builtin_prefetch(e);
	core->count[CP_SIM_l1d_load_misses + (kind == STORE)]++;
	owned = core->paths.fetch(core, line, kind);
	if (tag)
		l1d_evict(core, &row_stamps(l1d, p.row)[way], *flags, old, e);
	row_tags(p.row)[way] = p.tag;
	*flags = owned ? L1_OWNED : 0;
	return way;
}

static void l1d_dirty(struct core *core, uint64_t line, uint8_t *flags)
{
	if (!(*flags & L1_OWNED))
		outer_own(core, line);
	*flags = L1_DIRTY | L1_OWNED;
}

/* The first store to a line that loads have brought into the filter. */
static __attribute__((noinline)) void first_store(
	struct core *core, struct data_entry *e, uint64_t line)
{
	struct cache_place p = cache_place(&core->l1d, line);
	uint32_t way = e->stamp_at - row_stamps(&core->l1d, p.row);

	l1d_dirty(core, line, &row_flags(&core->l1d, p.row)[way]);
	e->write = e->read;
}

LANES_INLINE void filter_data(
	struct core *core, struct data_entry *e, uint64_t full, uint64_t slot, int dirty)
{
	e->read = full;
	e->write = dirty ? full : NO_LINE;
	e->page_slot = slot;
	*slot_mask(&core->dtlb, slot) |= mask_bit(core, full);
}

/* Has the host fetch what a miss would need, if there have been misses. */
LANES_INLINE void prefetch_outer(struct core *core, uint64_t line)
{
	if (core->l1d_misses & 15 && core->l2.sets)
		cache_prefetch(&core->l2, line);
	if (core->l2_misses & 3 && core->uncore->llc.sets)
		cache_prefetch(&core->uncore->llc, line);
}

/* Looks the page up and makes it the newest of its set. */
LANES_INLINE struct page_use dtlb_touch(struct core *core, struct cache *dtlb,
	uint64_t page, enum access kind, uint32_t stamp)
{
	struct cache_place p = cache_place(dtlb, page);
	int way = cache_find(dtlb, p);
	uint8_t *uses;

	if (way < 0) {
		dtlb_miss(core, dtlb, page, p, kind, stamp);
		return (struct page_use){0, 0};
	}
	row_stamps(dtlb, p.row)[way] = stamp;
	uses = &row_uses(dtlb, p.row)[way];
	if (*uses >= USES_TO_FILTER)
		return (struct page_use){slot_of(dtlb, p.row, way), 1};
	++*uses;
	return (struct page_use){0, 0};
}

/* Looks the line up, brings it if need be, and makes it the newest. */
LANES_INLINE uint8_t *l1d_touch(struct core *core, struct cache *l1d,
	struct data_entry *e, uint64_t line, enum access kind, uint32_t stamp)
{
	struct cache_place p = cache_place(l1d, line);
	int way = cache_find(l1d, p);

	core->l1d_misses = core->l1d_misses << 1 | (way < 0);
	if (way < 0)
		way = (int)l1d_miss(core, l1d, line, p, kind);
	if (e->read != NO_LINE)
		filter_forget_data(core, line & (DATA_FILTER - 1));
	e->stamp_at = &row_stamps(l1d, p.row)[way];
	*e->stamp_at = stamp;
	return &row_flags(l1d, p.row)[way];
}

/* One reference to one line, for which the filter did not vouch. */
LANES_INLINE void data_touch(struct core *core, uint64_t full, enum access kind,
	uint32_t stamp, uint32_t l1d_lanes, uint32_t dtlb_lanes)
{
	struct cache l1d = cache_shaped(&core->l1d, l1d_lanes, L1D_EXTRA);
	struct cache dtlb = cache_shaped(&core->dtlb, dtlb_lanes, TLB_EXTRA);
	struct data_entry *e = &core->data[full & (DATA_FILTER - 1)];
	uint64_t line = regions_shorten(&core->uncore->regions, full);
	struct page_use page;
	uint8_t *flags;

	if (e->read == full) {
		*e->stamp_at = stamp;
		if (kind == STORE && e->write != full)
			first_store(core, e, line);
		return;
	}
	prefetch_outer(core, line);
	page = dtlb_touch(core, &dtlb, line >> core->page_shift, kind, stamp);
	flags = l1d_touch(core, &l1d, e, line, kind, stamp);
	if (kind == STORE && !(*flags & L1_DIRTY))
		l1d_dirty(core, line, flags);
	if (page.settled)
		filter_data(core, e, full, page.slot, *flags & L1_DIRTY);
}

/* The same for any reference; the lines it touches have successive stamps. */
void data_access(
	struct core *core, uint64_t addr, uint32_t size, enum access kind, uint32_t stamp)
{
	uint64_t line = addr >> core->line_shift;
	uint64_t last = (addr + size - 1) >> core->line_shift;

	for (; line <= last; line++, stamp++)
		core->paths.data(core, line, kind, stamp);
}

/* As for the TLBs: the way whose line was used longest ago, unfiltered. */
LANES_INLINE unsigned l1i_victim(
	struct core *core, struct cache *l1i, struct cache_place p)
{
	uint32_t *stamps = row_stamps(l1i, p.row), tag, index;
	struct code_entry *e;
	unsigned way;

	for (;;) {
		way = cache_victim(l1i, p.row);
		tag = row_tags(p.row)[way];
		index = cache_key(l1i, p.set, tag) & (CODE_FILTER - 1);
		e = &core->code[index];
		if (!tag || e->line == NO_LINE ||
			e->slot != (uint32_t)slot_of(l1i, p.row, way))
			return way;
		if (e->stamp == stamps[way])
			break;
		stamps[way] = e->stamp;
	}
	filter_forget_code(core, index);
	return way;
}

LANES_INLINE unsigned l1i_miss(struct core *core, struct cache *l1i, uint64_t line,
	struct cache_place p, uint32_t stamp)
{
	unsigned way;

	core->count[CP_SIM_l1i_misses]++;
	core->paths.fetch(core, line, IFETCH);
	way = l1i_victim(core, l1i, p);
	row_tags(p.row)[way] = p.tag;
	row_stamps(l1i, p.row)[way] = stamp;
	return way;
}

/* One fetch from a line for which the filter did not vouch. */
LANES_INLINE void code_touch(struct core *core, uint64_t full, uint32_t stamp,
	uint32_t l1i_lanes, uint32_t itlb_lanes)
{
	struct cache l1i = cache_shaped(&core->l1i, l1i_lanes, 0);
	struct cache itlb = cache_shaped(&core->itlb, itlb_lanes, TLB_EXTRA);
	struct code_entry *e = &core->code[full & (CODE_FILTER - 1)];
	uint64_t line = regions_shorten(&core->uncore->regions, full);
	uint64_t page = line >> core->page_shift;
	struct cache_place p, t;
	int way, page_way;

	if (e->line == full) {
		e->stamp = stamp;
		return;
	}
	t = cache_place(&itlb, page);
	page_way = cache_find(&itlb, t);
	if (page_way < 0)
		page_way = (int)itlb_miss(core, &itlb, page, t, stamp);
	p = cache_place(&l1i, line);
	way = cache_find(&l1i, p);
	if (way < 0)
		way = (int)l1i_miss(core, &l1i, line, p, stamp);
	if (e->line != NO_LINE)
		filter_forget_code(core, line & (CODE_FILTER - 1));
	e->line = full;
	e->stamp = stamp;
	e->slot = (uint32_t)slot_of(&l1i, p.row, way);
	e->page_slot = slot_of(&itlb, t.row, page_way);
	*slot_mask(&itlb, e->page_slot) |= mask_bit(core, line);
}

/* The shapes that have paths of their own: (lanes of L1, lanes of TLB).  Lanes
 * are ways rounded up to four. */
#define SHAPES(X) X(4, 4) X(4, 8) X(8, 4) X(8, 8) X(8, 16) X(12, 4) X(12, 8) X(12, 16)
#define ALL_SHAPES(X) SHAPES(X) X(0, 0)

#define PATHS(l1, tlb)                                                                   \
	static void data_##l1##_##tlb(                                                   \
		struct core *core, uint64_t line, enum access kind, uint32_t stamp)      \
	{                                                                                \
		data_touch(core, line, kind, stamp, l1, tlb);                            \
	}                                                                                \
                                                                                         \
	static void code_##l1##_##tlb(struct core *core, uint64_t line, uint32_t stamp)  \
	{                                                                                \
		code_touch(core, line, stamp, l1, tlb);                                  \
	}
ALL_SHAPES(PATHS)

void l1_choose_paths(struct core *core)
{
	core->paths.data = data_0_0;
	core->paths.code = code_0_0;
#define X(l1, tlb)                                                                       \
	if (cache_has_shape(&core->l1d, l1) && cache_has_shape(&core->dtlb, tlb))        \
		core->paths.data = data_##l1##_##tlb;                                    \
	if (cache_has_shape(&core->l1i, l1) && cache_has_shape(&core->itlb, tlb))        \
		core->paths.code = code_##l1##_##tlb;
	SHAPES(X)
#undef X
}
