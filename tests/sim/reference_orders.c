/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What caches of the reference are ordered to do with lines (tools/sim/model/orders.h).
 */
#include "reference_parts.h"

static uint64_t largest_line(struct ref_system *s, struct ref_core *c)
{
	const struct ref_cache *level[] = {
		&c->l1i, &c->l1d, ref_l2_of(s, c), ref_llc_of(s, c)};
	uint64_t largest = 0;

	for (int i = 0; i < 4; i++)
		if (level[i]->g.sets && level[i]->line > largest)
			largest = level[i]->line;
	return largest;
}

static void obey(struct ref_way *w, enum cache_order order)
{
	w->dirty = w->half[0] = w->half[1] = 0;
	w->valid = order == ORDER_CLEAN;
}

/* Returns whether any line of [addr, addr + bytes) was modified; is_l1d of: who orders
 * it, if that is an L1D. */
static int order_cache(struct ref_cache *cache, uint64_t addr, uint64_t bytes,
	enum cache_order order, struct ref_core *is_l1d_of)
{
	int dirty = 0;

	for (uint64_t a = addr; cache->g.sets && a < addr + bytes; a += cache->line) {
		struct ref_way *w = ref_find(cache, a);

		if (!w)
			continue;
		if (w->dirty && is_l1d_of)
			ref_count_l1d_writeback(is_l1d_of, cache, w);
		dirty |= w->dirty;
		obey(w, order);
	}
	return dirty;
}

/* The cores around an L2, and that. */
static int order_around(struct ref_system *s, struct ref_core *c, int cluster,
	uint64_t addr, uint64_t bytes, enum cache_order order)
{
	uint64_t step = s->l2[cluster].g.sets ? s->l2[cluster].line : bytes;
	int any = 0;

	for (uint64_t a = addr; a < addr + bytes; a += step) {
		int dirty = 0;

		for (int i = 0; i < s->ncores; i++) {
			if (s->core[i].cluster != cluster)
				continue;
			dirty |= order_cache(&s->core[i].l1d, a, step, order, c);
			if (order == ORDER_FLUSH)
				order_cache(&s->core[i].l1i, a, step, order, 0);
		}
		dirty |= order_cache(&s->l2[cluster], a, step, order, 0);
		if (s->l2[cluster].g.sets)
			c->count[CP_SIM_l2_writebacks] += (uint64_t)dirty;
		any |= dirty;
	}
	return any;
}

static int has_any(struct ref_cache *cache, uint64_t addr, uint64_t bytes)
{
	int any = 0;

	for (uint64_t a = addr; cache->g.sets && a < addr + bytes; a += cache->line)
		any |= ref_find(cache, a) != 0;
	return any;
}

static void demote(
	struct ref_system *s, struct ref_core *c, uint64_t addr, uint64_t bytes)
{
	struct ref_cache *l2 = ref_l2_of(s, c);
	uint64_t step = l2->g.sets ? l2->line : c->l1d.line;

	if (!ref_llc_of(s, c)->g.sets)
		return;
	for (uint64_t a = addr; a < addr + bytes; a += step)
		if (has_any(&c->l1d, a, step) || has_any(l2, a, step))
			ref_llc_victim(s, c, a,
				order_around(s, c, c->cluster, a, step, ORDER_DEMOTE));
}

void ref_order(struct ref_system *s, int core, uint64_t addr, enum cache_order order)
{
	struct ref_core *c = &s->core[core];
	uint64_t bytes = largest_line(s, c);
	int dirty = 0;

	addr = addr / bytes * bytes;
	c->count[CP_SIM_cache_flushes]++;
	if (order == ORDER_DEMOTE) {
		demote(s, c, addr, bytes);
		return;
	}
	for (int cluster = 0; cluster < REF_CORES; cluster++)
		dirty |= order_around(s, c, cluster, addr, bytes, order);
	for (int i = 0; i < REF_CORES; i++)
		dirty |= order_cache(&s->llc[i], addr, bytes, order, 0);
	if (ref_llc_of(s, c)->g.sets)
		c->count[CP_SIM_llc_writebacks] += (uint64_t)dirty;
}
