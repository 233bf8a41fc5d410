/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The life of a core: made, used by threads one after the other, read.
 */
#include "model/batch.h"
#include "model/model.h"
#include "model/huge.h"
#include "model/sets.h"
#include "model/span.h"
#include "model/ahead.h"
#include "model/timing.h"

uint32_t machine_fewest_sets(const struct machine *m)
{
	const struct geometry *level[] = {&m->l1i, &m->l1d, &m->l2, &m->llc};
	uint32_t fewest = m->l1d.sets;

	for (int i = 0; i < 4; i++)
		if (level[i]->sets && level[i]->sets < fewest)
			fewest = level[i]->sets;
	return fewest;
}

static int geometry_is_plain(const struct machine *m, const struct geometry *g)
{
	int same_line = !g->line || g->line == m->line;

	return same_line && g->shared <= (g != &m->llc) && g->policy == POLICY_LRU &&
	       g->inclusion == NON_INCLUSIVE && !geometry_prefetches(g) &&
	       !g->write_through && !g->no_allocate && !g->halves && !g->fp_bypass;
}

int machine_is_plain(const struct machine *m)
{
	const struct geometry *level[] = {&m->l1i, &m->l1d, &m->l2, &m->llc, &m->itlb,
		&m->dtlb, &m->stlb, &m->itlb_2m, &m->dtlb_2m, &m->stlb_2m};

	for (int i = 0; i < 10; i++)
		if (level[i]->sets && !geometry_is_plain(m, level[i]))
			return 0;
	return !m->itlb2.sets && !m->dtlb2.sets && m->sockets.sockets <= 1;
}

int machine_asks_who(const struct machine *m)
{
	for (int i = 0; i < PREFETCHERS; i++)
		if (m->l1d.prefetch[i].kind == PREFETCH_IP_STRIDE ||
			m->l1d.prefetch[i].kind == PREFETCH_REGION)
			return 1;
	return 0;
}

int machine_knows_huge(const struct machine *m)
{
	return m->page == 1u << (HUGE_SHIFT - HUGE_PAGES_SHIFT) && !m->dtlb_2m.absent &&
	       !m->itlb_2m.absent;
}

/* The uncore must be zeroed memory.  -1: no memory. */
int uncore_init(struct uncore *u, const struct machine *m)
{
	far_lines_init(&u->far_lines, machine_fewest_sets(m));
	u->cores = 0;
	u->ncores = 0;
	huge_add(u);
	if (ahead_share(u, m) != 0)
		return -1;
	if (!machine_is_plain(m))
		return flex_uncore_init(u, m);
	return cache_init(&u->llc, m->llc.sets, m->llc.ways);
}

void uncore_free(struct uncore *u)
{
	huge_remove(u);
	if (u->flex)
		flex_uncore_free(u);
	ahead_unshare(u);
	cache_free(&u->llc);
}

static void filter_reset(struct core *core)
{
	for (uint32_t i = 0; i < DATA_FILTER; i++)
		core->data[i].line = NO_LINE;
	for (uint32_t i = 0; i < CODE_FILTER; i++)
		core->code[i].line = NO_LINE;
}

/* The size of the first level of a plain machine, which lies behind the core. */
static uint64_t first_level_size(const struct machine *m)
{
	struct cache c;

	return cache_measure(&c, m->l1i.sets, m->l1i.ways, 0) +
	       cache_measure(&c, m->l1d.sets, m->l1d.ways, L1D_EXTRA) +
	       cache_measure(&c, m->itlb.sets, m->itlb.ways, TLB_EXTRA) +
	       cache_measure(&c, m->dtlb.sets, m->dtlb.ways, TLB_EXTRA) +
	       cache_measure(&c, m->itlb_2m.sets, m->itlb_2m.ways, TLB_EXTRA) +
	       cache_measure(&c, m->dtlb_2m.sets, m->dtlb_2m.ways, TLB_EXTRA);
}

static uint8_t *house_next(
	struct cache *c, const struct geometry *g, uint32_t extra, uint8_t *at)
{
	uint64_t size = cache_measure(c, g->sets, g->ways, extra);

	cache_house(c, at);
	return at + size;
}

static void house_first_level(struct core *core, const struct machine *m)
{
	uint8_t *at = core_first_level(core);

	at = house_next(&core->l1d, &m->l1d, L1D_EXTRA, at);
	at = house_next(&core->l1i, &m->l1i, 0, at);
	at = house_next(&core->itlb, &m->itlb, TLB_EXTRA, at);
	at = house_next(&core->dtlb, &m->dtlb, TLB_EXTRA, at);
	at = house_next(&core->itlb_2m, &m->itlb_2m, TLB_EXTRA, at);
	house_next(&core->dtlb_2m, &m->dtlb_2m, TLB_EXTRA, at);
}

static int plain_init(struct core *core, const struct machine *m)
{
	house_first_level(core, m);
	if (cache_init(&core->l2, m->l2.sets, m->l2.ways) ||
		cache_init(&core->stlb, m->stlb.sets, m->stlb.ways) ||
		cache_init(&core->stlb_2m, m->stlb_2m.sets, m->stlb_2m.ways))
		return -1;
	core->stlb_is_small = m->stlb_2m.absent;
	core->by_place = m->l1d.ways >= BATCH_PLACES && m->dtlb.ways >= BATCH_PLACES &&
			 (!m->dtlb_2m.sets || m->dtlb_2m.ways >= BATCH_PLACES);
	outer_choose_paths(core);
	l1_choose_paths(core);
	return 0;
}

static void core_init(struct core *core, const struct machine *m, struct uncore *u)
{
	core->uncore = u;
	core->line_shift = log2_of(m->line);
	core->ignores_orders = m->ignores_orders;
	core->streamed.buffers = m->stream_buffers ? m->stream_buffers : STREAMED_USUAL;
	core->streamed.shift = log2_of(m->l1d.line ? m->l1d.line : m->line);
	core->page_shift = log2_of(m->page) - core->line_shift;
	core->page_mask = (1u << core->page_shift) - 1;
	core->group_shift = core->page_shift > 6 ? core->page_shift - 6 : 0;
	if (huge.ask && machine_knows_huge(m))
		core->area_shift = HUGE_SHIFT - core->line_shift;
	core->clock = core->clock_seen = STAMP_TAKEN + 1;
	core->last_line = NO_LINE;
	core->noting_from = UINT64_MAX;
	if (machine_is_plain(m))
		filter_reset(core);
}

static int time_init(struct core *core, const struct machine *m)
{
	if (!m->time.memory)
		return 0;
	if (geometry_prefetches(&m->l1i) || geometry_prefetches(&m->l1d) ||
		geometry_prefetches(&m->l2)) {
		core->hidden = host_alloc(sizeof(core->count));
		if (!core->hidden)
			return -1;
	}
	if (m->ooo.window) {
		core->ahead = ahead_new(core, m);
		return core->ahead ? 0 : -1;
	}
	core->timing = timing_new(m);
	return core->timing ? 0 : -1;
}

/* NULL: no memory. */
struct core *core_new(const struct machine *m, struct uncore *u)
{
	int plain = machine_is_plain(m);
	uint64_t size = sizeof(struct core) + (plain ? first_level_size(m) : 0);
	struct core *core = host_alloc(size);

	if (!core)
		return 0;
	core->size = size;
	core_init(core, m, u);
	if ((plain ? plain_init(core, m) : flex_core_init(core, m, u)) == 0 &&
		time_init(core, m) == 0)
		return core;
	core_free(core);
	return 0;
}

void core_free(struct core *core)
{
	if (core->flex)
		flex_core_free(core);
	if (core->sets)
		host_free(core->sets, sizeof(*core->sets));
	if (core->hidden)
		host_free(core->hidden, sizeof(core->count));
	timing_free(core->timing);
	ahead_free(core->ahead);
	cache_free(&core->l2);
	cache_free(&core->stlb);
	cache_free(&core->stlb_2m);
	host_free(core, core->size);
}

/* From now on the other cores see this one's accesses, and it theirs. */
void core_attach(struct core *core)
{
	core->next = core->uncore->cores;
	core->uncore->cores = core;
	core->uncore->ncores++;
}

/* The number of an area's first small page. */
static uint64_t first_page(struct core *core, uint64_t area)
{
	uint64_t line = area << core->area_shift;

	return far_lines_shorten(&core->uncore->far_lines, line) >> core->page_shift;
}

void core_drop_small(struct core *core, uint64_t area)
{
	uint64_t page;

	if (core->flex) {
		flex_drop_small(core, area);
		return;
	}
	page = first_page(core, area);
	core->newest_dropped = 0;
	for (uint64_t end = page + HUGE_PAGES; page < end; page++) {
		l1_drop_page(core, &core->dtlb, page);
		l1_drop_page(core, &core->itlb, page);
		outer_drop_page(&core->stlb, page);
	}
}

void core_drop_huge(struct core *core, uint64_t area)
{
	struct cache *dtlb = core->dtlb_2m.sets ? &core->dtlb_2m : &core->dtlb;
	struct cache *itlb = core->itlb_2m.sets ? &core->itlb_2m : &core->itlb;
	struct cache *stlb = core->stlb_2m.sets ? &core->stlb_2m : &core->stlb;
	uint64_t page;

	if (core->flex) {
		flex_drop_huge(core, area);
		return;
	}
	page = first_page(core, area);
	l1_drop_page(core, dtlb, huge_key(page, dtlb == &core->dtlb_2m));
	l1_drop_page(core, itlb, huge_key(page, itlb == &core->itlb_2m));
	if (!core->stlb_is_small)
		outer_drop_page(stlb, huge_key(page, stlb == &core->stlb_2m));
}

static void rank_stamps(struct core *core)
{
	cache_rank(&core->l1i, 0);
	cache_rank(&core->l1d, 0);
	cache_rank(&core->itlb, 0);
	cache_rank(&core->dtlb, 0);
	cache_rank(&core->itlb_2m, 0);
	cache_rank(&core->dtlb_2m, 0);
	core->newest_dropped = core->first_before = 0;
	if (core->sets)
		core->sets->began = 0;
	core->clock = CACHE_MAX_WAYS + 2;
}

/* On a plain machine each miss brings a line, and nothing else does. */
void core_derive_lines(const struct core *core, uint64_t *n)
{
	uint64_t from_l1;

	n[CP_SIM_l1d_fills] = n[CP_SIM_l1d_load_lines] + n[CP_SIM_l1d_store_lines] +
			      n[CP_SIM_l1d_prefetches];
	from_l1 = n[CP_SIM_l1i_misses] + n[CP_SIM_l1d_fills];
	if (core->l2.sets) {
		n[CP_SIM_l2_accesses] = from_l1;
		n[CP_SIM_beyond_l2_lines] =
			n[CP_SIM_l2_ifetch_misses] + n[CP_SIM_l2_load_lines] +
			n[CP_SIM_l2_store_lines] + n[CP_SIM_l2_prefetch_misses] +
			n[CP_SIM_l2_prefetches];
	} else {
		n[CP_SIM_beyond_l2_lines] = from_l1;
	}
	if (core->uncore->llc.sets)
		n[CP_SIM_llc_accesses] = n[CP_SIM_beyond_l2_lines];
}

/* Turns what generated code has noted since the last time into counts.  Its
 * clock advances once for each change of instruction line and twice for each
 * reference, hence the lines need no counter of their own. */
static void collect_counts(struct core *core)
{
	uint64_t loads = core->loads, stores = core->stores;
	uint32_t ticks = (uint32_t)core->clock - (uint32_t)core->clock_seen;

	core->count[CP_SIM_instructions] += core->clock >> 32;
	core->count[CP_SIM_l1d_loads] += loads;
	core->count[CP_SIM_l1d_stores] += stores;
	core->count[CP_SIM_l1d_rmw] += core->rmw;
	core->count[CP_SIM_l1i_accesses] +=
		ticks - core->idle_ticks - 2 * (loads + stores);
	core->clock = (uint32_t)core->clock;
	core->ported += core->ports;
	core->loads = core->stores = core->rmw = core->ports = core->idle_ticks = 0;
	if (core->clock > CLOCK_LIMIT)
		rank_stamps(core);
	core->clock_seen = core->clock;
}

void core_collect(struct core *core)
{
	if (!core->flex) { /* the front counts for those */
		collect_counts(core);
		core_derive_lines(core, core->count);
	}
	span_collect(core->count);
	timing_collect(core);
	ahead_collect(core);
	if (core->hidden)
		host_zero(core->hidden, sizeof(core->count));
}
