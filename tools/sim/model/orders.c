/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/orders.h"
#include "model/outer.h"
#include "model/sets.h"
#include "model/span.h"
#include "model/sweep.h"

/* A line, by both of its numbers; streams: it is stored to past the caches, which is no
 * order. */
struct ordered {
	uint64_t full, line;
	enum cache_order order;
	int streams;
};

static void empty_way(struct cache *c, struct cache_place p, int way)
{
	row_tags(p.row)[way] = 0;
	row_stamps(c, p.row)[way] = STAMP_TAKEN;
}

static int order_l1d(struct core *core, const struct ordered *what)
{
	struct cache_place p = cache_place(&core->l1d, what->line);
	int way = cache_find(&core->l1d, p), dirty;
	struct entry *e = &core->data[what->full & (DATA_FILTER - 1)];
	uint8_t *flags;

	if (way < 0)
		return 0;
	flags = &cache_bytes(&core->l1d, p)[way];
	dirty = (*flags & L1_DIRTY) != 0;
	core->unsure[UNSURE_WRITEBACKS] += !dirty && *flags & L1_UNSURE;
	if (what->order == ORDER_CLEAN) {
		*flags &= (uint8_t) ~(L1_DIRTY | L1_UNSURE);
		if ((e->line & ~CLEAN) == what->full)
			e->line |= CLEAN;
		return dirty;
	}
	if ((e->line & ~CLEAN) == what->full)
		e->line = NO_LINE;
	*flags = 0;
	empty_way(&core->l1d, p, way);
	return dirty;
}

static void order_l1i(struct core *core, const struct ordered *what)
{
	struct cache_place p = cache_place(&core->l1i, what->line);
	int way = cache_find(&core->l1i, p);
	struct entry *e = &core->code[what->full & (CODE_FILTER - 1)];

	if (way < 0 || what->order != ORDER_FLUSH || what->streams)
		return;
	if (e->line == what->full)
		e->line = NO_LINE;
	empty_way(&core->l1i, p, way);
}

/* Carries out an order in L2, or in the last level. */
static int order_outer(struct cache *c, const struct ordered *what)
{
	struct cache_place p;
	int way, dirty;

	if (!c->sets)
		return 0;
	p = cache_place(c, what->line);
	way = cache_find(c, p);
	if (way < 0)
		return 0;
	dirty = (row_stamps(c, p.row)[way] & DIRTY) != 0;
	if (what->order == ORDER_CLEAN) {
		row_stamps(c, p.row)[way] &= ~(uint32_t)DIRTY;
		return dirty;
	}
	row_tags(p.row)[way] = row_stamps(c, p.row)[way] = 0;
	return dirty;
}

static int has_line(struct cache *c, uint64_t line)
{
	return c->sets && cache_find(c, cache_place(c, line)) >= 0;
}

/* Returns whether L1D or L2 had it modified. */
static int order_private(
	struct core *blamed, struct core *core, const struct ordered *what)
{
	int dirty = order_l1d(core, what);

	blamed->count[CP_SIM_l1d_writebacks] += (uint64_t)dirty;
	order_l1i(core, what);
	if (sample_leaves_out(blamed->sets, what->line))
		return dirty;
	dirty |= order_outer(&core->l2, what);
	if (core->l2.sets)
		blamed->count[CP_SIM_l2_writebacks] += (uint64_t)dirty;
	return dirty;
}

/* The last level has it, modified or not; without one, L2 does, or nobody. */
static void demote(struct core *core, const struct ordered *what)
{
	int there = has_line(&core->l1d, what->line) || has_line(&core->l2, what->line);

	if (!there || !core->uncore->llc.sets)
		return;
	if (core->sweep && core->sweep->plan->level != SWEEP_LLC)
		sweep_leave(core, what->line, 1, 0);
	outer_demote(core, what->line, order_private(core, core, what));
}

/* The same of another core, which loses it to a store. */
static int order_other(struct core *core, struct core *other, const struct ordered *what)
{
	int there = has_line(&other->l1d, what->line) || has_line(&other->l2, what->line),
	    dirty = order_private(core, other, what);

	if (what->streams) {
		core->count[CP_SIM_invalidations] += (uint64_t)there;
		core->count[CP_SIM_hitm] += (uint64_t)dirty;
	}
	return dirty;
}

static void order_all(struct core *core, const struct ordered *what)
{
	int dirty = order_private(core, core, what);

	for (struct core *other = core->uncore->cores; other; other = other->next)
		if (other != core)
			dirty |= order_other(core, other, what);
	if (!core->uncore->llc.sets || sample_leaves_out(core->sets, what->line))
		return;
	dirty |= order_outer(&core->uncore->llc, what);
	core->count[CP_SIM_llc_writebacks] += (uint64_t)dirty;
}

void core_order(struct core *core, uint64_t addr, enum cache_order order)
{
	uint64_t full = addr >> core->line_shift;
	struct ordered what = {
		full, far_lines_shorten(&core->uncore->far_lines, full), order, 0};

	if (core->ignores_orders)
		return;
	if (order_is_prefetch(order)) {
		core_prefetch(core, addr, order);
		return;
	}
	core->count[CP_SIM_cache_flushes]++;
	if (core->sweep && order == ORDER_FLUSH)
		sweep_leave(core, what.line, 1, 1);
	if (order == ORDER_DEMOTE)
		demote(core, &what);
	else
		order_all(core, &what);
	if (core->sets && !sample_leaves_out(core->sets, what.line))
		sample_sets_take(core, what.line);
}

/* ---- non-temporal stores ---- */

/* The buffer of the line, or one that it gets. */
static uint32_t find_buffer(struct core *core, struct streamed *s, uint64_t line)
{
	uint32_t taken = s->next;

	for (uint32_t i = 0; i < s->buffers; i++)
		if (s->buffer[i].line == line + 1)
			return i;
	s->buffer[taken].line = line + 1;
	s->buffer[taken].parts = 0;
	s->next = (taken + 1) % s->buffers;
	core->count[CP_SIM_stream_lines]++;
	return taken;
}

/* Bytes of one line. */
static void fill_buffer(struct core *core, struct streamed *s, uint64_t addr,
	uint32_t size, int is_masked)
{
	uint32_t part = s->shift > 6 ? s->shift - 6 : 0, bytes = 1u << s->shift,
		 first = (addr & (bytes - 1)) >> part,
		 last = ((addr + size - 1) & (bytes - 1)) >> part,
		 at = find_buffer(core, s, addr >> s->shift);
	uint64_t all = ~0ull >> (64 - (bytes >> part));

	if (!is_masked)
		s->buffer[at].parts |= ~0ull >> (63 - (last - first)) << first;
	if (s->buffer[at].parts != all)
		return;
	core->count[CP_SIM_stream_full_lines]++;
	s->buffer[at].line = 0;
}

void stream_note(struct core *core, struct streamed *s, uint64_t addr, uint32_t size,
	int is_masked)
{
	core->count[CP_SIM_stream_stores]++;
	while (size) {
		uint32_t here =
			(1u << s->shift) - (uint32_t)(addr & ((1u << s->shift) - 1));

		here = size < here ? size : here;
		fill_buffer(core, s, addr, here, is_masked);
		addr += here;
		size -= here;
	}
}

void core_pass(struct core *core, uint64_t full)
{
	struct ordered what = {
		full, far_lines_shorten(&core->uncore->far_lines, full), ORDER_FLUSH, 1};

	if (core->sweep && core->sweep->plan->level != SWEEP_L1I)
		sweep_leave(core, what.line, 1, 1);
	order_all(core, &what);
	if (core->sets && !sample_leaves_out(core->sets, what.line))
		sample_sets_take(core, what.line);
}

int core_stream(struct core *core, uint64_t addr, uint32_t size, int is_masked)
{
	uint64_t line = addr >> core->line_shift,
		 last = (addr + size - 1) >> core->line_shift;
	uint32_t ticks = 2 + (size >> core->line_shift), stamp = (uint32_t)core->clock;

	if (core->ignores_orders)
		return 0;
	span_begin(core, STORE);
	for (; line <= last; line++) {
		l1_page(core, line, STORE, stamp++);
		core_pass(core, line);
	}
	span_end(core, STORE);
	stream_note(core, &core->streamed, addr, size, is_masked);
	core->clock += ticks;
	core->idle_ticks += ticks - 2;
	core->stores++;
	return 1;
}

/* ---- prefetches ---- */

/* The counts of a load of the line become a prefetch's. */
static void load_was_prefetch(struct core *core, const uint64_t before[4])
{
	static const uint16_t loads[4] = {CP_SIM_l1d_load_lines, CP_SIM_l2_load_lines,
		CP_SIM_llc_load_lines, CP_SIM_loads_cache_to_cache};
	static const uint16_t prefetches[3] = {CP_SIM_l1d_prefetches,
		CP_SIM_l2_prefetch_misses, CP_SIM_llc_prefetch_misses};

	for (int i = 0; i < 3; i++)
		core->count[prefetches[i]] += core->count[loads[i]] - before[i];
	for (int i = 0; i < 4; i++)
		core->count[loads[i]] = before[i];
}

static void prefetch_l1d(struct core *core, uint64_t full, uint32_t stamp)
{
	const uint64_t *n = core->count;
	const uint64_t before[4] = {n[CP_SIM_l1d_load_lines], n[CP_SIM_l2_load_lines],
		n[CP_SIM_llc_load_lines], n[CP_SIM_loads_cache_to_cache]};

	core->paths.data(core, full, LOAD, 0, stamp);
	core->count[CP_SIM_software_prefetch_lines] +=
		n[CP_SIM_l1d_load_lines] - before[0];
	load_was_prefetch(core, before);
}

/* L1D has the line: nobody else has it from now on. */
static void own_line(struct core *core, uint64_t line)
{
	struct cache_place p = cache_place(&core->l1d, line);
	int way = cache_find(&core->l1d, p);
	uint8_t *flags = &cache_bytes(&core->l1d, p)[way];

	if (way < 0 || *flags & L1_OWNED)
		return;
	outer_own(core, line);
	*flags |= L1_OWNED;
}

void core_prefetch(struct core *core, uint64_t addr, enum cache_order order)
{
	uint64_t full = addr >> core->line_shift,
		 line = far_lines_shorten(&core->uncore->far_lines, full);
	struct pages before = pages_stored(core);

	core->count[CP_SIM_software_prefetches]++;
	l1_page(core, full, STORE, (uint32_t)core->clock);
	pages_are_prefetched(core, before);
	if (order != ORDER_PREFETCH_L2 || !core->l2.sets)
		prefetch_l1d(core, full, (uint32_t)core->clock);
	else if (!has_line(&core->l1d, line) && !has_line(&core->l2, line))
		outer_prefetch(core, line);
	if (order == ORDER_PREFETCH_WRITE)
		own_line(core, line);
	core->clock += 2;
	core->idle_ticks += 2;
}
