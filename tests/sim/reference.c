/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * No filters, no vectors, no shortcuts, no ownership: every cache is searched
 * from end to end, and all other cores are asked each time.  Byte addresses
 * throughout.  The rules are those of tools/sim/flex/flex.h.
 */
#include <stdlib.h>
#include <string.h>
#include "reference.h"

#define AREA (2ull << 20)

/* ---- one cache ---- */

static void make(struct ref_cache *c, const struct geometry *g, uint64_t line)
{
	c->g = *g;
	c->line = line;
	c->way = calloc((size_t)g->sets * g->ways + 1, sizeof(*c->way));
	c->tree = calloc((size_t)g->sets + 1, 256);
	c->turn = calloc((size_t)g->sets + 1, sizeof(*c->turn));
	c->random = g->seed ? g->seed : 0x9e3779b97f4a7c15ull;
}

static void unmake(struct ref_cache *c)
{
	free(c->way);
	free(c->tree);
	free(c->turn);
}

static uint64_t set_of(const struct ref_cache *c, uint64_t addr)
{
	return addr / c->line % c->g.sets;
}

static struct ref_way *find(struct ref_cache *c, uint64_t addr)
{
	struct ref_way *w;

	if (!c->g.sets)
		return NULL;
	w = &c->way[set_of(c, addr) * c->g.ways];
	for (uint32_t i = 0; i < c->g.ways; i++)
		if (w[i].valid && w[i].key == addr / c->line)
			return &w[i];
	return NULL;
}

/* The ways [low, high) are a subtree, named like a heap's nodes from 1. */
static void point_away(
	uint8_t *tree, uint32_t node, uint32_t low, uint32_t high, uint32_t way)
{
	uint32_t middle = (low + high) / 2;

	if (high - low == 1)
		return;
	if (way < middle) {
		tree[node] = 1;
		point_away(tree, 2 * node, low, middle, way);
	} else {
		tree[node] = 0;
		point_away(tree, 2 * node + 1, middle, high, way);
	}
}

static uint32_t pointed_at(
	const uint8_t *tree, uint32_t node, uint32_t low, uint32_t high)
{
	uint32_t middle = (low + high) / 2;

	if (high - low == 1)
		return low;
	return tree[node] ? pointed_at(tree, 2 * node + 1, middle, high)
			  : pointed_at(tree, 2 * node, low, middle);
}

static void use(struct ref_system *s, struct ref_cache *c, struct ref_way *w)
{
	size_t n = (size_t)(w - c->way);

	w->used = ++s->now;
	if (c->g.policy == POLICY_PLRU)
		point_away(&c->tree[n / c->g.ways * 256], 1, 0, c->g.ways,
			(uint32_t)(n % c->g.ways));
}

static uint32_t next_random(struct ref_cache *c)
{
	uint64_t x = c->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	c->random = x;
	return (uint32_t)((x >> 16) % c->g.ways);
}

static struct ref_way *victim(struct ref_cache *c, uint64_t addr)
{
	uint64_t set = set_of(c, addr);
	struct ref_way *w = &c->way[set * c->g.ways], *oldest = w;

	for (uint32_t i = 0; i < c->g.ways; i++)
		if (!w[i].valid)
			return &w[i];
	switch (c->g.policy) {
	case POLICY_PLRU:
		return &w[pointed_at(&c->tree[set * 256], 1, 0, c->g.ways)];
	case POLICY_ROUND_ROBIN:
		return &w[c->turn[set]++ % c->g.ways];
	case POLICY_RANDOM:
		return &w[next_random(c)];
	default:
		for (uint32_t i = 0; i < c->g.ways; i++)
			if (w[i].used < oldest->used)
				oldest = &w[i];
		return oldest;
	}
}

static void put(struct ref_system *s, struct ref_cache *c, struct ref_way *w,
	uint64_t addr, int dirty, int prefetched)
{
	*w = (struct ref_way){addr / c->line, 0, 1, dirty, prefetched, 0, {dirty, dirty}};
	use(s, c, w);
}

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
		make(&s->llc[i], &m->llc, line_of(m, &m->llc));
		make(&s->l2[i], &m->l2, line_of(m, &m->l2));
	}
	for (int i = 0; i < ncores; i++) {
		struct ref_core *c = &s->core[i];
		int place = place_of(m, i);

		make(&c->l1i, &m->l1i, line_of(m, &m->l1i));
		make(&c->l1d, &m->l1d, line_of(m, &m->l1d));
		make(&c->itlb, &m->itlb, m->page);
		make(&c->dtlb, &m->dtlb, m->page);
		make(&c->stlb, &m->stlb, m->page);
		make(&c->itlb2, &m->itlb2, m->page);
		make(&c->dtlb2, &m->dtlb2, m->page);
		make(&c->itlb_2m, &m->itlb_2m, AREA);
		make(&c->dtlb_2m, &m->dtlb_2m, AREA);
		make(&c->stlb_2m, &m->stlb_2m, AREA);
		make(&c->itlb2_2m, &m->itlb2_2m, AREA);
		make(&c->dtlb2_2m, &m->dtlb2_2m, AREA);
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
		unmake(&s->llc[i]);
		unmake(&s->l2[i]);
	}
	for (int i = 0; i < s->ncores; i++) {
		unmake(&s->core[i].l1i);
		unmake(&s->core[i].l1d);
		unmake(&s->core[i].itlb);
		unmake(&s->core[i].dtlb);
		unmake(&s->core[i].stlb);
		unmake(&s->core[i].itlb2);
		unmake(&s->core[i].dtlb2);
		unmake(&s->core[i].itlb_2m);
		unmake(&s->core[i].dtlb_2m);
		unmake(&s->core[i].stlb_2m);
		unmake(&s->core[i].itlb2_2m);
		unmake(&s->core[i].dtlb2_2m);
	}
}

/* ---- sockets ---- */

/* The socket of the page, which the core touches. */
static int touch(struct ref_system *s, struct ref_core *c, uint64_t addr)
{
	uint64_t number = addr / s->m.page + 1;
	uint32_t i = (uint32_t)(number * 40503 % REF_PAGES);

	while (s->home[i].number && s->home[i].number != number)
		i = (i + 1) % REF_PAGES;
	if (!s->home[i].number) {
		s->home[i].number = number;
		s->home[i].socket = c->socket;
	}
	return s->home[i].socket;
}

/* Steps from one to the other, either way round if they stand in a ring; two is as far
 * as it gets. */
static int hops(const struct sockets *s, int from, int to)
{
	int n = (int)s->sockets;

	if (from == to)
		return 0;
	return !s->ring || (from + 1) % n == to || (to + 1) % n == from ? 1 : 2;
}

static struct ref_cache *l2_of(struct ref_system *s, struct ref_core *c)
{
	return &s->l2[c->cluster];
}

static struct ref_cache *llc_of(struct ref_system *s, struct ref_core *c)
{
	return &s->llc[c->group];
}

static int is_exclusive(const struct ref_cache *c)
{
	return c->g.sets && c->g.inclusion == EXCLUSIVE;
}

/* ---- lines that leave ---- */

static void count_l1d_writeback(
	struct ref_core *c, const struct ref_cache *l1d, const struct ref_way *w)
{
	c->count[CP_SIM_l1d_writebacks]++;
	if (l1d->g.halves)
		c->count[CP_SIM_l1d_half_writebacks] +=
			(uint64_t)(w->half[0] + w->half[1]);
}

/* An outer level evicts [addr, addr + bytes): one inner cache loses it. */
static int purge(struct ref_core *c, struct ref_cache *inner, uint64_t addr,
	uint64_t bytes, int is_l1d, int is_l2)
{
	int dirty = 0;

	for (uint64_t a = addr; a < addr + bytes; a += inner->line) {
		struct ref_way *w = find(inner, a);

		if (!w)
			continue;
		c->count[CP_SIM_back_invalidations]++;
		if (w->dirty && is_l1d)
			count_l1d_writeback(c, inner, w);
		if (w->dirty && is_l2)
			c->count[CP_SIM_l2_writebacks]++;
		dirty |= w->dirty;
		w->valid = 0;
	}
	return dirty;
}

/* cluster < 0: all around the last level */
static int purge_l1s(struct ref_system *s, struct ref_core *c, int cluster, uint64_t addr,
	uint64_t bytes)
{
	int dirty = 0;

	for (int i = 0; i < s->ncores; i++) {
		if (s->core[i].group != c->group ||
			(cluster >= 0 && s->core[i].cluster != cluster))
			continue;
		dirty |= purge(c, &s->core[i].l1d, addr, bytes, 1, 0);
		purge(c, &s->core[i].l1i, addr, bytes, 0, 0);
	}
	return dirty;
}

/* Of the same group: cluster i has an L2 if its first core is there. */
static int purge_l2(struct ref_system *s, struct ref_core *c, int i, uint64_t addr)
{
	for (int n = 0; n < s->ncores; n++)
		if (s->core[n].cluster == i && s->core[n].group == c->group)
			return purge(c, &s->l2[i], addr, llc_of(s, c)->line, 0, 1);
	return 0;
}

static void llc_put(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty)
{
	struct ref_way *w = victim(llc_of(s, c), addr);

	if (w->valid) {
		uint64_t old = w->key * llc_of(s, c)->line;
		int old_dirty = w->dirty;

		if (llc_of(s, c)->g.inclusion == INCLUSIVE) {
			old_dirty |= purge_l1s(s, c, -1, old, llc_of(s, c)->line);
			for (int i = 0; i < s->ncores; i++)
				old_dirty |= purge_l2(s, c, i, old);
		}
		c->count[CP_SIM_llc_writebacks] += old_dirty != 0;
	}
	c->count[CP_SIM_llc_fills]++;
	put(s, llc_of(s, c), w, addr, dirty, 0);
}

static int llc_dirty(struct ref_system *s, struct ref_core *c)
{
	c->count[CP_SIM_llc_writes_through] += llc_of(s, c)->g.write_through;
	return !llc_of(s, c)->g.write_through;
}

static void llc_victim(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty)
{
	struct ref_way *w = find(llc_of(s, c), addr);

	if (!llc_of(s, c)->g.sets)
		return;
	if (!dirty) {
		if (!w)
			llc_put(s, c, addr, 0);
	} else if (w) {
		w->dirty |= llc_dirty(s, c);
	} else if (llc_of(s, c)->g.no_allocate) {
		c->count[CP_SIM_llc_writes_through]++;
	} else {
		llc_put(s, c, addr, llc_dirty(s, c));
	}
}

static void llc_store(struct ref_system *s, struct ref_core *c, uint64_t addr)
{
	struct ref_way *w = find(llc_of(s, c), addr);

	if (!llc_of(s, c)->g.sets)
		return;
	c->count[CP_SIM_llc_accesses]++;
	if (w) {
		use(s, llc_of(s, c), w);
		w->dirty |= llc_dirty(s, c);
		return;
	}
	c->count[CP_SIM_llc_store_lines]++;
	if (llc_of(s, c)->g.no_allocate)
		c->count[CP_SIM_llc_writes_through]++;
	else
		llc_put(s, c, addr, llc_dirty(s, c));
}

/* Returns whether the only copy, a modified one, has left.  keeps: the receiver can
 * keep such, and no other core has a copy. */
static int llc_get(struct ref_system *s, struct ref_core *c, uint64_t addr,
	enum access kind, int keeps, int alone)
{
	struct ref_way *w = find(llc_of(s, c), addr);

	if (!llc_of(s, c)->g.sets)
		return 0;
	c->count[CP_SIM_llc_accesses]++;
	if (!w) {
		c->count[CP_SIM_llc_ifetch_misses + kind]++;
		if (!is_exclusive(llc_of(s, c)))
			llc_put(s, c, addr, 0);
		return 0;
	}
	if (!is_exclusive(llc_of(s, c)) || !alone || (w->dirty && !keeps)) {
		use(s, llc_of(s, c), w);
		return 0;
	}
	w->valid = 0;
	return w->dirty;
}

/* Has the cache any line of [addr, addr + bytes)? */
static int has_any(struct ref_cache *c, uint64_t addr, uint64_t bytes)
{
	for (uint64_t a = addr; c->g.sets && a < addr + bytes; a += c->line)
		if (find(c, a))
			return 1;
	return 0;
}

/* Has the L1D of a core that shares our L2 the line? */
static int siblings_have(struct ref_system *s, const struct ref_core *c, uint64_t addr)
{
	for (int i = 0; i < s->ncores; i++) {
		struct ref_core *other = &s->core[i];

		if (other != c && other->cluster == c->cluster &&
			has_any(&other->l1d, addr / c->l1d.line * c->l1d.line,
				c->l1d.line))
			return 1;
	}
	return 0;
}

/* What other cores are told of at once: the longest line. */
static uint64_t granule_of(const struct ref_system *s, const struct ref_core *c)
{
	uint64_t granule = c->l1d.line;

	if (s->m.l2.sets && s->l2[0].line > granule)
		granule = s->l2[0].line;
	if (s->m.llc.shared && s->m.llc.sets && s->llc[0].line > granule)
		granule = s->llc[0].line;
	return granule;
}

static int others_have(struct ref_system *s, struct ref_core *c, uint64_t addr)
{
	uint64_t bytes = granule_of(s, c);
	int have = 0;

	addr = addr / bytes * bytes;
	for (int i = 0; i < s->ncores; i++) {
		struct ref_core *other = &s->core[i];

		if (other->cluster == c->cluster)
			continue;
		have |= has_any(&other->l1d, addr, bytes) ||
			has_any(l2_of(s, other), addr, bytes) ||
			(is_exclusive(l2_of(s, c)) && has_any(&other->l1i, addr, bytes));
		have |= other->group != c->group &&
			has_any(llc_of(s, other), addr, bytes);
	}
	return have;
}

/* Counts who has the line, and gets it from behind L2, for L2 or past it. */
static int get(struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind,
	int keeps, int modified, int into_l2)
{
	int in_llc = find(llc_of(s, c), addr) != NULL,
	    far = hops(&s->m.sockets, c->socket, touch(s, c, addr));
	static const int lines[] = {0, CP_SIM_one_hop_lines, CP_SIM_two_hop_lines},
			 loads[] = {0, CP_SIM_loads_one_hop, CP_SIM_loads_two_hop};

	if (modified && (in_llc || !s->m.llc.sets)) {
		c->count[CP_SIM_loads_cache_to_cache] += kind == LOAD;
		c->count[CP_SIM_loads_remote_cache] += kind == LOAD && modified > 1;
	} else if (!in_llc && far) {
		c->count[kind == PREFETCH ? CP_SIM_remote_prefetches : lines[far]]++;
		if (kind == LOAD)
			c->count[loads[far]]++;
	}
	return llc_get(s, c, addr, kind, keeps,
		!others_have(s, c, addr) && (into_l2 || !siblings_have(s, c, addr)));
}

static void l2_put(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty,
	int prefetched)
{
	struct ref_cache *l2 = l2_of(s, c);
	struct ref_way *w = victim(l2, addr);

	if (w->valid) {
		uint64_t old = w->key * l2->line;
		int old_dirty = w->dirty;

		if (l2->g.inclusion == INCLUSIVE)
			old_dirty |= purge_l1s(s, c, c->cluster, old, l2->line);
		c->count[CP_SIM_l2_writebacks] += old_dirty != 0;
		if (old_dirty || is_exclusive(llc_of(s, c)))
			llc_victim(s, c, old, old_dirty);
	}
	c->count[CP_SIM_l2_fills]++;
	put(s, l2, w, addr, dirty, prefetched);
}

static int l2_dirty(struct ref_system *s, struct ref_core *c)
{
	int through = l2_of(s, c)->g.write_through;

	c->count[CP_SIM_l2_writes_through] += (uint64_t)through;
	return !through;
}

/* L1 evicts a line. */
static void l2_victim(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty)
{
	struct ref_cache *l2 = l2_of(s, c);
	struct ref_way *w = find(l2, addr);
	int stays;

	if (!l2->g.sets) {
		if (dirty || is_exclusive(llc_of(s, c)))
			llc_victim(s, c, addr, dirty);
		return;
	}
	if (!dirty) {
		if (is_exclusive(l2) && !w)
			l2_put(s, c, addr, 0, 0);
		return;
	}
	if (!w && l2->g.no_allocate) {
		c->count[CP_SIM_l2_writes_through]++;
		llc_victim(s, c, addr, 1);
		return;
	}
	stays = l2_dirty(s, c);
	if (!stays)
		llc_victim(s, c, addr, 1);
	if (w)
		w->dirty |= stays;
	else
		l2_put(s, c, addr, stays, 0);
}

/* L1D passes a store on. */
static void l2_store(struct ref_system *s, struct ref_core *c, uint64_t addr)
{
	struct ref_cache *l2 = l2_of(s, c);
	struct ref_way *w = find(l2, addr);
	int dirty = 0, stays;

	if (!l2->g.sets) {
		llc_store(s, c, addr);
		return;
	}
	c->count[CP_SIM_l2_accesses]++;
	if (!w) {
		c->count[CP_SIM_l2_store_lines]++;
		if (l2->g.no_allocate) {
			c->count[CP_SIM_l2_writes_through]++;
			llc_store(s, c, addr);
			return;
		}
		c->count[CP_SIM_beyond_l2_lines]++;
		dirty = get(s, c, addr, STORE, 1, 0, 1);
	} else {
		use(s, l2, w);
		w->prefetched = 0;
	}
	stays = l2_dirty(s, c);
	if (!stays)
		llc_store(s, c, addr);
	if (w)
		w->dirty |= stays;
	else
		l2_put(s, c, addr, dirty | stays, 0);
}

/* ---- other cores ---- */

/* One cache is told of an access to [addr, addr + bytes). */
static void tell(struct ref_cache *c, uint64_t addr, uint64_t bytes, enum access kind,
	int *present, int *dirty)
{
	if (!c->g.sets)
		return;
	for (uint64_t a = addr; a < addr + bytes; a += c->line) {
		struct ref_way *w = find(c, a);

		if (!w)
			continue;
		*present = 1;
		*dirty |= w->dirty;
		w->dirty = w->half[0] = w->half[1] = 0;
		w->valid = kind != STORE;
	}
}

static void count_told(struct ref_core *c, enum access kind, int present, int dirty)
{
	c->count[CP_SIM_hitm] += (uint64_t)dirty;
	c->count[CP_SIM_invalidations] += kind == STORE && present;
}

static void tell_siblings(
	struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind)
{
	/* The newest core first, as the cluster lists them. */
	for (int i = s->ncores - 1; i >= 0; i--) {
		struct ref_core *other = &s->core[i];
		int present = 0, dirty = 0;

		if (other == c || other->cluster != c->cluster)
			continue;
		addr = addr / c->l1d.line * c->l1d.line;
		tell(&other->l1d, addr, c->l1d.line, kind, &present, &dirty);
		if (dirty)
			l2_victim(s, c, addr, 1);
		count_told(c, kind, present, dirty);
	}
}

/* Returns whether any had it modified, past our L2: 2 and more, on another socket. */
static int tell_others(
	struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind)
{
	uint64_t granule = granule_of(s, c);
	int modified = 0;

	addr = addr / granule * granule;
	for (int cluster = REF_CORES - 1; cluster >= 0; cluster--) {
		int present = 0, dirty = 0, socket = c->socket;

		if (cluster == c->cluster)
			continue;
		for (int i = 0; i < s->ncores; i++) {
			struct ref_core *other = &s->core[i];

			if (other->cluster != cluster)
				continue;
			socket = other->socket;
			tell(&other->l1d, addr, granule, kind, &present, &dirty);
			if (is_exclusive(l2_of(s, c)))
				tell(&other->l1i, addr, granule, kind, &present, &dirty);
		}
		tell(&s->l2[cluster], addr, granule, kind, &present, &dirty);
		if (dirty)
			llc_victim(s, c, addr, 1);
		count_told(c, kind, present, dirty);
		c->count[CP_SIM_remote_hitm] += dirty && socket != c->socket;
		modified |= dirty << (socket != c->socket);
	}
	for (int group = 0; group < REF_CORES; group++) {
		int present = 0, dirty = 0, far;

		if (group == c->group || !s->m.llc.shared)
			continue;
		tell(&s->llc[group], addr, granule, kind, &present, &dirty);
		if (!dirty)
			continue;
		llc_victim(s, c, addr, 1);
		far = 0;
		for (int i = 0; i < s->ncores; i++)
			if (s->core[i].group == group)
				far = s->core[i].socket != c->socket;
		c->count[CP_SIM_remote_hitm] += (uint64_t)far;
		modified |= 1 << far;
	}
	return modified;
}

/* ---- prefetchers ---- */

enum { L1I, L1D, L2 };

static void prefetch_line(
	struct ref_system *s, struct ref_core *c, int level, uint64_t addr);

static struct ref_cache *level_of(struct ref_system *s, struct ref_core *c, int level)
{
	return level == L1I ? &c->l1i : level == L1D ? &c->l1d : l2_of(s, c);
}

static struct ref_stream *stream_of(struct ref_stream *all, uint64_t page)
{
	struct ref_stream *oldest = all;

	for (int i = 0; i < 16; i++)
		if (all[i].used && all[i].page == page)
			return &all[i];
	for (int i = 0; i < 16; i++)
		if (all[i].used < oldest->used)
			oldest = &all[i];
	memset(oldest, 0, sizeof(*oldest));
	oldest->page = page;
	return oldest;
}

/* Calls for a line if it is in the same page. */
static void maybe(
	struct ref_system *s, struct ref_core *c, int level, uint64_t from, int64_t lines)
{
	uint64_t line = level_of(s, c, level)->line,
		 addr = from / line * line + (uint64_t)lines * line;

	if (addr / s->m.page == from / s->m.page)
		prefetch_line(s, c, level, addr);
}

static void train(struct ref_system *s, struct ref_core *c, int level, uint64_t addr)
{
	const struct ref_cache *cache = level_of(s, c, level);
	struct ref_stream *st;
	uint64_t line = addr / cache->line;
	int64_t stride;
	int fresh;

	if (cache->g.prefetch == PREFETCH_NEXT_LINE)
		maybe(s, c, level, addr, 1);
	if (cache->g.prefetch != PREFETCH_STREAM)
		return;
	st = stream_of(c->stream[level], addr / s->m.page);
	fresh = !st->used;
	st->used = ++c->now;
	stride = (int64_t)(line - st->last);
	if (fresh || stride == 0) {
		st->last = line;
		return;
	}
	st->twice = stride == st->stride;
	st->stride = stride;
	st->last = line;
	for (uint32_t i = 0; st->twice && i < cache->g.degree; i++)
		maybe(s, c, level, addr, stride * (int64_t)(cache->g.distance + i));
}

/* ---- fetching ---- */

/* Returns whether L1 gets it modified.  *seen: L2's prefetcher is to know. */
static int fetch(struct ref_system *s, struct ref_core *c, uint64_t addr,
	enum access kind, int *seen)
{
	struct ref_cache *l2 = l2_of(s, c);
	struct ref_way *w;
	int dirty, modified;

	*seen = 0;
	c->count[CP_SIM_l2_accesses] += l2->g.sets != 0;
	tell_siblings(s, c, addr, kind);
	w = find(l2, addr);
	if (w) {
		use(s, l2, w);
		tell_others(s, c, addr, kind);
		if (kind != PREFETCH) {
			*seen = w->prefetched;
			w->prefetched = 0;
		}
		if (!is_exclusive(l2) || siblings_have(s, c, addr) ||
			(kind == IFETCH && w->dirty))
			return 0;
		w->valid = 0;
		return w->dirty;
	}
	c->count[CP_SIM_beyond_l2_lines]++;
	if (l2->g.sets)
		c->count[CP_SIM_l2_ifetch_misses + kind]++;
	modified = tell_others(s, c, addr, kind);
	if (!l2->g.sets)
		return get(s, c, addr, kind, kind != IFETCH, modified, 0);
	dirty = get(s, c, addr, kind, !is_exclusive(l2) || kind != IFETCH, modified,
		!is_exclusive(l2));
	*seen = kind != PREFETCH;
	if (is_exclusive(l2))
		return dirty;
	l2_put(s, c, addr, dirty, 0);
	return 0;
}

static void l1_put(struct ref_system *s, struct ref_core *c, struct ref_cache *l1,
	uint64_t addr, int dirty, int prefetched)
{
	struct ref_way *w = victim(l1, addr);

	if (w->valid) {
		if (w->dirty)
			count_l1d_writeback(c, l1, w);
		l2_victim(s, c, w->key * l1->line, w->dirty);
	}
	put(s, l1, w, addr, dirty, prefetched);
}

static void prefetch_line(
	struct ref_system *s, struct ref_core *c, int level, uint64_t addr)
{
	struct ref_cache *cache = level_of(s, c, level);
	int seen, dirty;

	if (find(cache, addr))
		return;
	c->count[level == L1I   ? CP_SIM_l1i_prefetches
		 : level == L1D ? CP_SIM_l1d_prefetches
				: CP_SIM_l2_prefetches]++;
	c->count[CP_SIM_l1d_fills] += level == L1D;
	c->count[CP_SIM_beyond_l2_lines] += level == L2;
	if (level == L2) {
		dirty = get(
			s, c, addr, PREFETCH, 1, tell_others(s, c, addr, PREFETCH), 1);
		l2_put(s, c, addr, dirty, 1);
	} else {
		dirty = fetch(s, c, addr, PREFETCH, &seen);
		l1_put(s, c, cache, addr, level == L1D ? dirty : 0, 1);
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
	w = &tlb->way[set_of(tlb, addr) * tlb->g.ways];
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
		use(s, tlb, w);
	} else if (tlb->g.sets) {
		w = victim(tlb, addr);
		put(s, tlb, w, addr, 0, 0);
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

static void store_into(
	struct ref_system *s, struct ref_core *c, struct ref_way *w, uint64_t addr)
{
	tell_siblings(s, c, addr, STORE);
	tell_others(s, c, addr, STORE);
	if (c->l1d.g.write_through) {
		c->count[CP_SIM_l1d_writes_through]++;
		l2_store(s, c, addr);
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

	touch(s, c, addr);
	translate(s, c, addr, 0, store ? CP_SIM_dtlb_store_pages : CP_SIM_dtlb_load_pages,
		store ? CP_SIM_dtlb_store_walks : CP_SIM_dtlb_load_walks);
	w = find(l1d, addr);
	if (w) {
		use(s, l1d, w);
		train_l1 = w->prefetched;
		w->prefetched = 0;
	} else {
		c->count[store ? CP_SIM_l1d_store_lines : CP_SIM_l1d_load_lines]++;
		if (store && l1d->g.no_allocate) {
			tell_siblings(s, c, addr, STORE);
			tell_others(s, c, addr, STORE);
			c->count[CP_SIM_l1d_writes_through]++;
			l2_store(s, c, addr);
			return;
		}
		c->count[CP_SIM_l1d_fills]++;
		dirty = fetch(s, c, addr, kind, &seen);
		l1_put(s, c, l1d, addr, dirty, 0);
		w = find(l1d, addr);
	}
	if (store)
		store_into(s, c, w, addr);
	if (seen)
		train(s, c, L2, addr);
	if (train_l1)
		train(s, c, L1D, addr);
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
		touch(s, c, u * s->m.line);
		translate(s, c, u * s->m.line, 0, CP_SIM_dtlb_load_pages,
			CP_SIM_dtlb_load_walks);
		c->count[CP_SIM_l1d_bypasses]++;
		fetch(s, c, u * s->m.line, LOAD, &seen);
		if (seen)
			train(s, c, L2, u * s->m.line);
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
	touch(s, c, addr);
	translate(s, c, addr, 1, CP_SIM_itlb_misses, CP_SIM_itlb_walks);
	w = find(&c->l1i, addr);
	if (w) {
		use(s, &c->l1i, w);
		train_l1 = w->prefetched;
		w->prefetched = 0;
	} else {
		c->count[CP_SIM_l1i_misses]++;
		fetch(s, c, addr, IFETCH, &seen);
		l1_put(s, c, &c->l1i, addr, 0, 0);
	}
	if (seen)
		train(s, c, L2, addr);
	if (train_l1)
		train(s, c, L1I, addr);
}
