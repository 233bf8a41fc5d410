/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The orders of instructions to the caches about a line, on a machine that is not plain.
 */
#include "flex/flex_outer_parts.h"
#include "model/orders.h"
#include "model/sweep.h"

/* Units, and who ordered what of them; streams: stores to them past the caches, which is
 * no order. */
struct ordered {
	struct core *core;
	uint64_t first, units;
	enum cache_order order;
	int streams;
};

/* The line at p is ordered to leave, or to be modified no more. */
static void obey(
	struct flex_cache *c, const struct flex_place *p, const struct ordered *what)
{
	if (what->order == ORDER_CLEAN) {
		*flex_flags(c, p) &= (uint8_t)~FLEX_ANY_DIRTY;
		return;
	}
	flex_count_leaving(what->core, c, p);
	flex_drop(c, p);
}

static int order_l1d(struct core *core, const struct ordered *what)
{
	struct flex_cache *l1d = &core->flex->l1d;
	struct flex_place p;
	int dirty = 0;

	for (uint64_t u = what->first; u < what->first + what->units;
		u += 1ull << l1d->shift) {
		p = flex_find(l1d, u);
		if (p.way < 0)
			continue;
		flex_lost_data(core, &p);
		if (is_dirty(l1d, &p)) {
			flex_count_writeback(what->core, *flex_flags(l1d, &p));
			dirty = 1;
		}
		obey(l1d, &p, what);
	}
	return dirty;
}

static void order_l1i(struct core *core, const struct ordered *what)
{
	struct flex_cache *l1i = &core->flex->l1i;
	struct flex_place p;

	if (what->order != ORDER_FLUSH || what->streams)
		return;
	for (uint64_t u = what->first; u < what->first + what->units;
		u += 1ull << l1i->shift) {
		p = flex_find(l1i, u);
		if (p.way < 0)
			continue;
		flex_lost_code(core, &p);
		obey(l1i, &p, what);
	}
}

static int is_there(const struct flex_cache *c, const struct ordered *what)
{
	int there = 0;

	for (uint64_t u = what->first; c->sets && u < what->first + what->units;
		u += 1ull << c->shift)
		there |= flex_find(c, u).way >= 0;
	return there;
}

/* Somebody else loses lines to a store: a core to one that it shares L2 with, or all
 * around another L2. */
static void count_lost(const struct ordered *what, int there, int dirty, uint32_t socket)
{
	uint64_t *count = what->core->count;

	count[CP_SIM_invalidations] += (uint64_t)there;
	count[CP_SIM_hitm] += (uint64_t)dirty;
	count[CP_SIM_remote_hitm] += dirty && socket != what->core->flex->cluster->socket;
}

static int order_core(struct core *core, const struct ordered *what)
{
	struct flex_cluster *cluster = core->flex->cluster;
	int sibling = what->streams && core != what->core &&
		      cluster == what->core->flex->cluster,
	    there = sibling && is_there(&core->flex->l1d, what),
	    dirty = order_l1d(core, what);

	if (sibling)
		count_lost(what, there, dirty, cluster->socket);
	return dirty;
}

/* A line of L2, and those of its cores' L1D in it. */
static int order_l2_line(struct flex_cluster *cluster, const struct ordered *what)
{
	struct flex_cache *l2 = &cluster->l2;
	struct flex_place p;
	int dirty = 0;

	for (struct core *c = cluster->cores; c; c = c->flex->next)
		dirty |= order_core(c, what);
	if (!l2->sets)
		return dirty;
	p = flex_find(l2, what->first);
	if (p.way >= 0) {
		*written_in(cluster, &p) = 0;
		dirty |= is_dirty(l2, &p) != 0;
		obey(l2, &p, what);
	}
	what->core->count[CP_SIM_l2_writebacks] += (uint64_t)dirty;
	return dirty;
}

static int order_cluster(struct flex_cluster *cluster, const struct ordered *what)
{
	struct ordered line = *what;
	int dirty = 0;

	if (!cluster->l2.sets)
		return order_l2_line(cluster, what);
	line.units = 1ull << cluster->l2.shift;
	for (; line.first < what->first + what->units; line.first += line.units)
		dirty |= order_l2_line(cluster, &line);
	return dirty;
}

static int is_around(const struct flex_cluster *cluster, const struct ordered *what)
{
	int there = is_there(&cluster->l2, what);

	for (const struct core *c = cluster->cores; c; c = c->flex->next)
		there |= is_there(&c->flex->l1d, what);
	return there;
}

static int order_around(struct flex_cluster *cluster, const struct ordered *what)
{
	int stolen = what->streams && cluster != what->core->flex->cluster,
	    there = stolen && is_around(cluster, what), dirty;

	for (struct core *c = cluster->cores; c; c = c->flex->next)
		order_l1i(c, what);
	dirty = order_cluster(cluster, what);
	if (stolen)
		count_lost(what, there, dirty, cluster->socket);
	return dirty;
}

static int order_llc(struct flex_cache *llc, const struct ordered *what)
{
	struct flex_place p;
	int dirty = 0;

	if (!llc->sets)
		return 0;
	for (uint64_t u = what->first; u < what->first + what->units;
		u += 1ull << llc->shift) {
		p = flex_find(llc, u);
		if (p.way < 0)
			continue;
		dirty |= is_dirty(llc, &p) != 0;
		obey(llc, &p, what);
	}
	return dirty;
}

static void order_all(const struct ordered *what)
{
	struct flex_shared *s = shared_of(what->core);
	int dirty = 0;

	for (struct flex_cluster *c = s->clusters; c; c = c->next)
		dirty |= order_around(c, what);
	if (!llc_of(what->core)->sets)
		return;
	for (struct flex_group *g = s->groups; g; g = g->next)
		dirty |= order_llc(&g->llc, what);
	what->core->count[CP_SIM_llc_writebacks] += (uint64_t)dirty;
}

/* The last level has what L1D and L2 have, modified or not. */
static void demote(const struct ordered *what)
{
	struct core *core = what->core;
	struct flex_cluster *cluster = core->flex->cluster;
	uint32_t step = cluster->l2.sets ? cluster->l2.shift : core->flex->l1d.shift;

	if (!llc_of(core)->sets)
		return;
	if (core->sweep)
		sweep_leave(core, what->first, what->units, 0);
	for (uint64_t u = what->first; u < what->first + what->units; u += 1ull << step) {
		struct ordered line = {core, u, 1ull << step, what->order, 0};

		if (is_there(&core->flex->l1d, &line) || is_there(&cluster->l2, &line))
			flex_demoted(core, u, order_l2_line(cluster, &line));
	}
}

/* The largest line of any level. */
static uint32_t largest_shift(struct core *core)
{
	const struct flex_core *f = core->flex;
	const struct flex_cache *level[] = {
		&f->l1i, &f->l1d, &f->cluster->l2, &f->cluster->group->llc};
	uint32_t largest = 0;

	for (int i = 0; i < 4; i++)
		if (level[i]->sets && level[i]->shift > largest)
			largest = level[i]->shift;
	return largest;
}

void flex_order(struct core *core, uint64_t unit, enum cache_order order, uint64_t now)
{
	uint32_t shift = largest_shift(core);
	struct ordered what = {core, unit >> shift << shift, 1ull << shift, order, 0};

	if (order_is_prefetch(order)) {
		flex_prefetch_for(core, unit, order, now);
		return;
	}
	core->flex->now = now;
	core->count[CP_SIM_cache_flushes]++;
	if (core->sweep && order == ORDER_FLUSH)
		sweep_leave(core, what.first, what.units, 1);
	if (order == ORDER_DEMOTE)
		demote(&what);
	else
		order_all(&what);
}

void flex_stream(struct core *core, uint64_t unit, uint64_t now)
{
	uint32_t shift = largest_shift(core);
	struct ordered what = {
		core, unit >> shift << shift, 1ull << shift, ORDER_FLUSH, 1};

	core->flex->now = now;
	flex_home(core, unit);
	flex_translate(core, unit, STORE);
	if (core->sweep && core->sweep->plan->level != SWEEP_L1I)
		sweep_leave(core, what.first, what.units, 1);
	order_all(&what);
}

void flex_prefetch_for(
	struct core *core, uint64_t unit, enum cache_order order, uint64_t now)
{
	struct flex_core *f = core->flex;
	struct flex_cache *l2 = &f->cluster->l2;
	struct pages before = pages_stored(core);

	f->now = now;
	core->count[CP_SIM_software_prefetches]++;
	flex_home(core, unit);
	flex_translate(core, unit, STORE);
	pages_are_prefetched(core, before);
	if (order != ORDER_PREFETCH_L2 || !l2->sets || flex_exclusive(l2))
		flex_bring(core, unit, order == ORDER_PREFETCH_WRITE);
	else if (flex_find(&f->l1d, unit).way < 0)
		core->count[CP_SIM_software_prefetch_lines] +=
			(uint64_t)flex_bring_l2(core, unit, 0);
}
