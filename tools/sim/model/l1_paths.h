/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level: L1D, L1I, their TLBs, and the filters that let most hits do
 * without a search.  Compiled for each shape (l1_shapes.h).
 *
 * A hit that a filter admits writes the stamps of the line and of its page, to
 * which the entry leads.  Hence no decision ever differs from that of a model
 * without filters; what leaves an L1 or a TLB leaves the filter too.
 *
 * Whether the victim is filtered, whether it is modified, whether its page stays: the
 * host cannot foresee that, and would wait for the whole search of the victim.  So
 * nothing here branches on it that can be written without.
 */
#ifndef CACHEPEEK_SIM_L1_PATHS_H
#define CACHEPEEK_SIM_L1_PATHS_H

#include "model/batch.h"
#include "model/huge.h"
#include "model/outer_paths.h"
#include "model/sets.h"
#include "model/sweep.h"

/* The byte of a way of a first-level TLB: 0, or */
#define HUGE_WAY 1

/* The shape that a path is compiled for: lanes of L1D (or L1I), its TLB and L2, 0:
 * any; l2 is 0, too, if it is not common or more is to be asked.  Usual: lines of 64
 * bytes, pages of 4 KB. Sets: of L1D. */
struct shape {
	uint32_t l1, tlb, l2, usual, sets;
};

#define USUAL_LINE 6
#define USUAL_PAGE 12
#define USUAL_SETS 64 /* so that L1D and page have the same bits */

LANES_INLINE uint32_t line_bits(const struct core *core, struct shape s)
{
	return s.usual ? USUAL_LINE : core->line_shift;
}

LANES_INLINE uint64_t page_of(const struct core *core, struct shape s, uint64_t line)
{
	return line >> (s.usual ? USUAL_PAGE - USUAL_LINE : core->page_shift);
}

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

/* Where in its page's mask a line is. */
LANES_INLINE uint64_t mask_bit(const struct core *core, struct shape s, uint64_t line)
{
	return s.usual ? line & 63 : (line & core->page_mask) >> core->group_shift;
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
	uint64_t key = cache_key(tlb, w.set, row_tags(w.row)[w.n]);
	uint32_t page = stamp_offset(core, tlb, w);

	if (__builtin_expect(*way_byte(tlb, w) == HUGE_WAY, 0)) {
		drop_huge_lines(core, mask, page, filter, size);
		return;
	}
	first = key << core->page_shift;
	for (; mask; mask &= mask - 1)
		drop_lines(filter,
			first + ((uint64_t)__builtin_ctzll(mask) << core->group_shift),
			1ull << core->group_shift, size, page);
}

/* Makes room in a TLB and puts the page there. */
LANES_INLINE struct way tlb_fill(struct core *core, struct cache *tlb,
	struct cache_place p, enum access kind, struct entry *filter, uint32_t size)
{
	struct way w = way_of(p, cache_victim(tlb, p.row));

	core->unsure[UNSURE_CODE_PAGES + kind] += !row_stamps(tlb, p.row)[w.n];
	if (row_masks(tlb, p.row)[w.n])
		drop_page(core, tlb, w, filter, size);
	row_tags(p.row)[w.n] = p.tag;
	row_masks(tlb, p.row)[w.n] = 0;
	*way_byte(tlb, w) = 0;
	return w;
}

LANES_INLINE struct way dtlb_miss(struct core *core, struct cache *dtlb, uint64_t page,
	struct cache_place p, enum access kind)
{
	core->count[CP_SIM_dtlb_load_pages - LOAD + kind]++;
	core->paths.page(core, page, kind);
	return tlb_fill(core, dtlb, p, kind, core->data, DATA_FILTER);
}

LANES_INLINE struct way itlb_miss(
	struct core *core, struct cache *itlb, uint64_t page, struct cache_place p)
{
	core->count[CP_SIM_itlb_misses]++;
	outer_page(core, page, IFETCH);
	return tlb_fill(core, itlb, p, IFETCH, core->code, CODE_FILTER);
}

/* A common L2 without a call.  Returns L1_OWNED or 0. */
LANES_INLINE int fetch_line(
	struct core *core, struct shape s, uint64_t line, enum access kind)
{
	if (s.l2)
		return (int)outer_fetch_l2(
			core, line, kind, s.l2, s.l2 == 8 ? miss_l2_of_8 : miss_l2_of_16);
	return core->paths.fetch(core, line, kind) ? L1_OWNED : 0;
}

/* Do others have to be asked for a line before a store (1)?  The host cannot foresee what
 * is stored, but that this is rare. */
LANES_INLINE int needs_owning(uint32_t flags, uint32_t writes)
{
	return __builtin_expect(writes & ~flags / L1_OWNED, 0);
}

/* A way of L1D is stored to.  It may have been already. */
LANES_INLINE uint8_t l1d_dirty(
	struct core *core, struct shape s, uint64_t line, uint8_t flags)
{
	if (__builtin_expect(!(flags & L1_OWNED), 0))
		outer_own(core, line);
	if (!s.l2 && !(flags & L1_DIRTY) && is_sweeping(core, SWEEP_L2))
		sweep_stored(core, line); /* another core's larger L2 may have it */
	return flags | L1_DIRTY | L1_OWNED;
}

/* The flags of a way, perhaps after a store. */
LANES_INLINE uint8_t l1d_used(
	struct core *core, struct shape s, uint64_t line, uint8_t flags, int writes)
{
	if (s.l2 ? needs_owning(flags, (uint32_t)writes) : writes)
		return l1d_dirty(core, s, line, flags);
	return flags | (uint8_t)(writes * L1_DIRTY);
}

/* A line with these flags has left its way of L1D.  Its entry of the filter may be
 * another's by now, which is no harm, and to look would be to wait for the host's
 * memory. */
LANES_INLINE void forget_line(struct core *core, uint64_t line, uint8_t flags)
{
	uint64_t at = flags & L1_FILTERED ? line & (DATA_FILTER - 1) : DATA_FILTER;

	core->data[at].line = NO_LINE;
}

/* And is written to L2 if it is modified. */
LANES_INLINE void write_back(
	struct core *core, struct shape s, uint64_t line, uint8_t flags)
{
	if (!(flags & L1_DIRTY)) {
		if (!s.l2) /* samples have no such shape */
			core->unsure[UNSURE_WRITEBACKS] += flags / L1_UNSURE & 1;
		return;
	}
	core->count[CP_SIM_l1d_writebacks]++;
	if (!s.l2 || !outer_put_l2(core, line, s.l2))
		outer_write_back(core, line);
}

/* L1D, of which the usual shape's place and size are known. */
LANES_INLINE struct cache l1d_shaped(struct core *core, struct shape s)
{
	struct cache l1d = cache_shaped(&core->l1d, s.l1, L1D_EXTRA);

	if (s.sets) {
		l1d.rows = core_first_level(core);
		l1d.bytes = l1d.rows + s.sets * l1d.stride;
		l1d.sets = s.sets;
		l1d.shift = (uint32_t)__builtin_ctz(s.sets);
	}
	return l1d;
}

/* The first store to a line that loads have brought into the filter. */
static __attribute__((noinline)) void first_store(
	struct core *core, struct entry *e, uint64_t line)
{
	static const struct shape any;
	struct cache_place p = cache_place(&core->l1d, line);
	uint32_t way = (e->at.line - stamp_offset(core, &core->l1d, way_of(p, 0))) / 4;
	uint8_t *flags = &cache_bytes(&core->l1d, p)[way];

	*flags = l1d_dirty(core, any, line, *flags);
	e->line &= ~CLEAN;
}

/* Has the host fetch what a miss would need, where misses go on to the last level:
 * the other caches are small. */
LANES_INLINE void prefetch_outer(struct core *core, uint64_t line)
{
	if (__builtin_expect(core->l2_misses < 2, 1))
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

/* The answer of page_touch.  Pages that come and go would only cost the filter's
 * upkeep: the lines of a page are filtered when it has settled, which it has once it is
 * found in the DTLB. */
enum { FRESH, SETTLED, IN_HUGE };

/* The way that has the page is as new as the reference.  If it has settled the line is
 * noted there: it will be in the filter. */
LANES_INLINE void note_line(struct core *core, struct shape s, const struct cache *dtlb,
	struct way page, uint32_t settled, uint64_t line, uint32_t at, uint32_t stamp)
{
	row_masks(dtlb, page.row)[page.n] |= (uint64_t)settled << mask_bit(core, s, line);
	renew_stamp(core, at, stamp);
}

/* Looks the page of a line up, and brings it if need be.  Has it settled?  at: its
 * stamp. */
LANES_INLINE uint32_t page_touch(struct core *core, struct shape s, uint64_t full,
	uint64_t line, enum access kind, uint32_t stamp, uint32_t *at)
{
	struct cache dtlb = cache_shaped(&core->dtlb, s.tlb, TLB_EXTRA);
	struct cache_place p = cache_place(&dtlb, page_of(core, s, line));
	int found = cache_find(&dtlb, p);
	struct way w = way_of(p, (unsigned)found);
	uint32_t settled = FRESH;

	if (found >= 0) {
		settled = SETTLED;
	} else if (__builtin_expect(!is_small(core, full, kind == LOAD), 0)) {
		return IN_HUGE;
	} else {
		w = dtlb_miss(core, &dtlb, page_of(core, s, line), p, kind);
	}
	*at = stamp_offset(core, &dtlb, w);
	note_line(core, s, &dtlb, w, settled, line, *at, stamp);
	return settled;
}

/* A reference to a line that is in the filter, perhaps for loads only. */
LANES_INLINE int data_known(
	struct core *core, struct entry *e, uint64_t full, int writes, uint32_t stamp)
{
	if ((e->line & ~CLEAN) != full)
		return 0;
	if (writes && e->line & CLEAN)
		first_store(core, e, far_lines_shorten(&core->uncore->far_lines, full));
	renew_stamps(core, e->at, stamp);
	return 1;
}

/* A way of L1D has the line, since when, and from now on: the filter gets it, if its
 * page has settled.  Returns its flags. */
LANES_INLINE uint8_t admit_line(
	struct core *core, uint64_t full, uint8_t flags, struct slot at, uint32_t settled)
{
	if (settled)
		core->data[full & (DATA_FILTER - 1)] =
			(struct entry){full | (uint64_t) !(flags & L1_DIRTY) << 63, at};
	return flags | (uint8_t)settled; /* that is L1_FILTERED */
}

/* A line, or its victim, has had that stamp. */
LANES_INLINE void note_first(struct core *core, struct shape s, uint64_t line,
	enum access kind, uint32_t stamp, int missed)
{
	if (!s.l2 && __builtin_expect(stamp < core->first_before, 0))
		sample_sets_first(core, line, kind, missed);
}

/* L1D makes room for the line.  What does not hang on the levels behind it is done
 * first: the compiler has little to keep. */
LANES_INLINE void l1d_miss(struct core *core, struct shape s, struct cache *l1d,
	struct cache_place p, uint64_t full, uint64_t line, enum access kind, int writes,
	uint32_t page, uint32_t settled, uint32_t stamp)
{
	struct way w = way_of(p, cache_victim(l1d, p.row));
	uint64_t old = cache_key(l1d, p.set, row_tags(p.row)[w.n]);
	uint8_t *flags = way_byte(l1d, w), was = *flags, is = writes ? L1_DIRTY : 0;
	struct slot at = {stamp_offset(core, l1d, w), page};

	if (!s.l2 && !*stamp_at(core, at.line)) {
		core->unsure[UNSURE_LOADS - LOAD + kind]++;
		is |= L1_UNSURE;
	} else {
		note_first(core, s, line, kind, *stamp_at(core, at.line), 1);
	}
	row_tags(p.row)[w.n] = p.tag;
	core->count[CP_SIM_l1d_load_lines - LOAD + kind]++;
	forget_line(core, old, was);
	*stamp_at(core, at.line) = stamp; /* the victim was older than the batch */
	is = admit_line(core, full, is, at, settled);
	is |= (uint8_t)fetch_line(core, s, line, kind);
	write_back(core, s, old, was);
	*flags = l1d_used(core, s, line, is & (uint8_t)~L1_DIRTY, writes);
}

/* The rest of a reference whose page has that stamp. */
LANES_INLINE void data_line(struct core *core, struct shape s, uint64_t full,
	uint64_t line, enum access kind, int writes, uint32_t page, uint32_t settled,
	uint32_t stamp)
{
	struct cache l1d = l1d_shaped(core, s);
	struct cache_place p = cache_place(&l1d, line);
	int found = cache_find(&l1d, p);
	struct way w = way_of(p, (unsigned)found);
	struct slot at = {stamp_offset(core, &l1d, w), page};
	uint8_t *flags = way_byte(&l1d, w);

	if (found < 0) {
		l1d_miss(
			core, s, &l1d, p, full, line, kind, writes, page, settled, stamp);
		return;
	}
	note_first(core, s, line, kind, *stamp_at(core, at.line), 0);
	*flags = l1d_used(core, s, line, *flags, writes);
	*flags = admit_line(core, full, *flags, at, settled);
	renew_stamp(core, at.line, stamp);
}

/* A huge page comes to a TLB.  Of the small ones that it replaces, some may be newer
 * than the reference: the batch has more to them. */
static struct way huge_fill(struct core *core, struct cache *tlb, struct cache_place p,
	enum access kind, struct entry *filter, uint32_t size)
{
	struct way w = tlb_fill(core, tlb, p, kind, filter, size);

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

/* page_touch of a huge page; IN_HUGE: it is none any more. */
LANES_INLINE uint32_t huge_touch(struct core *core, uint64_t full, uint64_t line,
	enum access kind, uint32_t stamp, uint32_t *at)
{
	static const struct shape any;
	uint64_t key = line >> core->page_shift;
	struct cache *dtlb = huge_array(&core->dtlb_2m, &core->dtlb, &key);
	struct cache_place p = cache_place(dtlb, key);
	int found = cache_find(dtlb, p);
	struct way page = way_of(p, (unsigned)found);

	if (found < 0) {
		if (!huge_is_still(full >> core->area_shift, full << core->line_shift,
			    kind == LOAD))
			return IN_HUGE;
		core->count[CP_SIM_dtlb_load_pages - LOAD + kind]++;
		outer_huge_page(core, line >> core->page_shift, kind);
		page = huge_fill(core, dtlb, p, kind, core->data, DATA_FILTER);
	}
	*at = stamp_offset(core, dtlb, page);
	note_line(core, any, dtlb, page, found >= 0, line, *at, stamp);
	return found >= 0 ? SETTLED : FRESH;
}

/* data_touch in a huge page. */
static __attribute__((noinline)) void data_touch_huge(
	struct core *core, uint64_t full, enum access kind, int writes, uint32_t stamp)
{
	static const struct shape any;
	uint64_t line = far_lines_shorten(&core->uncore->far_lines, full);
	uint32_t at, settled = huge_touch(core, full, line, kind, stamp, &at);

	if (settled == IN_HUGE)
		core->paths.data(core, full, kind, writes, stamp);
	else
		data_line(core, any, full, line, kind, writes, at, settled, stamp);
}

/* References to one line; writes: also if the first is a load. */
LANES_INLINE void data_touch(struct core *core, struct shape s, uint64_t full,
	enum access kind, int writes, uint32_t stamp)
{
	struct entry *e = &core->data[full & (DATA_FILTER - 1)];
	uint64_t line = far_lines_shorten(&core->uncore->far_lines, full);
	uint32_t settled, page;

	if (data_known(core, e, full, writes, stamp))
		return;
	prefetch_outer(core, line);
	settled = page_touch(core, s, full, line, kind, stamp, &page);
	if (__builtin_expect(settled == IN_HUGE, 0))
		data_touch_huge(core, full, kind, writes, stamp);
	else
		data_line(core, s, full, line, kind, writes, page, settled, stamp);
}

LANES_INLINE struct way l1i_miss(struct core *core, struct shape s, struct cache *l1i,
	uint64_t line, struct cache_place p)
{
	struct way w = way_of(p, cache_victim(l1i, p.row));
	uint64_t old = cache_key(l1i, p.set, row_tags(p.row)[w.n]);

	core->code[old & (CODE_FILTER - 1)].line = NO_LINE; /* as in forget_line() */
	core->count[CP_SIM_l1i_misses]++;
	core->unsure[UNSURE_CODE] += !row_stamps(l1i, p.row)[w.n];
	if (row_stamps(l1i, p.row)[w.n])
		note_first(core, s, line, IFETCH, row_stamps(l1i, p.row)[w.n], 1);
	row_tags(p.row)[w.n] = p.tag;
	fetch_line(core, s, line, IFETCH);
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

LANES_INLINE struct way l1i_touch(
	struct core *core, struct shape s, struct cache *l1i, uint64_t line)
{
	struct cache_place p = cache_place(l1i, line);
	int way = cache_find(l1i, p);

	if (way < 0)
		return l1i_miss(core, s, l1i, line, p);
	note_first(core, s, line, IFETCH, row_stamps(l1i, p.row)[way], 0);
	return way_of(p, (unsigned)way);
}

/* The rest of a fetch whose page is in that way of that TLB. */
LANES_INLINE void code_line(struct core *core, struct shape s, struct cache *l1i,
	const struct cache *itlb, struct way page, uint64_t full, uint64_t line)
{
	struct entry *e = &core->code[full & (CODE_FILTER - 1)];
	struct way way = l1i_touch(core, s, l1i, line);

	e->line = full;
	e->at = (struct slot){
		stamp_offset(core, l1i, way), stamp_offset(core, itlb, page)};
	row_masks(itlb, page.row)[page.n] |= 1ull << mask_bit(core, s, line);
}

/* Returns whether the page was huge. */
static __attribute__((noinline)) int code_touch_huge(
	struct core *core, uint64_t full, uint64_t line)
{
	static const struct shape any;
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
		page = huge_fill(core, itlb, p, IFETCH, core->code, CODE_FILTER);
	}
	code_line(core, any, &core->l1i, itlb, page, full, line);
	return 1;
}

/* One fetch from a line. */
LANES_INLINE void code_touch(
	struct core *core, struct shape s, uint64_t full, uint32_t stamp)
{
	struct cache l1i = cache_shaped(&core->l1i, s.l1, 0);
	struct cache itlb = cache_shaped(&core->itlb, s.tlb, TLB_EXTRA);
	struct entry *e = &core->code[full & (CODE_FILTER - 1)];
	uint64_t line = far_lines_shorten(&core->uncore->far_lines, full);
	struct way page;

	while (e->line != full)
		if (itlb_touch(core, &itlb, full, page_of(core, s, line), &page))
			code_line(core, s, &l1i, &itlb, page, full, line);
		else
			code_touch_huge(core, full, line);
	put_stamps(core, e->at, stamp);
}

#endif
