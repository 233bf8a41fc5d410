/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level of a machine that is not plain (flex.h), and its life.
 */
#include "flex.h"
#include "host.h"

/* ---- translation ---- */

static void count_walk(struct core *core, enum access kind)
{
	static const unsigned char counter[] = {
		CP_SIM_itlb_walks, CP_SIM_dtlb_load_walks, CP_SIM_dtlb_store_walks};

	core->count[counter[kind]]++;
}

/* Returns whether the page was there; it is now. */
static int look_up_page(struct flex_cache *tlb, uint64_t page)
{
	struct flex_place p = flex_find(tlb, page);

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

static struct flex_cache *second_tlb(struct flex_core *f, enum access kind)
{
	struct flex_cache *own = kind == IFETCH ? &f->itlb2 : &f->dtlb2;

	return own->sets ? own : &f->stlb;
}

static void translate(struct core *core, uint64_t unit, enum access kind)
{
	static const unsigned char counter[] = {
		CP_SIM_itlb_misses, CP_SIM_dtlb_load_misses, CP_SIM_dtlb_store_misses};
	struct flex_core *f = core->flex;
	uint64_t page = unit >> f->page_shift;

	if (look_up_page(kind == IFETCH ? &f->itlb : &f->dtlb, page))
		return;
	core->count[counter[kind]]++;
	if (!look_up_page(second_tlb(f, kind), page))
		count_walk(core, kind);
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

static void fill(
	struct core *core, struct flex_cache *l1, struct flex_place *p, uint32_t flags)
{
	if (flex_make_room(l1, p)) {
		uint32_t old = *flex_flags(l1, p);
		uint64_t unit = flex_unit(l1, p);

		if (old & FLEX_ANY_DIRTY)
			flex_count_writeback(core, old);
		flex_evicted(core, unit, old);
	}
	flex_put(l1, p, flags);
}

/* Modified lines out of an exclusive L2 are so as a whole. */
static uint32_t fetched(const struct flex_cache *l1d, uint32_t flags)
{
	return l1d->g.halves && flags & FLEX_DIRTY ? flags | FLEX_DIRTY_UPPER : flags;
}

static void l1d_prefetch_line(struct core *core, uint64_t unit)
{
	struct flex_cache *l1d = &core->flex->l1d;
	struct flex_place p = flex_find(l1d, unit);

	if (p.way >= 0)
		return;
	core->count[CP_SIM_l1d_prefetches]++;
	core->count[CP_SIM_l1d_fills]++;
	fill(core, l1d, &p,
		fetched(l1d, flex_fetch(core, unit, PREFETCH)) | FLEX_PREFETCHED);
}

static void l1d_train(struct core *core, uint64_t unit)
{
	struct flex_core *f = core->flex;

	if (f->l1d_prefetcher.kind)
		flex_prefetch(core, &f->l1d_prefetcher, &f->l1d, unit, l1d_prefetch_line);
}

/* A store to a line that is in L1D. */
static void modify(struct core *core, uint64_t unit, const struct flex_place *p)
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

static void hit(struct core *core, uint64_t unit, const struct flex_place *p, int store)
{
	struct flex_cache *l1d = &core->flex->l1d;
	uint8_t *flags = flex_flags(l1d, p);
	int first = *flags & FLEX_PREFETCHED;

	flex_touch(l1d, p);
	*flags &= (uint8_t)~FLEX_PREFETCHED;
	if (store)
		modify(core, unit, p);
	if (first)
		l1d_train(core, unit);
}

static void miss(struct core *core, uint64_t unit, struct flex_place *p, enum access kind)
{
	struct flex_cache *l1d = &core->flex->l1d;
	int store = kind == STORE;

	core->count[CP_SIM_l1d_load_misses + store]++;
	if (store && l1d->g.no_allocate) {
		flex_own(core, unit);
		core->count[CP_SIM_l1d_writes_through]++;
		flex_write(core, unit);
		return;
	}
	core->count[CP_SIM_l1d_fills]++;
	fill(core, l1d, p, fetched(l1d, flex_fetch(core, unit, kind)));
	if (store)
		modify(core, unit, p);
	flex_train_l2(core);
	l1d_train(core, unit);
}

static void data(
	struct core *core, uint64_t full, enum access kind, int writes, uint32_t stamp)
{
	uint64_t unit = regions_shorten(&core->uncore->regions, full);
	struct flex_place p;

	(void)writes, (void)stamp;
	translate(core, unit, kind);
	p = flex_find(&core->flex->l1d, unit);
	if (p.way >= 0)
		hit(core, unit, &p, kind == STORE);
	else
		miss(core, unit, &p, kind);
}

static void bypass(struct core *core, uint64_t full)
{
	uint64_t unit = regions_shorten(&core->uncore->regions, full);

	translate(core, unit, LOAD);
	core->count[CP_SIM_l1d_bypasses]++;
	flex_fetch(core, unit, LOAD);
	flex_train_l2(core);
}

void flex_bypass(struct core *core, uint64_t addr, uint32_t size)
{
	uint64_t last = (addr + size - 1) >> core->line_shift;

	for (uint64_t unit = addr >> core->line_shift; unit <= last; unit++)
		bypass(core, unit);
}

/* ---- L1I ---- */

static void l1i_prefetch_line(struct core *core, uint64_t unit)
{
	struct flex_cache *l1i = &core->flex->l1i;
	struct flex_place p = flex_find(l1i, unit);

	if (p.way >= 0)
		return;
	core->count[CP_SIM_l1i_prefetches]++;
	flex_fetch(core, unit, PREFETCH);
	fill(core, l1i, &p, FLEX_PREFETCHED);
}

static void l1i_train(struct core *core, uint64_t unit)
{
	struct flex_core *f = core->flex;

	if (f->l1i_prefetcher.kind)
		flex_prefetch(core, &f->l1i_prefetcher, &f->l1i, unit, l1i_prefetch_line);
}

static void fetch_code(struct core *core, uint64_t unit)
{
	struct flex_cache *l1i = &core->flex->l1i;
	struct flex_place p = flex_find(l1i, unit);
	int first;

	if (p.way < 0) {
		core->count[CP_SIM_l1i_misses]++;
		flex_fetch(core, unit, IFETCH);
		fill(core, l1i, &p, 0);
		flex_train_l2(core);
		l1i_train(core, unit);
		return;
	}
	first = *flex_flags(l1i, &p) & FLEX_PREFETCHED;
	*flex_flags(l1i, &p) = 0;
	flex_touch(l1i, &p);
	if (first)
		l1i_train(core, unit);
}

/* Generated code asks at each start of a block and change of unit. */
static void code(struct core *core, uint64_t full, uint32_t stamp)
{
	struct flex_core *f = core->flex;
	uint64_t unit;

	(void)stamp;
	if (full >> f->l1i.shift == f->last_code)
		return;
	f->last_code = full >> f->l1i.shift;
	unit = regions_shorten(&core->uncore->regions, full);
	core->count[CP_SIM_l1i_accesses]++;
	translate(core, unit, IFETCH);
	fetch_code(core, unit);
}

/* ---- its life ---- */

static uint32_t log2_of(uint32_t n)
{
	return 31 - (uint32_t)__builtin_clz(n);
}

/* From units to this cache's lines. */
static uint32_t line_shift(const struct machine *m, const struct geometry *g)
{
	return g->sets && g->line ? log2_of(g->line) - log2_of(m->line) : 0;
}

static uint32_t larger(uint32_t x, uint32_t y)
{
	return x > y ? x : y;
}

int flex_uncore_init(struct uncore *u, const struct machine *m)
{
	struct flex_shared *s = host_alloc(sizeof(*s));

	if (!s)
		return -1;
	u->flex = s;
	s->granule_shift = larger(line_shift(m, &m->l1d), line_shift(m, &m->l2));
	return flex_cache_init(&s->llc, &m->llc, line_shift(m, &m->llc));
}

void flex_uncore_free(struct uncore *u)
{
	struct flex_cluster *cluster = u->flex->clusters, *next;

	for (; cluster; cluster = next) {
		next = cluster->next;
		flex_cache_free(&cluster->l2);
		host_free(cluster, sizeof(*cluster));
	}
	flex_cache_free(&u->flex->llc);
	host_free(u->flex, sizeof(*u->flex));
	u->flex = 0;
}

static struct flex_cluster *new_cluster(struct flex_shared *s, const struct machine *m)
{
	struct flex_cluster *cluster = host_alloc(sizeof(*cluster));

	if (!cluster || flex_cache_init(&cluster->l2, &m->l2, line_shift(m, &m->l2)))
		return 0;
	cluster->next = s->clusters;
	s->clusters = cluster;
	return cluster;
}

/* The newest cluster, while it has room. */
static int join_cluster(struct core *core, const struct machine *m)
{
	struct flex_shared *s = core->uncore->flex;
	struct flex_cluster *cluster = s->clusters;

	if (!cluster || cluster->ncores >= larger(m->l2.shared, 1))
		cluster = new_cluster(s, m);
	if (!cluster)
		return -1;
	core->flex->cluster = cluster;
	core->flex->next = cluster->cores;
	cluster->cores = core;
	cluster->ncores++;
	return 0;
}

static void set_up(struct flex_prefetcher *p, const struct geometry *g)
{
	p->kind = g->prefetch;
	p->degree = g->degree;
	p->distance = g->distance;
}

int flex_core_init(struct core *core, const struct machine *m, struct uncore *u)
{
	struct flex_core *f = host_alloc(sizeof(*f));

	if (!f)
		return -1;
	core->flex = f;
	core->uncore = u;
	core->paths.data = data;
	core->paths.code = code;
	f->last_code = f->l2_seen = NO_LINE;
	f->page_shift = log2_of(m->page) - log2_of(m->line);
	set_up(&f->l1i_prefetcher, &m->l1i);
	set_up(&f->l1d_prefetcher, &m->l1d);
	set_up(&f->l2_prefetcher, &m->l2);
	if (flex_cache_init(&f->l1i, &m->l1i, line_shift(m, &m->l1i)) ||
		flex_cache_init(&f->l1d, &m->l1d, line_shift(m, &m->l1d)) ||
		flex_cache_init(&f->itlb, &m->itlb, 0) ||
		flex_cache_init(&f->dtlb, &m->dtlb, 0) ||
		flex_cache_init(&f->stlb, &m->stlb, 0) ||
		flex_cache_init(&f->itlb2, &m->itlb2, 0) ||
		flex_cache_init(&f->dtlb2, &m->dtlb2, 0))
		return -1;
	return join_cluster(core, m);
}

void flex_core_free(struct core *core)
{
	struct flex_core *f = core->flex;

	flex_cache_free(&f->l1i);
	flex_cache_free(&f->l1d);
	flex_cache_free(&f->itlb);
	flex_cache_free(&f->dtlb);
	flex_cache_free(&f->stlb);
	flex_cache_free(&f->itlb2);
	flex_cache_free(&f->dtlb2);
	host_free(f, sizeof(*f));
	core->flex = 0;
}
