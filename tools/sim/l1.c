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

#define SLOT(set, way) ((uint32_t)(set) << 7 | (uint32_t)(way))

/* Pages that come and go would only cost the filter's upkeep: a page's lines
 * are filtered when it has been found in the DTLB more often than this. */
#define USES_TO_FILTER 2

struct page_use {
	uint32_t slot;
	int settled;
};

struct slot {
	uint32_t *stamp;
	uint64_t *mask;
};

LANES_INLINE struct slot slot_at(const struct cache *tlb, uint32_t slot)
{
	uint8_t *row = cache_row(tlb, slot >> 7);
	uint32_t way = slot & 127;

	return (struct slot){&row_stamps(tlb, row)[way], &row_masks(tlb, row)[way]};
}

LANES_INLINE uint64_t mask_bit(const struct core *core, uint64_t line)
{
	return 1ull << ((line & core->page_mask) >> core->group_shift);
}

/* The page was used at least as late as this line of it, which leaves a filter. */
LANES_INLINE void page_inherit(
	const struct core *core, struct slot page, uint64_t line, uint32_t stamp)
{
	if (*page.stamp < stamp)
		*page.stamp = stamp;
	if (!core->group_shift)
		*page.mask &= ~mask_bit(core, line);
}

void filter_forget_data(struct core *core, uint32_t index)
{
	struct slot page = slot_at(&core->dtlb, core->page_slot[index]);

	page_inherit(core, page, core->read_line[index], *core->stamp_at[index]);
	core->read_line[index] = core->write_line[index] = NO_LINE;
}

static void filter_forget_code(struct core *core, uint32_t index)
{
	uint32_t slot = core->code_slot[index], stamp = core->code_stamp[index];
	struct slot page = slot_at(&core->itlb, core->code_page_slot[index]);

	row_stamps(&core->l1i, cache_row(&core->l1i, slot >> 7))[slot & 127] = stamp;
	page_inherit(core, page, core->code_line[index], stamp);
	core->code_line[index] = NO_LINE;
}

/* Leaves every stamp exact. */
void filter_forget_all(struct core *core)
{
	for (uint32_t i = 0; i < DATA_FILTER; i++)
		if (core->read_line[i] != NO_LINE)
			filter_forget_data(core, i);
	for (uint32_t i = 0; i < CODE_FILTER; i++)
		if (core->code_line[i] != NO_LINE)
			filter_forget_code(core, i);
}

/* Do for each filtered line of a page: `visit` is inlined. */
LANES_INLINE uint32_t page_lines(struct core *core, uint64_t page, uint64_t mask,
	uint32_t bound, uint32_t (*visit)(struct core *, uint64_t, uint32_t))
{
	uint64_t first = page << core->page_shift;
	uint32_t result = bound;

	for (; mask && result == bound; mask &= mask - 1) {
		uint64_t line =
			first + ((uint64_t)__builtin_ctzll(mask) << core->group_shift);
		uint64_t end = line + (1ull << core->group_shift);

		for (; line < end && result == bound; line++)
			result = visit(core, line, bound);
	}
	return result;
}

LANES_INLINE uint32_t data_newer(struct core *core, uint64_t line, uint32_t bound)
{
	uint32_t index = line & (DATA_FILTER - 1);

	if (core->read_line[index] != line || *core->stamp_at[index] <= bound)
		return bound;
	return *core->stamp_at[index];
}

LANES_INLINE uint32_t data_drop(struct core *core, uint64_t line, uint32_t bound)
{
	uint32_t index = line & (DATA_FILTER - 1);

	if (core->read_line[index] == line)
		core->read_line[index] = core->write_line[index] = NO_LINE;
	return bound;
}

LANES_INLINE uint32_t code_newer(struct core *core, uint64_t line, uint32_t bound)
{
	uint32_t index = line & (CODE_FILTER - 1);

	if (core->code_line[index] != line || core->code_stamp[index] <= bound)
		return bound;
	return core->code_stamp[index];
}

LANES_INLINE uint32_t code_drop(struct core *core, uint64_t line, uint32_t bound)
{
	uint32_t index = line & (CODE_FILTER - 1);

	if (core->code_line[index] == line)
		filter_forget_code(core, index);
	return bound;
}

/* The way whose page was used longest ago, with no line left in the filter. */
LANES_INLINE unsigned tlb_victim(struct core *core, struct cache *tlb,
	struct cache_place p, uint32_t (*newer)(struct core *, uint64_t, uint32_t),
	uint32_t (*drop)(struct core *, uint64_t, uint32_t))
{
	uint32_t *stamps = row_stamps(tlb, p.row), stamp;
	uint64_t *masks = row_masks(tlb, p.row), page;
	unsigned way;

	for (;;) {
		way = cache_victim(tlb, p.row);
		if (!masks[way])
			return way;
		page = cache_key(tlb, p.set, row_tags(p.row)[way]);
		stamp = page_lines(core, page, masks[way], stamps[way], newer);
		if (stamp == stamps[way])
			break;
		stamps[way] = stamp;
	}
	page_lines(core, page, masks[way], 0, drop);
	return way;
}

static void tlb_fill(
	struct cache *tlb, struct cache_place p, unsigned way, uint32_t stamp)
{
	row_tags(p.row)[way] = p.tag;
	row_stamps(tlb, p.row)[way] = stamp;
	row_masks(tlb, p.row)[way] = 0;
	row_uses(tlb, p.row)[way] = 0;
}

static __attribute__((noinline)) unsigned dtlb_miss(struct core *core, uint64_t page,
	struct cache_place p, enum access kind, uint32_t stamp)
{
	unsigned way;

	core->count[CP_SIM_dtlb_load_misses + (kind == STORE)]++;
	outer_page(core, page, kind);
	way = tlb_victim(core, &core->dtlb, p, data_newer, data_drop);
	tlb_fill(&core->dtlb, p, way, stamp);
	return way;
}

static __attribute__((noinline)) unsigned itlb_miss(
	struct core *core, uint64_t page, struct cache_place p, uint32_t stamp)
{
	unsigned way;

	core->count[CP_SIM_itlb_misses]++;
	outer_page(core, page, IFETCH);
	way = tlb_victim(core, &core->itlb, p, code_newer, code_drop);
	tlb_fill(&core->itlb, p, way, stamp);
	return way;
}

/* The line that a way of the L1D holds is going away. */
static void l1d_evict(struct core *core, struct cache_place p, unsigned way)
{
	uint32_t tag = row_tags(p.row)[way], index;
	uint64_t old;

	if (!tag)
		return;
	old = cache_key(&core->l1d, p.set, tag);
	index = old & (DATA_FILTER - 1);
	if (core->read_line[index] == old)
		filter_forget_data(core, index);
	if (core->stamp_at[index] == &row_stamps(&core->l1d, p.row)[way])
		core->stamp_at[index] = &core->nowhere;
	if (row_flags(&core->l1d, p.row)[way] & L1_DIRTY) {
		core->count[CP_SIM_l1d_writebacks]++;
		outer_write_back(core, old);
	}
}

static __attribute__((noinline)) unsigned l1d_miss(
	struct core *core, uint64_t line, struct cache_place p, enum access kind)
{
	int owned;
	unsigned way;

	core->count[CP_SIM_l1d_load_misses + (kind == STORE)]++;
	owned = outer_fetch(core, line, kind);
	way = cache_victim(&core->l1d, p.row);
	l1d_evict(core, p, way);
	row_tags(p.row)[way] = p.tag;
	row_flags(&core->l1d, p.row)[way] = owned ? L1_OWNED : 0;
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
	struct core *core, uint64_t line, uint32_t index)
{
	struct cache_place p = cache_place(&core->l1d, line);
	uint32_t way = core->stamp_at[index] - row_stamps(&core->l1d, p.row);

	l1d_dirty(core, line, &row_flags(&core->l1d, p.row)[way]);
	core->write_line[index] = line;
}

LANES_INLINE void filter_data(struct core *core, uint64_t line, uint32_t slot, int dirty)
{
	uint32_t index = line & (DATA_FILTER - 1);

	core->read_line[index] = line;
	core->write_line[index] = dirty ? line : NO_LINE;
	core->page_slot[index] = slot;
	*slot_at(&core->dtlb, slot).mask |= mask_bit(core, line);
}

/* Looks the page up and makes it the newest of its set. */
LANES_INLINE struct page_use dtlb_touch(
	struct core *core, uint64_t page, enum access kind, uint32_t stamp)
{
	struct cache *c = &core->dtlb;
	struct cache_place p = cache_place(c, page);
	int way = cache_find(c, p);
	uint8_t *uses;

	if (way < 0)
		return (struct page_use){SLOT(p.set, dtlb_miss(core, page, p, kind, stamp)), 0};
	row_stamps(c, p.row)[way] = stamp;
	uses = &row_uses(c, p.row)[way];
	if (*uses >= USES_TO_FILTER)
		return (struct page_use){SLOT(p.set, way), 1};
	++*uses;
	return (struct page_use){SLOT(p.set, way), 0};
}

/* Has the host fetch what a miss would need. */
LANES_INLINE void prefetch_outer(struct core *core, uint64_t line)
{
	if (core->l2.sets)
		cache_prefetch(&core->l2, line);
	if (core->miss_history & 3 && core->uncore->llc.sets)
		cache_prefetch(&core->uncore->llc, line);
}

/* One reference to one line, for which the filter did not vouch. */
void data_touch(struct core *core, uint64_t line, enum access kind, uint32_t stamp)
{
	uint32_t index = line & (DATA_FILTER - 1);
	struct cache_place p;
	struct page_use page;
	uint8_t *flags;
	int way;

	if (core->read_line[index] == line) {
		*core->stamp_at[index] = stamp;
		if (kind == STORE && core->write_line[index] != line)
			first_store(core, line, index);
		return;
	}
	prefetch_outer(core, line);
	page = dtlb_touch(core, line >> core->page_shift, kind, stamp);
	p = cache_place(&core->l1d, line);
	way = cache_find(&core->l1d, p);
	if (way < 0)
		way = (int)l1d_miss(core, line, p, kind);
	if (core->read_line[index] != NO_LINE)
		filter_forget_data(core, index);
	core->stamp_at[index] = &row_stamps(&core->l1d, p.row)[way];
	*core->stamp_at[index] = stamp;
	flags = &row_flags(&core->l1d, p.row)[way];
	if (kind == STORE && !(*flags & L1_DIRTY))
		l1d_dirty(core, line, flags);
	if (page.settled)
		filter_data(core, line, page.slot, *flags & L1_DIRTY);
}

/* The same for any reference; the lines it touches have successive stamps. */
void data_access(
	struct core *core, uint64_t addr, uint32_t size, enum access kind, uint32_t stamp)
{
	uint64_t line = addr >> core->line_shift;
	uint64_t last = (addr + size - 1) >> core->line_shift;

	for (; line <= last; line++, stamp++)
		data_touch(core, line, kind, stamp);
}

/* As for the TLBs: the way whose line was used longest ago, unfiltered. */
static unsigned l1i_victim(struct core *core, struct cache_place p)
{
	struct cache *c = &core->l1i;
	uint32_t *stamps = row_stamps(c, p.row), tag, index;
	uint64_t line;
	unsigned way;

	for (;;) {
		way = cache_victim(c, p.row);
		tag = row_tags(p.row)[way];
		line = cache_key(c, p.set, tag);
		index = line & (CODE_FILTER - 1);
		if (!tag || core->code_line[index] != line)
			return way;
		if (core->code_stamp[index] == stamps[way])
			break;
		stamps[way] = core->code_stamp[index];
	}
	filter_forget_code(core, index);
	return way;
}

static unsigned l1i_miss(
	struct core *core, uint64_t line, struct cache_place p, uint32_t stamp)
{
	unsigned way;

	core->count[CP_SIM_l1i_misses]++;
	outer_fetch(core, line, IFETCH);
	way = l1i_victim(core, p);
	row_tags(p.row)[way] = p.tag;
	row_stamps(&core->l1i, p.row)[way] = stamp;
	return way;
}

/* One fetch from a line for which the filter did not vouch. */
void code_touch(struct core *core, uint64_t line, uint32_t stamp)
{
	uint32_t index = line & (CODE_FILTER - 1), slot;
	uint64_t page = line >> core->page_shift;
	struct cache_place p, t;
	int way, page_way;

	if (core->code_line[index] == line) {
		core->code_stamp[index] = stamp;
		return;
	}
	t = cache_place(&core->itlb, page);
	page_way = cache_find(&core->itlb, t);
	if (page_way < 0)
		page_way = (int)itlb_miss(core, page, t, stamp);
	p = cache_place(&core->l1i, line);
	way = cache_find(&core->l1i, p);
	if (way < 0)
		way = (int)l1i_miss(core, line, p, stamp);
	if (core->code_line[index] != NO_LINE)
		filter_forget_code(core, index);
	slot = SLOT(t.set, page_way);
	core->code_line[index] = line;
	core->code_page_slot[index] = slot;
	core->code_slot[index] = SLOT(p.set, way);
	core->code_stamp[index] = stamp;
	*slot_at(&core->itlb, slot).mask |= mask_bit(core, line);
}
