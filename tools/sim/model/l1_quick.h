/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The quick way of most references that the filter has not, on plain machines with the
 * usual lines, pages, L1D and L2: no call, and all sizes known to the compiler.  A
 * reference that does not go like that starts again in data_touch().  So do references to
 * sampled sets, at the end, which no filter is told of.
 */
#ifndef CACHEPEEK_SIM_L1_QUICK_H
#define CACHEPEEK_SIM_L1_QUICK_H

#include "model/l1_paths.h"
#include "model/sets.h"

/* A reference to a line that is not far, in a page that the DTLB has. */
struct quick {
	const struct batch_place *place;
	uint64_t line;
	uint64_t *mask; /* of the page; and where its stamp is */
	uint32_t page, stamp;
	int alone; /* its batch has no other place */
};

LANES_INLINE struct quick quick_in(struct core *core, const struct cache *dtlb,
	struct way page, const struct batch_place *place, uint64_t line, uint32_t stamp,
	int alone)
{
	return (struct quick){place, line, &row_masks(dtlb, page.row)[page.n],
		stamp_offset(core, dtlb, page), stamp, alone};
}

/* The filter's entry that such references need from now on; the line's stamp is there. */
LANES_INLINE void put_entry(
	struct core *core, const struct quick *q, uint64_t clean, uint32_t at)
{
	core->data[q->line & (DATA_FILTER - 1)] =
		(struct entry){q->line | clean, {at, q->page}};
}

/* The same for the page, whose stamp may be newer if the batch has more places. */
LANES_INLINE void note_page(struct core *core, const struct quick *q)
{
	*q->mask |= 1ull << (q->line & 63);
	if (q->alone)
		*stamp_at(core, q->page) = q->stamp;
	else
		renew_stamp(core, q->page, q->stamp);
}

/* A reference to a line that L1D has, though the filter has it not. */
LANES_INLINE int quick_hit(
	struct core *core, const struct quick *q, const struct cache *l1d, struct way w)
{
	uint32_t at = stamp_offset(core, l1d, w);
	uint8_t *flags = way_byte(l1d, w), is = *flags;

	if (needs_owning(is, q->place->writes))
		return 0;
	*flags = is |= (uint8_t)(L1_FILTERED | q->place->writes * L1_DIRTY);
	put_entry(core, q, is & L1_DIRTY ? 0 : CLEAN, at);
	renew_stamp(core, at, q->stamp);
	note_page(core, q);
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
	forget_line(core, old, was);
	core->count[CP_SIM_l1d_load_lines - LOAD + q->place->first_kind]++;
	core->l2_misses = 0;
	core->l2.clock = ++clock;
	*l2_stamp = clock << FLAG_BITS | flags;
	row_tags(p.row)[w.n] = p.tag;
	row_stamps(l1d, p.row)[w.n] = q->stamp;
	*byte = (uint8_t)((flags & OWNED) | L1_FILTERED | q->place->writes * L1_DIRTY);
	put_entry(core, q, ~q->place->mask, stamp_offset(core, l1d, w));
	note_page(core, q);
	return 1;
}

/* Nothing is called where L1D or L2 has the line.  Returns 0 where others have to be
 * asked for it, or for the victim; nothing has changed then. */
LANES_INLINE int run_quickly(struct core *core, struct shape s, const struct quick *q)
{
	struct cache l1d = l1d_shaped(core, s), l2 = cache_shaped(&core->l2, s.l2, 0);
	struct cache_place p = cache_place(&l1d, q->line), p2;
	int found = cache_find(&l1d, p);
	int way;

	if (found >= 0)
		return quick_hit(core, q, &l1d, way_of(p, (unsigned)found));
	p2 = cache_place(&l2, q->line);
	way = cache_find(&l2, p2);
	if (way >= 0)
		return quick_from_l2(core, s, q, &l1d, p, &row_stamps(&l2, p2.row)[way]);
	note_page(core, q);
	l1d_miss(core, s, &l1d, p, q->line, q->line, q->place->first_kind,
		q->place->writes, q->page, SETTLED, q->stamp);
	return 1;
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
LANES_INLINE void touch_place(struct core *core, struct shape s,
	const struct batch_place *place, uint64_t line, uint32_t stamp)
{
	struct cache dtlb = cache_shaped(&core->dtlb, s.tlb, TLB_EXTRA);
	struct cache_place p = cache_place(&dtlb, page_of(core, s, line));
	int way = cache_find(&dtlb, p);
	struct quick q =
		quick_in(core, &dtlb, way_of(p, (unsigned)way), place, line, stamp, 0);

	if (way < 0 && line < FAR_LINES_FROM)
		with_page(core, s, place, &dtlb, p, line, stamp);
	else if (__builtin_expect(line >= FAR_LINES_FROM || !run_quickly(core, s, &q), 0))
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
					core->by_place && !batch_told.announce,
		1);
}

LANES_INLINE void slow_alone(struct core *core, const struct batch *b, uint64_t line,
	uint64_t at, uint64_t clock, touch_function *touch)
{
	const struct batch_place *p = &b->place[0];

	touch(core, p, at >> USUAL_LINE, (uint32_t)clock + p->tick);
	batch_finish_alone(core, b, line, at, clock);
}

/* Returns 0 where touch_place() has to be called. */
LANES_INLINE int quick_alone(struct core *core, struct shape s,
	const struct batch_place *place, uint64_t line, uint32_t stamp)
{
	struct cache dtlb = cache_shaped(&core->dtlb, s.tlb, TLB_EXTRA);
	struct cache_place p = cache_place(&dtlb, page_of(core, s, line));
	int way = cache_find(&dtlb, p);
	struct quick q =
		quick_in(core, &dtlb, way_of(p, (unsigned)way), place, line, stamp, 1);

	return way >= 0 && line < FAR_LINES_FROM && run_quickly(core, s, &q);
}

/* ---- a log of references to sampled sets (sets.h), whose pages nobody asks for ---- */

/* The host cannot foresee whether a word is a load or a store, but that L1 has its line:
 * nothing here branches on the former. */

/* If a word's line is not sampled the next one is meant. */
LANES_INLINE picked log_read(
	const struct sample_sets *sets, uint64_t word, uint32_t line_shift)
{
	uint64_t store = word >> 63, a = (word ^ (0 - store)) & ~SAMPLE_BOTH,
		 line = a >> line_shift;

	line += sets->left_out >> (line & sets->mask) & 1;
	return line << PICKED_LINE | store * PICKED_STORE | (word / SAMPLE_BOTH & 1);
}

static __attribute__((noinline)) void log_code(
	struct core *core, uint64_t full, uint32_t stamp)
{
	static const struct shape any;
	uint64_t line = far_lines_shorten(&core->uncore->far_lines, full);
	struct way way = l1i_touch(core, any, &core->l1i, line);

	*stamp_at(core, stamp_offset(core, &core->l1i, way)) = stamp;
}

/* A reference that L1D has not, or that others have to be told of. */
static __attribute__((noinline)) void log_slowly(
	struct core *core, uint32_t lanes, picked is, uint32_t stamp)
{
	struct shape s = {lanes, 0, 0, 0, 0};
	uint64_t line = is >> PICKED_LINE;

	data_line(core, s, line, far_lines_shorten(&core->uncore->far_lines, line),
		is & PICKED_STORE ? STORE : LOAD, is & PICKED_WRITES, 0, FRESH, stamp);
}

/* Returns whether L1D has the line, and nobody is to be told. */
LANES_INLINE int log_hit(
	const struct cache *l1d, picked is, uint32_t tells, uint32_t stamp)
{
	struct cache_place p = cache_place(l1d, is >> PICKED_LINE);
	uint32_t writes = is & PICKED_WRITES;
	int found = cache_find(l1d, p);
	uint8_t *flags = way_byte(l1d, way_of(p, (unsigned)found));

	if (__builtin_expect(found < 0, 0) || needs_owning(*flags, writes) ||
		__builtin_expect(writes & tells, 0))
		return 0;
	*flags |= (uint8_t)(writes * L1_DIRTY);
	row_stamps(l1d, p.row)[found] = stamp;
	return 1;
}

LANES_INLINE void log_picked(struct core *core, struct shape s, const struct cache *l1d,
	const struct newest *newest, picked is, uint32_t stamp)
{
	uint64_t line = is >> PICKED_LINE;

	if (picked_is_code(newest, is))
		log_code(core, line - newest->code, stamp);
	else if (line >= FAR_LINES_FROM || !log_hit(l1d, is, newest->tells, stamp))
		log_slowly(core, s.l1, is, stamp);
}

/* Where the host can pick many at once. */
LANES_INLINE void log_pick(struct core *core, struct shape s, struct newest *newest,
	const uint64_t *at, const uint64_t *end, uint32_t stamp)
{
	struct cache l1d = l1d_shaped(core, s);
	picked matters[PICK_AT_ONCE + 8];

	while (at < end) {
		uint32_t n = end - at < PICK_AT_ONCE ? (uint32_t)(end - at)
						     : PICK_AT_ONCE,
			 all = core->paths.pick(newest, core->sets, at, n, matters);

		for (uint32_t i = 0; i < all; i++, stamp += 2)
			log_picked(core, s, &l1d, newest, matters[i], stamp);
		at += n;
	}
}

/* Elsewhere a word at a time: the same but that they stay in order, and that of a line's
 * words only those that follow each other are left out. */
LANES_INLINE void log_each(struct core *core, struct shape s, const struct newest *newest,
	const uint64_t *at, const uint64_t *end, uint32_t stamp)
{
	struct cache l1d = l1d_shaped(core, s);
	picked last[SAMPLE_MOST_GROUPS];

	for (uint32_t i = 0; i <= core->sets->mask; i++)
		last[i] = ~0ull;
	for (; at < end; at++, stamp += 2) {
		picked is = log_read(core->sets, *at, newest->line_shift),
		       *before = &last[is >> PICKED_LINE & core->sets->mask];
		int same = (is ^ *before) >> PICKED_LINE == 0,
		    known = !(is & PICKED_WRITES) || (*before & ~newest->tells & 1);

		*before = is | (same ? *before & PICKED_WRITES : 0);
		if (!same || !known)
			log_picked(core, s, &l1d, newest, is, stamp);
	}
}

/* Stamps have to come from the core's clock, which has two ticks for a reference. */
LANES_INLINE void log_run(
	struct core *core, struct shape s, const uint64_t *at, const uint64_t *end)
{
	uint32_t stamp = (uint32_t)core->clock, ticks = (uint32_t)(end - at) * 2;
	struct newest newest;

	newest_begin(&newest, line_bits(core, s), is_sweeping(core, SWEEP_L2) != 0);
	core->clock += ticks;
	core->idle_ticks += ticks;
	if (core->paths.pick)
		log_pick(core, s, &newest, at, end, stamp);
	else
		log_each(core, s, &newest, at, end, stamp);
}

#endif
