/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What instructions order the caches to do with a line, on a machine that is not plain.
 */
#include "flex/flex_outer_parts.h"
#include "model/orders.h"
#include "model/sweep.h"

/* Units, and who ordered what of them. */
struct ordered {
	struct core *core;
	uint64_t first, units;
	enum cache_order order;
};

/* The line at p is ordered to leave, or to be modified no more. */
static void obey(struct flex_cache *c, const struct flex_place *p, enum cache_order order)
{
	if (order == ORDER_CLEAN)
		*flex_flags(c, p) &= (uint8_t)~FLEX_ANY_DIRTY;
	else
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
		obey(l1d, &p, what->order);
	}
	return dirty;
}

static void order_l1i(struct core *core, const struct ordered *what)
{
	struct flex_cache *l1i = &core->flex->l1i;
	struct flex_place p;

	if (what->order != ORDER_FLUSH)
		return;
	for (uint64_t u = what->first; u < what->first + what->units;
		u += 1ull << l1i->shift) {
		p = flex_find(l1i, u);
		if (p.way < 0)
			continue;
		flex_lost_code(core, &p);
		flex_drop(l1i, &p);
	}
}

/* A line of L2, and those of its cores' L1D in it. */
static int order_l2_line(struct flex_cluster *cluster, const struct ordered *what)
{
	struct flex_cache *l2 = &cluster->l2;
	struct flex_place p;
	int dirty = 0;

	for (struct core *c = cluster->cores; c; c = c->flex->next)
		dirty |= order_l1d(c, what);
	if (!l2->sets)
		return dirty;
	p = flex_find(l2, what->first);
	if (p.way >= 0) {
		*written_in(cluster, &p) = 0;
		dirty |= is_dirty(l2, &p) != 0;
		obey(l2, &p, what->order);
	}
	what->core->count[CP_SIM_l2_writebacks] += (uint64_t)dirty;
	return dirty;
}

static int order_cluster(struct flex_cluster *cluster, const struct ordered *what)
{
	struct ordered line = *what;
	int dirty = 0;

	for (struct core *c = cluster->cores; c; c = c->flex->next)
		order_l1i(c, what);
	if (!cluster->l2.sets)
		return order_l2_line(cluster, what);
	line.units = 1ull << cluster->l2.shift;
	for (; line.first < what->first + what->units; line.first += line.units)
		dirty |= order_l2_line(cluster, &line);
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
		obey(llc, &p, what->order);
	}
	return dirty;
}

static void order_all(const struct ordered *what)
{
	struct flex_shared *s = shared_of(what->core);
	int dirty = 0;

	for (struct flex_cluster *c = s->clusters; c; c = c->next)
		dirty |= order_cluster(c, what);
	if (!llc_of(what->core)->sets)
		return;
	for (struct flex_group *g = s->groups; g; g = g->next)
		dirty |= order_llc(&g->llc, what);
	what->core->count[CP_SIM_llc_writebacks] += (uint64_t)dirty;
}

static int is_there(const struct flex_cache *c, const struct ordered *what)
{
	int there = 0;

	for (uint64_t u = what->first; u < what->first + what->units;
		u += 1ull << c->shift)
		there |= flex_find(c, u).way >= 0;
	return there;
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
		struct ordered line = {core, u, 1ull << step, what->order};

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
	struct ordered what = {core, unit >> shift << shift, 1ull << shift, order};

	core->flex->now = now;
	core->count[CP_SIM_cache_flushes]++;
	if (core->sweep && order == ORDER_FLUSH)
		sweep_leave(core, what.first, what.units, 1);
	if (order == ORDER_DEMOTE)
		demote(&what);
	else
		order_all(&what);
}
