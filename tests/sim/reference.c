/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * No filters, no vectors, no shortcuts, no ownership: every cache is searched
 * from end to end, and all other cores are asked each time.  Byte addresses
 * throughout.  The rules are those of tools/sim/flex/flex.h.
 */
#include <stdlib.h>
#include <string.h>
#include "reference_parts.h"

#define AREA (2ull << 20)

/* ---- the system ---- */

static uint64_t line_of(const struct machine *m, const struct geometry *g)
{
	return g->line ? g->line : m->line;
}

/* Where it stands among all cores: those of a socket are together. */
static int place_of(const struct machine *m, int i)
{
	int sockets = (int)m->sockets.sockets;

	if (sockets <= 1 || m->sockets.close)
		return i;
	return i % sockets * ((int)m->cores / sockets) + i / sockets;
}

void ref_init(struct ref_system *s, const struct machine *m, int ncores)
{
	memset(s, 0, sizeof(*s));
	s->m = *m;
	s->ncores = ncores;
	s->home = calloc(REF_PAGES, sizeof(*s->home));
	for (int i = 0; i < REF_CORES; i++) {
		ref_make(&s->llc[i], &m->llc, line_of(m, &m->llc));
		ref_make(&s->l2[i], &m->l2, line_of(m, &m->l2));
		s->l2[i].useless = CP_SIM_l2_prefetches_useless;
	}
	for (int i = 0; i < ncores; i++) {
		struct ref_core *c = &s->core[i];
		int place = place_of(m, i);

		ref_make(&c->l1i, &m->l1i, line_of(m, &m->l1i));
		ref_make(&c->l1d, &m->l1d, line_of(m, &m->l1d));
		c->l1i.useless = CP_SIM_l1i_prefetches_useless;
		c->l1d.useless = CP_SIM_l1d_prefetches_useless;
		ref_make(&c->itlb, &m->itlb, m->page);
		ref_make(&c->dtlb, &m->dtlb, m->page);
		ref_make(&c->stlb, &m->stlb, m->page);
		ref_make(&c->itlb2, &m->itlb2, m->page);
		ref_make(&c->dtlb2, &m->dtlb2, m->page);
		ref_make(&c->itlb_2m, &m->itlb_2m, AREA);
		ref_make(&c->dtlb_2m, &m->dtlb_2m, AREA);
		ref_make(&c->stlb_2m, &m->stlb_2m, AREA);
		ref_make(&c->itlb2_2m, &m->itlb2_2m, AREA);
		ref_make(&c->dtlb2_2m, &m->dtlb2_2m, AREA);
		c->last_code = NO_LINE;
		c->cluster = place / (m->l2.shared > 1 ? (int)m->l2.shared : 1);
		c->group = m->llc.shared ? place / (int)m->llc.shared : 0;
		if (m->sockets.sockets > 1)
			c->socket = place / (int)(m->cores / m->sockets.sockets);
	}
}

void ref_free(struct ref_system *s)
{
	free(s->home);
	for (int i = 0; i < REF_CORES; i++) {
		ref_unmake(&s->llc[i]);
		ref_unmake(&s->l2[i]);
	}
	for (int i = 0; i < s->ncores; i++) {
		ref_unmake(&s->core[i].l1i);
		ref_unmake(&s->core[i].l1d);
		ref_unmake(&s->core[i].itlb);
		ref_unmake(&s->core[i].dtlb);
		ref_unmake(&s->core[i].stlb);
		ref_unmake(&s->core[i].itlb2);
		ref_unmake(&s->core[i].dtlb2);
		ref_unmake(&s->core[i].itlb_2m);
		ref_unmake(&s->core[i].dtlb_2m);
		ref_unmake(&s->core[i].stlb_2m);
		ref_unmake(&s->core[i].itlb2_2m);
		ref_unmake(&s->core[i].dtlb2_2m);
	}
}

/* ---- references ---- */

/* Where an array of small pages has the huge one around addr: as the small one whose
 * place in it is the lowest bits of its number. */
static uint64_t stand_in(uint64_t addr)
{
	return addr / AREA * AREA + addr / AREA % 512 * 4096;
}

static struct ref_way *find_page(struct ref_cache *tlb, uint64_t addr, int huge)
{
	struct ref_way *w;

	if (!tlb->g.sets)
		return NULL;
	w = &tlb->way[ref_set_of(tlb, addr) * tlb->g.ways];
	for (uint32_t i = 0; i < tlb->g.ways; i++)
		if (w[i].valid && w[i].key == addr / tlb->line && w[i].huge == huge)
			return &w[i];
	return NULL;
}

static int page_there(
	struct ref_system *s, struct ref_cache *tlb, uint64_t addr, int huge)
{
	struct ref_way *w = find_page(tlb, addr, huge);

	if (w) {
		ref_use(s, tlb, w);
	} else if (tlb->g.sets) {
		w = ref_victim(tlb, addr);
		ref_put(s, tlb, w, addr, 0, 0);
		w->huge = huge;
		return 0;
	}
	return w != NULL;
}

static int huge_there(struct ref_system *s, struct ref_cache *own,
	struct ref_cache *common, uint64_t addr)
{
	if (own->g.sets || own->g.absent)
		return page_there(s, own, addr, 1);
	return page_there(s, common, stand_in(addr), 1);
}

static void drop_from(struct ref_cache *tlb, uint64_t addr, int huge)
{
	for (uint32_t i = 0; i < tlb->g.sets * tlb->g.ways; i++)
		if (tlb->way[i].key * tlb->line / AREA == addr / AREA &&
			tlb->way[i].huge == huge)
			tlb->way[i].valid = 0;
}

/* All pages of an area, small or huge. */
static void drop_pages(struct ref_system *s, uint64_t addr, int huge)
{
	for (int i = 0; i < s->ncores; i++) {
		struct ref_core *c = &s->core[i];
		struct ref_cache *tlbs[] = {&c->itlb, &c->dtlb, &c->stlb, &c->itlb2,
			&c->dtlb2, &c->itlb_2m, &c->dtlb_2m, &c->stlb_2m, &c->itlb2_2m,
			&c->dtlb2_2m};

		for (int k = 0; k < 10; k++)
			drop_from(tlbs[k], addr, huge);
	}
}

static struct ref_area *area_of(struct ref_system *s, uint64_t addr)
{
	for (int i = 0; i < s->nareas; i++)
		if (s->area[i].number == addr / AREA)
			return &s->area[i];
	if (s->nareas == REF_AREAS)
		abort();
	s->area[s->nareas] = (struct ref_area){addr / AREA, HUGE_ABSENT};
	return &s->area[s->nareas++];
}

static int is_huge(struct ref_system *s, uint64_t addr)
{
	struct ref_area *a;

	if (!s->ask || s->m.page != 4096 || s->m.itlb_2m.absent || s->m.dtlb_2m.absent)
		return 0;
	a = area_of(s, addr);
	if (a->state == HUGE_ABSENT) {
		a->state = s->ask(addr);
		if (a->state == HUGE_ONE)
			drop_pages(s, addr, 0);
	}
	return a->state == HUGE_ONE;
}

void ref_forget(struct ref_system *s, uint64_t addr)
{
	struct ref_area *a = area_of(s, addr);

	if (a->state == HUGE_ONE)
		drop_pages(s, addr, 1);
	a->state = HUGE_ABSENT;
}

void ref_notice(struct ref_system *s, uint64_t addr)
{
	(void)is_huge(s, addr);
}

static void translate(struct ref_system *s, struct ref_core *c, uint64_t addr, int code,
	int misses, int walks)
{
	struct ref_cache *first = code ? &c->itlb : &c->dtlb;
	struct ref_cache *second = code ? &c->itlb2 : &c->dtlb2;
	struct ref_cache *huge = code ? &c->itlb2_2m : &c->dtlb2_2m;

	if (!second->g.sets) {
		second = &c->stlb;
		huge = &c->stlb_2m;
	}
	if (!find_page(first, addr, 0) && is_huge(s, addr)) {
		if (huge_there(s, code ? &c->itlb_2m : &c->dtlb_2m, first, addr))
			return;
		c->count[misses]++;
		if (!huge_there(s, huge, second, addr))
			c->count[walks]++;
		return;
	}
	if (page_there(s, first, addr, 0))
		return;
	c->count[misses]++;
	if (!page_there(s, second, addr, 0))
		c->count[walks]++;
}

void ref_translate_store(struct ref_system *s, struct ref_core *c, uint64_t addr)
{
	translate(s, c, addr, 0, CP_SIM_dtlb_store_pages, CP_SIM_dtlb_store_walks);
}

void ref_translate_load(struct ref_system *s, struct ref_core *c, uint64_t addr)
{
	translate(s, c, addr, 0, CP_SIM_dtlb_load_pages, CP_SIM_dtlb_load_walks);
}

static void store_into(
	struct ref_system *s, struct ref_core *c, struct ref_way *w, uint64_t addr)
{
	ref_tell_siblings(s, c, addr, STORE);
	ref_tell_others(s, c, addr, STORE);
	if (c->l1d.g.write_through) {
		c->count[CP_SIM_l1d_writes_through]++;
		ref_l2_store(s, c, addr);
	} else {
		w->dirty = 1;
		w->half[addr % c->l1d.line >= c->l1d.line / 2] = 1;
	}
}

static void one_unit(
	struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind)
{
	struct ref_cache *l1d = &c->l1d;
	struct ref_way *w;
	int store = kind == STORE, seen = 0, train_l1 = 1, dirty;

	ref_touch_page(s, c, addr);
	translate(s, c, addr, 0, store ? CP_SIM_dtlb_store_pages : CP_SIM_dtlb_load_pages,
		store ? CP_SIM_dtlb_store_walks : CP_SIM_dtlb_load_walks);
	w = ref_find(l1d, addr);
	if (w) {
		ref_use(s, l1d, w);
		train_l1 = ref_first_use(c, l1d, w);
	} else {
		c->count[store ? CP_SIM_l1d_store_lines : CP_SIM_l1d_load_lines]++;
		if (store && l1d->g.no_allocate) {
			ref_tell_siblings(s, c, addr, STORE);
			ref_tell_others(s, c, addr, STORE);
			c->count[CP_SIM_l1d_writes_through]++;
			ref_l2_store(s, c, addr);
			return;
		}
		c->count[CP_SIM_l1d_fills]++;
		dirty = ref_fetch(s, c, addr, kind, &seen);
		ref_l1_put(s, c, l1d, addr, dirty, 0);
		w = ref_find(l1d, addr);
	}
	if (store)
		store_into(s, c, w, addr);
	if (seen)
		ref_train(s, c, L2, addr, kind);
	if (train_l1)
		ref_train(s, c, L1D, addr, kind);
}

/* How many lines or pages a level was asked for and had not, and the references that
 * missed it; of stores the next ones. */
static const struct {
	int lines, misses;
} missable[] = {
	{CP_SIM_l1d_load_lines, CP_SIM_l1d_load_misses},
	{CP_SIM_l2_load_lines, CP_SIM_l2_load_misses},
	{CP_SIM_llc_load_lines, CP_SIM_llc_load_misses},
	{CP_SIM_dtlb_load_pages, CP_SIM_dtlb_load_misses},
};
#define NMISSABLE ((int)(sizeof(missable) / sizeof(missable[0])))

static void note_lines(
	const struct ref_core *c, enum access kind, uint64_t before[NMISSABLE])
{
	for (int i = 0; i < NMISSABLE; i++)
		before[i] = c->count[missable[i].lines + (kind == STORE)];
}

static void count_reference(
	struct ref_core *c, enum access kind, const uint64_t before[NMISSABLE])
{
	for (int i = 0; i < NMISSABLE; i++)
		if (c->count[missable[i].lines + (kind == STORE)] != before[i])
			c->count[missable[i].misses + (kind == STORE)]++;
}

void ref_data(
	struct ref_system *s, int core, uint64_t addr, uint32_t size, enum access kind)
{
	struct ref_core *c = &s->core[core];
	uint64_t before[NMISSABLE];

	note_lines(c, kind, before);
	c->count[kind == STORE ? CP_SIM_l1d_stores : CP_SIM_l1d_loads]++;
	for (uint64_t u = addr / s->m.line; u <= (addr + size - 1) / s->m.line; u++)
		one_unit(s, c, u * s->m.line, kind);
	count_reference(c, kind, before);
}

void ref_bypass(struct ref_system *s, int core, uint64_t addr, uint32_t size)
{
	struct ref_core *c = &s->core[core];
	uint64_t before[NMISSABLE];
	int seen;

	note_lines(c, LOAD, before);
	c->count[CP_SIM_l1d_loads]++;
	for (uint64_t u = addr / s->m.line; u <= (addr + size - 1) / s->m.line; u++) {
		ref_touch_page(s, c, u * s->m.line);
		translate(s, c, u * s->m.line, 0, CP_SIM_dtlb_load_pages,
			CP_SIM_dtlb_load_walks);
		c->count[CP_SIM_l1d_bypasses]++;
		ref_fetch(s, c, u * s->m.line, LOAD, &seen);
		if (seen)
			ref_train(s, c, L2, u * s->m.line, LOAD);
	}
	count_reference(c, LOAD, before);
}

void ref_code(struct ref_system *s, int core, uint64_t unit)
{
	struct ref_core *c = &s->core[core];
	uint64_t addr = unit * s->m.line;
	struct ref_way *w;
	int seen = 0, train_l1 = 1;

	c->count[CP_SIM_instructions]++;
	if (addr / c->l1i.line == c->last_code)
		return;
	c->last_code = addr / c->l1i.line;
	c->count[CP_SIM_l1i_accesses]++;
	ref_touch_page(s, c, addr);
	translate(s, c, addr, 1, CP_SIM_itlb_misses, CP_SIM_itlb_walks);
	w = ref_find(&c->l1i, addr);
	if (w) {
		ref_use(s, &c->l1i, w);
		train_l1 = ref_first_use(c, &c->l1i, w);
	} else {
		c->count[CP_SIM_l1i_misses]++;
		ref_fetch(s, c, addr, IFETCH, &seen);
		ref_l1_put(s, c, &c->l1i, addr, 0, 0);
	}
	if (seen)
		ref_train(s, c, L2, addr, IFETCH);
	if (train_l1)
		ref_train(s, c, L1I, addr, IFETCH);
}
