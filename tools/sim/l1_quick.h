/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What most references are that the filter has not, on plain machines with the usual
 * lines, pages, L1D and L2: no call, and all sizes known to the compiler.  What does not
 * go like that starts again in data_touch().
 */
#ifndef CACHEPEEK_SIM_L1_QUICK_H
#define CACHEPEEK_SIM_L1_QUICK_H

#include "l1_paths.h"

/* The filter's entry of a line that references to that place need from now on. */
LANES_INLINE void put_entry(struct core *core, uint64_t line, uint64_t clean, uint32_t at,
	const struct page_entry *page)
{
	core->data[line & (DATA_FILTER - 1)] =
		(struct entry){line | clean, {at, page->at}};
}

/* The same for the page, whose stamp may be newer if the batch has more places. */
LANES_INLINE void note_page(struct core *core, const struct page_entry *page,
	uint64_t line, uint32_t stamp, int alone)
{
	*(uint64_t *)((uint8_t *)core + page->mask) |= 1ull << (line & 63);
	if (alone)
		*stamp_at(core, page->at) = stamp;
	else
		renew_stamp(core, page->at, stamp);
}

/* The rest of one of several places, or of the only one of its batch. */
struct quick {
	const struct batch_place *place;
	const struct page_entry *page;
	uint64_t line;
	uint32_t stamp;
	int alone;
};

/* A reference to a line that L1D has, though the filter has it not. */
LANES_INLINE int quick_hit(
	struct core *core, const struct quick *q, const struct cache *l1d, struct way w)
{
	uint32_t at = stamp_offset(core, l1d, w);
	uint8_t *flags = way_byte(l1d, w), is = *flags;

	if (needs_owning(is, q->place->writes))
		return 0;
	*flags = is |= (uint8_t)(L1_FILTERED | q->place->writes * L1_DIRTY);
	put_entry(core, q->line, is & L1_DIRTY ? 0 : CLEAN, at, q->page);
	renew_stamp(core, at, q->stamp);
	note_page(core, q->page, q->line, q->stamp, q->alone);
	return 1;
}

/* A reference to a line that L1D has not, and that L2 has where this stamp is. */
LANES_INLINE int quick_from_l2(struct core *core, struct shape s, const struct quick *q,
	const struct cache *l1d, struct cache_place p, uint32_t *l2_stamp)
{
	uint32_t clock = core->l2.clock, flags = *l2_stamp & FLAGS;
	struct way w = way_of(p, cache_victim(l1d, p.row));
	uint64_t old = cache_key(l1d, p.set, row_tags(p.row)[w.n]);
	uint8_t *byte = way_byte(l1d, w), was = *byte;

	if (needs_owning(flags, q->place->writes) || clock >= OUTER_CLOCK_LIMIT)
		return 0;
	if (was & L1_DIRTY) {
		if (!outer_put_l2(core, old, s.l2))
			return 0;
		core->count[CP_SIM_l1d_writebacks]++;
	}
	forget(core, old, was);
	core->count[CP_SIM_l1d_load_misses - LOAD + q->place->first_kind]++;
	core->l2_misses = 0;
	core->l2.clock = ++clock;
	*l2_stamp = clock << FLAG_BITS | (*l2_stamp & FLAGS); /* the victim's, perhaps */
	row_tags(p.row)[w.n] = p.tag;
	row_stamps(l1d, p.row)[w.n] = q->stamp;
	*byte = (uint8_t)((flags & OWNED) | L1_FILTERED | q->place->writes * L1_DIRTY);
	put_entry(core, q->line, ~q->place->mask, stamp_offset(core, l1d, w), q->page);
	note_page(core, q->page, q->line, q->stamp, q->alone);
	return 1;
}

/* A reference whose page has settled.  Returns 0 where others have to be asked for the
 * line; nothing has changed then. */
LANES_INLINE int quick(struct core *core, struct shape s, const struct quick *q)
{
	struct cache l1d = l1d_shaped(core, s), l2 = cache_shaped(&core->l2, s.l2, 0);
	struct cache_place p = cache_place(&l1d, q->line), p2;
	int found = cache_find(&l1d, p);
	unsigned way;

	if (found >= 0)
		return quick_hit(core, q, &l1d, way_of(p, (unsigned)found));
	p2 = cache_place(&l2, q->line);
	way = lanes_find8(row_tags(p2.row), p2.tag);
	if (way < 8)
		return quick_from_l2(core, s, q, &l1d, p, &row_stamps(&l2, p2.row)[way]);
	note_page(core, q->page, q->line, q->stamp, q->alone);
	l1d_miss(core, s, &l1d, p, q->line, q->line, q->place->first_kind,
		q->place->writes, q->page->at, SETTLED, q->stamp);
	return 1;
}

/* Where a page is that has settled: if that is not the entry's, nobody knows. */
LANES_INLINE const struct page_entry *settled_page(struct core *core, uint64_t line)
{
	return &core->pages[line >> (USUAL_PAGE - USUAL_LINE) & (PAGE_FILTER - 1)];
}

LANES_INLINE int has_settled(const struct page_entry *page, uint64_t line)
{
	return page->page == line >> (USUAL_PAGE - USUAL_LINE);
}

/* A reference whose page the DTLB has not: it comes, and has not settled. */
LANES_INLINE void with_page(struct core *core, struct shape s,
	const struct batch_place *place, struct cache *dtlb, struct cache_place p,
	uint64_t line, uint32_t stamp)
{
	enum access kind = place->first_kind;
	uint32_t page;

	if (__builtin_expect(!is_small(core, line, kind == LOAD), 0)) {
		data_touch_huge(core, line, kind, place->writes, stamp);
		return;
	}
	prefetch_outer(core, line);
	page = stamp_offset(
		core, dtlb, dtlb_miss(core, dtlb, page_of(core, s, line), p, kind));
	*stamp_at(core, page) = stamp; /* the victim was older than the batch */
	data_line(core, s, line, line, kind, place->writes, page, FRESH, stamp);
}

/* A reference that the filter has not. */
LANES_INLINE void touch(struct core *core, struct shape s,
	const struct batch_place *place, uint64_t line, uint32_t stamp)
{
	struct quick q = {place, settled_page(core, line), line, stamp, 0};
	struct cache dtlb = cache_shaped(&core->dtlb, s.tlb, TLB_EXTRA);
	struct cache_place p = cache_place(&dtlb, page_of(core, s, line));
	int found;

	if (!has_settled(q.page, line) && line < REGION_NEAR) {
		found = cache_find(&dtlb, p);
		if (found < 0) {
			with_page(core, s, place, &dtlb, p, line, stamp);
			return;
		}
		admit_page(
			core, &dtlb, way_of(p, (unsigned)found), page_of(core, s, line));
	}
	if (__builtin_expect(line >= REGION_NEAR || !quick(core, s, &q), 0))
		core->paths.data(core, line, place->first_kind, place->writes, stamp);
}

typedef void touch_function(struct core *core, const struct batch_place *place,
	uint64_t line, uint32_t stamp);

/* A place that has its batch of one line of code to itself.  It may be two lines, or have
 * to be announced. */
LANES_INLINE int is_alone(
	const struct core *core, const struct batch_place *p, uint64_t at)
{
	return __builtin_expect(!((at ^ (at + p->last)) >> USUAL_LINE) &&
					core->by_place && !batch_announcer,
		1);
}

LANES_INLINE void slow_alone(struct core *core, const struct batch *b, uint64_t line,
	uint64_t at, uint64_t clock, touch_function *touch)
{
	const struct batch_place *p = &b->place[0];

	touch(core, p, at >> USUAL_LINE, (uint32_t)clock + p->tick);
	batch_finish_alone(core, b, line, at, clock);
}

LANES_INLINE int quick_alone(struct core *core, struct shape s,
	const struct batch_place *p, uint64_t line, uint32_t stamp)
{
	const struct page_entry *page = settled_page(core, line);

	return has_settled(page, line) &&
	       quick(core, s, &(struct quick){p, page, line, stamp, 1});
}

#endif
