/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level: L1D, L1I, their TLBs, and the filters that let most hits do
 * without a search.
 *
 * A hit that a filter admits writes the stamps of the line and of its page, to
 * which the entry leads.  Hence no decision ever differs from that of a model
 * without filters; what leaves an L1 or a TLB leaves the filter too.
 */
#include "outer.h"
#include "follow.h"
#include "sweep.h"

/* Pages that come and go would only cost the filter's upkeep: a page's lines
 * are filtered when it has been found in the DTLB more often than this. */
#define USES_TO_FILTER 1

/* In place of the uses of a page, which are few: it is a huge one. */
#define HUGE_WAY 0x80

/* A way of a set. */
struct way {
	uint8_t *row;
	uint32_t set;
	unsigned n;
};

LANES_INLINE struct way way_of(struct cache_place p, unsigned n)
{
	return (struct way){p.row, p.set, n};
}

LANES_INLINE uint8_t *way_byte(const struct cache *c, struct way w)
{
	return &c->bytes[(uint64_t)w.set * c->lanes + w.n];
}

LANES_INLINE uint32_t stamp_offset(
	const struct core *core, const struct cache *c, struct way w)
{
	return (uint32_t)(w.row - (const uint8_t *)core) + 4 * (c->lanes + w.n);
}

LANES_INLINE uint64_t mask_bit(const struct core *core, uint64_t line)
{
	return 1ull << ((line & core->page_mask) >> core->group_shift);
}

LANES_INLINE void drop_lines(struct entry *filter, uint64_t first, uint64_t count,
	uint32_t size, uint32_t page)
{
	for (uint64_t line = first; line < first + count; line++) {
		struct entry *e = &filter[line & (size - 1)];

		if (e->at.page == page)
			e->line = NO_LINE;
	}
}

/* The same of a huge page: a bit of its mask stands for the filter's entries whose
 * lines have that place in their small pages. */
static __attribute__((noinline)) void drop_huge_lines(struct core *core, uint64_t mask,
	uint32_t page, struct entry *filter, uint32_t size)
{
	for (uint32_t place = 0; place <= core->page_mask; place++) {
		if (!(mask >> (place >> core->group_shift) & 1))
			continue;
		for (uint32_t i = place & (size - 1); i < size; i += core->page_mask + 1)
			if (filter[i].at.page == page)
				filter[i].line = NO_LINE;
	}
}

/* Drops the filtered lines of the page in a way of a TLB: bits of its mask. */
LANES_INLINE void drop_page(struct core *core, const struct cache *tlb, struct way w,
	struct entry *filter, uint32_t size)
{
	uint64_t mask = row_masks(tlb, w.row)[w.n], first;
	uint32_t page = stamp_offset(core, tlb, w);

	if (__builtin_expect(*way_byte(tlb, w) == HUGE_WAY, 0)) {
		drop_huge_lines(core, mask, page, filter, size);
		return;
	}
	first = cache_key(tlb, w.set, row_tags(w.row)[w.n]) << core->page_shift;
	for (; mask; mask &= mask - 1)
		drop_lines(filter,
			first + ((uint64_t)__builtin_ctzll(mask) << core->group_shift),
			1ull << core->group_shift, size, page);
}

/* Makes room in a TLB and puts the page there. */
LANES_INLINE struct way tlb_fill(struct core *core, struct cache *tlb,
	struct cache_place p, struct entry *filter, uint32_t size)
{
	struct way w = way_of(p, cache_victim(tlb, p.row));

	if (row_masks(tlb, p.row)[w.n])
		drop_page(core, tlb, w, filter, size);
	if (core->followers)
		follow_evicted(core, filter == core->code, p.set,
			row_tags(p.row)[w.n], *way_byte(tlb, w));
	row_tags(p.row)[w.n] = p.tag;
	row_masks(tlb, p.row)[w.n] = 0;
	*way_byte(tlb, w) = 0;
	return w;
}

LANES_INLINE struct way dtlb_miss(struct core *core, struct cache *dtlb, uint64_t page,
	struct cache_place p, enum access kind)
{
	core->count[CP_SIM_dtlb_load_misses + (kind == STORE)]++;
	outer_page(core, page, kind);
	return tlb_fill(core, dtlb, p, core->data, DATA_FILTER);
}

LANES_INLINE struct way itlb_miss(
	struct core *core, struct cache *itlb, uint64_t page, struct cache_place p)
{
	core->count[CP_SIM_itlb_misses]++;
	outer_page(core, page, IFETCH);
	return tlb_fill(core, itlb, p, core->code, CODE_FILTER);
}

/* A line leaves its L1.  Its entry may be another's by now, which is no harm, and to
 * look would be to wait for the host's memory. */
LANES_INLINE void forget(struct entry *filter, uint32_t size, uint64_t line)
{
	filter[line & (size - 1)].line = NO_LINE;
}

/* The commonest L2 without a call. */
LANES_INLINE int fetch(struct core *core, uint64_t line, enum access kind)
{
	return __builtin_expect(core->l2_of_8, 1) ? outer_fetch_l2(core, line, kind, 8)
						  : core->paths.fetch(core, line, kind);
}

static void l1d_dirty(struct core *core, uint64_t line, uint8_t *flags)
{
	if (!(*flags & L1_OWNED))
		outer_own(core, line);
	if (sweeps(core, SWEEP_L2)) /* another core's larger L2 may have it */
		sweep_stored(core, line);
	*flags |= L1_DIRTY | L1_OWNED;
}

/* Makes room in L1D, and puts the line there. */
LANES_INLINE struct way l1d_miss(struct core *core, struct cache *l1d, uint64_t line,
	struct cache_place p, enum access kind)
{
	struct way w = way_of(p, cache_victim(l1d, p.row));
	uint64_t old = cache_key(l1d, p.set, row_tags(p.row)[w.n]);
	uint8_t *flags = way_byte(l1d, w), was = *flags;

	if (was & L1_FILTERED)
		forget(core->data, DATA_FILTER, old);
	core->count[CP_SIM_l1d_load_misses + (kind == STORE)]++;
	row_tags(p.row)[w.n] = p.tag;
	*flags = fetch(core, line, kind) ? L1_OWNED : 0;
	if (was & L1_DIRTY) {
		core->count[CP_SIM_l1d_writebacks]++;
		outer_write_back(core, old);
	}
	return w;
}

/* The first store to a line that loads have brought into the filter. */
static __attribute__((noinline)) void first_store(
	struct core *core, struct entry *e, uint64_t line)
{
	struct cache_place p = cache_place(&core->l1d, line);
	uint32_t way = (e->at.line - stamp_offset(core, &core->l1d, way_of(p, 0))) / 4;

	l1d_dirty(core, line, &cache_bytes(&core->l1d, p)[way]);
	e->line &= ~CLEAN;
}

/* Has the host fetch what a miss would need, where misses go on to the last level:
 * the other caches are small. */
LANES_INLINE void prefetch_outer(struct core *core, uint64_t line)
{
	if (!(core->l2_misses & 3))
		return;
	if (core->l2.sets)
		cache_prefetch(&core->l2, line);
	if (core->uncore->llc.sets)
		cache_prefetch(&core->uncore->llc, line);
}

/* Is the page of a line that is in no TLB as a small one really small? */
LANES_INLINE int is_small(const struct core *core, uint64_t full, int load)
{
	return !core->area_shift ||
	       huge_is_small(full >> core->area_shift, full << core->line_shift, load);
}

/* What dtlb_touch says of a page. */
enum { FRESH, SETTLED, IN_HUGE };

/* Looks the page up, and brings it if need be.  Has it settled? */
LANES_INLINE int dtlb_touch(struct core *core, struct cache *dtlb, uint64_t full,
	uint64_t page, enum access kind, struct way *w)
{
	struct cache_place p = cache_place(dtlb, page);
	int way = cache_find(dtlb, p);
	uint8_t *uses;

	if (way < 0) {
		if (__builtin_expect(!is_small(core, full, kind == LOAD), 0))
			return IN_HUGE;
		*w = dtlb_miss(core, dtlb, page, p, kind);
		return FRESH;
	}
	*w = way_of(p, (unsigned)way);
	uses = way_byte(dtlb, *w);
	if (*uses >= USES_TO_FILTER)
		return SETTLED;
	++*uses;
	return FRESH;
}

LANES_INLINE struct way l1d_touch(
	struct core *core, struct cache *l1d, uint64_t line, enum access kind)
{
	struct cache_place p = cache_place(l1d, line);
	int way = cache_find(l1d, p);

	if (way < 0)
		return l1d_miss(core, l1d, line, p, kind);
	return way_of(p, (unsigned)way);
}

/* A reference to a line that is in the filter, perhaps for loads only. */
LANES_INLINE int data_known(
	struct core *core, struct entry *e, uint64_t full, int writes, uint32_t stamp)
{
	if ((e->line & ~CLEAN) != full)
		return 0;
	if (writes && e->line & CLEAN)
		first_store(core, e, regions_shorten(&core->uncore->regions, full));
	renew_stamps(core, e->at, stamp);
	return 1;
}

/* The rest of a reference whose page is in that way of that TLB. */
LANES_INLINE void data_line(struct core *core, struct cache *l1d,
	const struct cache *dtlb, struct way page, int settled, uint64_t full,
	uint64_t line, enum access kind, int writes, uint32_t stamp)
{
	struct way way = l1d_touch(core, l1d, line, kind);
	uint8_t *flags = way_byte(l1d, way);
	struct slot at;

	if (writes && !(*flags & L1_DIRTY))
		l1d_dirty(core, line, flags);
	at = (struct slot){stamp_offset(core, l1d, way), stamp_offset(core, dtlb, page)};
	renew_stamps(core, at, stamp);
	if (settled) {
		core->data[full & (DATA_FILTER - 1)] =
			(struct entry){*flags & L1_DIRTY ? full : full | CLEAN, at};
		*flags |= L1_FILTERED;
		row_masks(dtlb, page.row)[page.n] |= mask_bit(core, line);
	}
}

/* A huge page comes to a TLB.  Of the small ones that it replaces, some may be newer
 * than the reference: the batch has more to them. */
static struct way huge_fill(struct core *core, struct cache *tlb, struct cache_place p,
	struct entry *filter, uint32_t size)
{
	struct way w = tlb_fill(core, tlb, p, filter, size);

	*way_byte(tlb, w) = HUGE_WAY;
	row_stamps(tlb, p.row)[w.n] = core->newest_dropped;
	return w;
}

/* The array for huge pages; the number of a small one becomes the key there. */
static struct cache *huge_array(struct cache *own, struct cache *common, uint64_t *page)
{
	*page = huge_key(*page, own->sets != 0);
	return own->sets ? own : common;
}

/* data_touch in a huge page. */
static __attribute__((noinline)) void data_touch_huge(
	struct core *core, uint64_t full, enum access kind, int writes, uint32_t stamp)
{
	uint64_t line = regions_shorten(&core->uncore->regions, full),
		 key = line >> core->page_shift;
	struct cache *dtlb = huge_array(&core->dtlb_2m, &core->dtlb, &key);
	struct cache_place p = cache_place(dtlb, key);
	int found = cache_find(dtlb, p);
	struct way page = way_of(p, (unsigned)found);

	if (found < 0) {
		if (!huge_is_still(full >> core->area_shift, full << core->line_shift,
			    kind == LOAD)) {
			core->paths.data(core, full, kind, writes, stamp);
			return;
		}
		core->count[CP_SIM_dtlb_load_misses + (kind == STORE)]++;
		outer_huge_page(core, line >> core->page_shift, kind);
		page = huge_fill(core, dtlb, p, core->data, DATA_FILTER);
	}
	data_line(core, &core->l1d, dtlb, page, found >= 0, full, line, kind, writes,
		stamp);
}

/* References to one line; writes: also if the first is a load. */
LANES_INLINE void data_touch(struct core *core, uint64_t full, enum access kind,
	int writes, uint32_t stamp, uint32_t l1d_lanes, uint32_t dtlb_lanes)
{
	struct entry *e = &core->data[full & (DATA_FILTER - 1)];
	uint64_t line = regions_shorten(&core->uncore->regions, full);
	struct cache l1d, dtlb;
	struct way page;
	int settled;

	if (data_known(core, e, full, writes, stamp))
		return;
	prefetch_outer(core, line);
	dtlb = cache_shaped(&core->dtlb, dtlb_lanes, TLB_EXTRA);
	settled = dtlb_touch(core, &dtlb, full, line >> core->page_shift, kind, &page);
	if (__builtin_expect(settled == IN_HUGE, 0)) {
		data_touch_huge(core, full, kind, writes, stamp);
		return;
	}
	l1d = cache_shaped(&core->l1d, l1d_lanes, L1D_EXTRA);
	data_line(core, &l1d, &dtlb, page, settled == SETTLED, full, line, kind, writes,
		stamp);
}

/* The same for any reference; the lines it touches have successive stamps. */
void data_access(
	struct core *core, uint64_t addr, uint32_t size, enum access kind, uint32_t stamp)
{
	uint64_t line = addr >> core->line_shift;
	uint64_t last = (addr + size - 1) >> core->line_shift;

	for (; line <= last; line++, stamp++)
		core->paths.data(core, line, kind, kind == STORE, stamp);
}

LANES_INLINE struct way l1i_miss(
	struct core *core, struct cache *l1i, uint64_t line, struct cache_place p)
{
	struct way w = way_of(p, cache_victim(l1i, p.row));
	uint64_t old = cache_key(l1i, p.set, row_tags(p.row)[w.n]);

	forget(core->code, CODE_FILTER, old);
	core->count[CP_SIM_l1i_misses]++;
	row_tags(p.row)[w.n] = p.tag;
	fetch(core, line, IFETCH);
	return w;
}

/* Returns whether the page is not a huge one that the TLB has not as a small one. */
LANES_INLINE int itlb_touch(struct core *core, struct cache *itlb, uint64_t full,
	uint64_t page, struct way *w)
{
	struct cache_place p = cache_place(itlb, page);
	int way = cache_find(itlb, p);

	*w = way_of(p, (unsigned)way);
	if (way >= 0)
		return 1;
	if (__builtin_expect(!is_small(core, full, 1), 0))
		return 0;
	*w = itlb_miss(core, itlb, page, p);
	return 1;
}

LANES_INLINE struct way l1i_touch(struct core *core, struct cache *l1i, uint64_t line)
{
	struct cache_place p = cache_place(l1i, line);
	int way = cache_find(l1i, p);

	if (way < 0)
		return l1i_miss(core, l1i, line, p);
	return way_of(p, (unsigned)way);
}

/* The rest of a fetch whose page is in that way of that TLB. */
LANES_INLINE void code_line(struct core *core, struct cache *l1i,
	const struct cache *itlb, struct way page, uint64_t full, uint64_t line)
{
	struct entry *e = &core->code[full & (CODE_FILTER - 1)];
	struct way way = l1i_touch(core, l1i, line);

	e->line = full;
	e->at = (struct slot){
		stamp_offset(core, l1i, way), stamp_offset(core, itlb, page)};
	row_masks(itlb, page.row)[page.n] |= mask_bit(core, line);
}

/* Returns whether the page was huge. */
static __attribute__((noinline)) int code_touch_huge(
	struct core *core, uint64_t full, uint64_t line)
{
	uint64_t key = line >> core->page_shift;
	struct cache *itlb = huge_array(&core->itlb_2m, &core->itlb, &key);
	struct cache_place p = cache_place(itlb, key);
	int found = cache_find(itlb, p);
	struct way page = way_of(p, (unsigned)found);

	if (found < 0) {
		if (!huge_is_still(full >> core->area_shift, full << core->line_shift, 1))
			return 0;
		core->count[CP_SIM_itlb_misses]++;
		outer_huge_page(core, line >> core->page_shift, IFETCH);
		page = huge_fill(core, itlb, p, core->code, CODE_FILTER);
	}
	code_line(core, &core->l1i, itlb, page, full, line);
	return 1;
}

/* One fetch from a line. */
LANES_INLINE void code_touch(struct core *core, uint64_t full, uint32_t stamp,
	uint32_t l1i_lanes, uint32_t itlb_lanes)
{
	struct cache l1i = cache_shaped(&core->l1i, l1i_lanes, 0);
	struct cache itlb = cache_shaped(&core->itlb, itlb_lanes, TLB_EXTRA);
	struct entry *e = &core->code[full & (CODE_FILTER - 1)];
	uint64_t line = regions_shorten(&core->uncore->regions, full);
	struct way page;

	while (e->line != full)
		if (itlb_touch(core, &itlb, full, line >> core->page_shift, &page))
			code_line(core, &l1i, &itlb, page, full, line);
		else
			code_touch_huge(core, full, line);
	put_stamps(core, e->at, stamp);
}

void l1_drop_page(struct core *core, struct cache *tlb, uint64_t key)
{
	int code = tlb == &core->itlb || tlb == &core->itlb_2m;
	struct cache_place p = cache_place(tlb, key);
	int way = cache_find(tlb, p);
	struct way w = way_of(p, (unsigned)way);
	uint32_t *stamp;

	if (way < 0)
		return;
	if (code)
		drop_page(core, tlb, w, core->code, CODE_FILTER);
	else
		drop_page(core, tlb, w, core->data, DATA_FILTER);
	stamp = &row_stamps(tlb, p.row)[w.n];
	if (!code && *stamp > core->newest_dropped)
		core->newest_dropped = *stamp;
	*stamp = row_tags(p.row)[w.n] = 0;
	row_masks(tlb, p.row)[w.n] = 0;
	*way_byte(tlb, w) = 0;
}

/* The shapes that have paths of their own: (lanes of L1, lanes of TLB).  Lanes
 * are ways rounded up to four. */
#define SHAPES(X) X(4, 4) X(4, 8) X(8, 4) X(8, 8) X(8, 16) X(12, 4) X(12, 8) X(12, 16)
#define ALL_SHAPES(X) SHAPES(X) X(0, 0)

#define PATHS(l1, tlb)                                                                   \
	static void data_##l1##_##tlb(struct core *core, uint64_t line,                  \
		enum access kind, int writes, uint32_t stamp)                            \
	{                                                                                \
		data_touch(core, line, kind, writes, stamp, l1, tlb);                    \
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
