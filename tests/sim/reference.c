/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * No filters, no vectors, no shortcuts: one look-up per line and level.
 */
#include <stdlib.h>
#include <string.h>
#include "reference.h"

static void make(struct ref_cache *c, struct geometry g)
{
	c->sets = g.sets;
	c->ways = g.ways;
	c->way = calloc((size_t)g.sets * g.ways + 1, sizeof(*c->way));
}

void ref_init(struct ref_system *s, const struct machine *m, int ncores)
{
	memset(s, 0, sizeof(*s));
	s->m = *m;
	s->ncores = ncores;
	make(&s->llc, m->llc);
	for (int i = 0; i < ncores; i++) {
		make(&s->core[i].l1i, m->l1i);
		make(&s->core[i].l1d, m->l1d);
		make(&s->core[i].l2, m->l2);
		make(&s->core[i].itlb, m->itlb);
		make(&s->core[i].dtlb, m->dtlb);
		make(&s->core[i].stlb, m->stlb);
		s->core[i].last_line = NO_LINE;
	}
}

void ref_free(struct ref_system *s)
{
	free(s->llc.way);
	for (int i = 0; i < s->ncores; i++) {
		free(s->core[i].l1i.way);
		free(s->core[i].l1d.way);
		free(s->core[i].l2.way);
		free(s->core[i].itlb.way);
		free(s->core[i].dtlb.way);
		free(s->core[i].stlb.way);
	}
}

static struct ref_way *find(struct ref_cache *c, uint64_t key)
{
	struct ref_way *w = c->sets ? &c->way[key % c->sets * c->ways] : NULL;

	for (uint32_t i = 0; i < c->ways; i++)
		if (w[i].valid && w[i].key == key)
			return &w[i];
	return NULL;
}

static struct ref_way *victim(struct ref_cache *c, uint64_t key)
{
	struct ref_way *w = &c->way[key % c->sets * c->ways], *oldest = w;

	for (uint32_t i = 0; i < c->ways; i++) {
		if (!w[i].valid)
			return &w[i];
		if (w[i].used < oldest->used)
			oldest = &w[i];
	}
	return oldest;
}

static struct ref_way *put(
	struct ref_system *s, struct ref_way *w, uint64_t key, int dirty, int owned)
{
	*w = (struct ref_way){key, ++s->now, 1, dirty, owned};
	return w;
}

static void llc_put(struct ref_system *s, struct ref_core *c, uint64_t line, int dirty)
{
	struct ref_way *w = victim(&s->llc, line);

	if (w->valid && w->dirty)
		c->count[CP_SIM_llc_writebacks]++;
	put(s, w, line, dirty, 0);
}

static void llc_write_back(struct ref_system *s, struct ref_core *c, uint64_t line)
{
	struct ref_way *w = find(&s->llc, line);

	if (!s->llc.sets)
		return;
	if (w)
		w->dirty = 1;
	else
		llc_put(s, c, line, 1);
}

static void l2_put(
	struct ref_system *s, struct ref_core *c, uint64_t line, int dirty, int owned)
{
	struct ref_way *w = victim(&c->l2, line);

	if (w->valid && w->dirty) {
		c->count[CP_SIM_l2_writebacks]++;
		llc_write_back(s, c, w->key);
	}
	put(s, w, line, dirty, owned);
}

static void l1_write_back(struct ref_system *s, struct ref_core *c, uint64_t line)
{
	struct ref_way *w = find(&c->l2, line);

	if (!c->l2.sets)
		llc_write_back(s, c, line);
	else if (w)
		w->dirty = w->owned = 1;
	else
		l2_put(s, c, line, 1, 1);
}

static void lose(struct ref_way *w, int write)
{
	if (!w)
		return;
	w->dirty = w->owned = 0;
	if (write)
		w->valid = 0;
}

static int snoop(struct ref_system *s, struct ref_core *c, uint64_t line, int write)
{
	int alone = 1;

	for (int i = 0; i < s->ncores; i++) {
		struct ref_core *other = &s->core[i];
		struct ref_way *d = find(&other->l1d, line), *l2 = find(&other->l2, line);

		if (other == c || (!d && !l2))
			continue;
		if ((d && d->dirty) || (l2 && l2->dirty)) {
			c->count[CP_SIM_hitm]++;
			llc_write_back(s, c, line);
		}
		c->count[CP_SIM_invalidations] += write;
		lose(d, write);
		lose(l2, write);
		alone = alone && write;
	}
	return alone;
}

static int beyond(
	struct ref_system *s, struct ref_core *c, uint64_t line, enum access kind)
{
	int alone = snoop(s, c, line, kind == STORE);
	struct ref_way *w = find(&s->llc, line);

	if (!s->llc.sets)
		return alone;
	if (w) {
		w->used = ++s->now;
	} else {
		c->count[CP_SIM_llc_ifetch_misses + kind]++;
		llc_put(s, c, line, 0);
	}
	return alone;
}

static int fetch(
	struct ref_system *s, struct ref_core *c, uint64_t line, enum access kind)
{
	struct ref_way *w = find(&c->l2, line);
	int alone;

	if (w) {
		w->used = ++s->now;
		return w->owned;
	}
	c->count[CP_SIM_l2_ifetch_misses + kind] += c->l2.sets != 0;
	alone = beyond(s, c, line, kind);
	if (c->l2.sets)
		l2_put(s, c, line, 0, alone);
	return alone;
}

static void second_tlb(struct ref_system *s, struct ref_core *c, uint64_t page, int walks)
{
	struct ref_way *w = find(&c->stlb, page);

	if (w) {
		w->used = ++s->now;
		return;
	}
	c->count[walks]++;
	if (c->stlb.sets)
		put(s, victim(&c->stlb, page), page, 0, 0);
}

static void translate(struct ref_system *s, struct ref_core *c, struct ref_cache *tlb,
	uint64_t line, int misses, int walks)
{
	uint64_t page = line / (s->m.page / s->m.line);
	struct ref_way *w = find(tlb, page);

	if (w) {
		w->used = ++s->now;
		return;
	}
	c->count[misses]++;
	second_tlb(s, c, page, walks);
	put(s, victim(tlb, page), page, 0, 0);
}

static struct ref_way *l1d_line(
	struct ref_system *s, struct ref_core *c, uint64_t line, enum access kind)
{
	struct ref_way *w = find(&c->l1d, line);
	int owned;

	if (w) {
		w->used = ++s->now;
		return w;
	}
	c->count[kind == STORE ? CP_SIM_l1d_store_misses : CP_SIM_l1d_load_misses]++;
	owned = fetch(s, c, line, kind);
	w = victim(&c->l1d, line);
	if (w->valid && w->dirty) {
		c->count[CP_SIM_l1d_writebacks]++;
		l1_write_back(s, c, w->key);
	}
	return put(s, w, line, 0, owned);
}

static void modify(struct ref_system *s, struct ref_core *c, struct ref_way *w)
{
	struct ref_way *l2 = find(&c->l2, w->key);

	if (!w->owned) {
		snoop(s, c, w->key, 1);
		w->owned = 1;
		if (l2)
			l2->owned = 1;
	}
	w->dirty = 1;
}

void ref_data(
	struct ref_system *s, int core, uint64_t addr, uint32_t size, enum access kind)
{
	struct ref_core *c = &s->core[core];
	int store = kind == STORE;

	c->count[store ? CP_SIM_l1d_stores : CP_SIM_l1d_loads]++;
	for (uint64_t line = addr / s->m.line; line <= (addr + size - 1) / s->m.line;
		line++) {
		struct ref_way *w;

		translate(s, c, &c->dtlb, line,
			store ? CP_SIM_dtlb_store_misses : CP_SIM_dtlb_load_misses,
			store ? CP_SIM_dtlb_store_walks : CP_SIM_dtlb_load_walks);
		w = l1d_line(s, c, line, kind);
		if (store)
			modify(s, c, w);
	}
}

void ref_code(struct ref_system *s, int core, uint64_t line)
{
	struct ref_core *c = &s->core[core];
	struct ref_way *w;

	c->count[CP_SIM_instructions]++;
	if (line == c->last_line)
		return;
	c->last_line = line;
	c->count[CP_SIM_l1i_accesses]++;
	translate(s, c, &c->itlb, line, CP_SIM_itlb_misses, CP_SIM_itlb_walks);
	w = find(&c->l1i, line);
	if (w) {
		w->used = ++s->now;
		return;
	}
	c->count[CP_SIM_l1i_misses]++;
	fetch(s, c, line, IFETCH);
	put(s, victim(&c->l1i, line), line, 0, 0);
}
