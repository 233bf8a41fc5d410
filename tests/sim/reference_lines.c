/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines that leave a cache of the reference, and where they go.
 */
#include "reference_parts.h"

/* ---- sockets ---- */

int ref_touch_page(struct ref_system *s, struct ref_core *c, uint64_t addr)
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

int ref_hops(const struct sockets *s, int from, int to)
{
	int n = (int)s->sockets;

	if (from == to)
		return 0;
	return !s->ring || (from + 1) % n == to || (to + 1) % n == from ? 1 : 2;
}

struct ref_cache *ref_l2_of(struct ref_system *s, struct ref_core *c)
{
	return &s->l2[c->cluster];
}

struct ref_cache *ref_llc_of(struct ref_system *s, struct ref_core *c)
{
	return &s->llc[c->group];
}

int ref_is_exclusive(const struct ref_cache *c)
{
	return c->g.sets && c->g.inclusion == EXCLUSIVE;
}

/* ---- lines that leave ---- */

void ref_count_l1d_writeback(
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
		struct ref_way *w = ref_find(inner, a);

		if (!w)
			continue;
		c->count[CP_SIM_back_invalidations]++;
		if (w->dirty && is_l1d)
			ref_count_l1d_writeback(c, inner, w);
		if (w->dirty && is_l2)
			c->count[CP_SIM_l2_writebacks]++;
		dirty |= w->dirty;
		ref_leave(c, inner, w);
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

/* Purges L2s of the same group: cluster i has an L2 if its first core is there. */
static int purge_l2(struct ref_system *s, struct ref_core *c, int i, uint64_t addr)
{
	for (int n = 0; n < s->ncores; n++)
		if (s->core[n].cluster == i && s->core[n].group == c->group)
			return purge(c, &s->l2[i], addr, ref_llc_of(s, c)->line, 0, 1);
	return 0;
}

static void llc_put(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty)
{
	struct ref_way *w = ref_victim(ref_llc_of(s, c), addr);

	if (w->valid) {
		uint64_t old = w->key * ref_llc_of(s, c)->line;
		int old_dirty = w->dirty;

		if (ref_llc_of(s, c)->g.inclusion == INCLUSIVE) {
			old_dirty |= purge_l1s(s, c, -1, old, ref_llc_of(s, c)->line);
			for (int i = 0; i < REF_CORES; i++)
				old_dirty |= purge_l2(s, c, i, old);
		}
		c->count[CP_SIM_llc_writebacks] += old_dirty != 0;
	}
	c->count[CP_SIM_llc_fills]++;
	ref_put(s, ref_llc_of(s, c), w, addr, dirty, 0);
}

static int llc_dirty(struct ref_system *s, struct ref_core *c)
{
	c->count[CP_SIM_llc_writes_through] += ref_llc_of(s, c)->g.write_through;
	return !ref_llc_of(s, c)->g.write_through;
}

void ref_llc_victim(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty)
{
	struct ref_way *w = ref_find(ref_llc_of(s, c), addr);

	if (!ref_llc_of(s, c)->g.sets)
		return;
	if (!dirty) {
		if (!w)
			llc_put(s, c, addr, 0);
	} else if (w) {
		w->dirty |= llc_dirty(s, c);
	} else if (ref_llc_of(s, c)->g.no_allocate) {
		c->count[CP_SIM_llc_writes_through]++;
	} else {
		llc_put(s, c, addr, llc_dirty(s, c));
	}
}

static void llc_store(struct ref_system *s, struct ref_core *c, uint64_t addr)
{
	struct ref_way *w = ref_find(ref_llc_of(s, c), addr);

	if (!ref_llc_of(s, c)->g.sets)
		return;
	c->count[CP_SIM_llc_accesses]++;
	if (w) {
		ref_use(s, ref_llc_of(s, c), w);
		w->dirty |= llc_dirty(s, c);
		return;
	}
	c->count[CP_SIM_llc_store_lines]++;
	if (ref_llc_of(s, c)->g.no_allocate)
		c->count[CP_SIM_llc_writes_through]++;
	else
		llc_put(s, c, addr, llc_dirty(s, c));
}

/* Returns whether the only copy, a modified one, has left.  keeps: the receiver can
 * keep such, and no other core has a copy. */
static int llc_get(struct ref_system *s, struct ref_core *c, uint64_t addr,
	enum access kind, int keeps, int alone)
{
	struct ref_way *w = ref_find(ref_llc_of(s, c), addr);

	if (!ref_llc_of(s, c)->g.sets)
		return 0;
	c->count[CP_SIM_llc_accesses]++;
	if (!w) {
		c->count[CP_SIM_llc_ifetch_misses + kind]++;
		if (!ref_is_exclusive(ref_llc_of(s, c)))
			llc_put(s, c, addr, 0);
		return 0;
	}
	if (!ref_is_exclusive(ref_llc_of(s, c)) || !alone || (w->dirty && !keeps)) {
		ref_use(s, ref_llc_of(s, c), w);
		return 0;
	}
	w->valid = 0;
	return w->dirty;
}

/* Has the cache any line of [addr, addr + bytes)? */
static int has_any(struct ref_cache *c, uint64_t addr, uint64_t bytes)
{
	for (uint64_t a = addr; c->g.sets && a < addr + bytes; a += c->line)
		if (ref_find(c, a))
			return 1;
	return 0;
}

int ref_siblings_have(struct ref_system *s, const struct ref_core *c, uint64_t addr)
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

uint64_t ref_granule_of(const struct ref_system *s, const struct ref_core *c)
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
	uint64_t bytes = ref_granule_of(s, c);
	int have = 0;

	addr = addr / bytes * bytes;
	for (int i = 0; i < s->ncores; i++) {
		struct ref_core *other = &s->core[i];

		if (other->cluster == c->cluster)
			continue;
		have |= has_any(&other->l1d, addr, bytes) ||
			has_any(ref_l2_of(s, other), addr, bytes) ||
			(ref_is_exclusive(ref_l2_of(s, c)) &&
				has_any(&other->l1i, addr, bytes));
		have |= other->group != c->group &&
			has_any(ref_llc_of(s, other), addr, bytes);
	}
	return have;
}

int ref_get(struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind,
	int keeps, int modified, int into_l2)
{
	int in_llc = ref_find(ref_llc_of(s, c), addr) != NULL,
	    far = ref_hops(&s->m.sockets, c->socket, ref_touch_page(s, c, addr));
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
		!others_have(s, c, addr) && (into_l2 || !ref_siblings_have(s, c, addr)));
}

void ref_l2_put(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty,
	int prefetched)
{
	struct ref_cache *l2 = ref_l2_of(s, c);
	struct ref_way *w = ref_victim(l2, addr);

	if (w->valid) {
		uint64_t old = w->key * l2->line;
		int old_dirty = w->dirty;

		ref_leave(c, l2, w);
		if (l2->g.inclusion == INCLUSIVE)
			old_dirty |= purge_l1s(s, c, c->cluster, old, l2->line);
		c->count[CP_SIM_l2_writebacks] += old_dirty != 0;
		if (old_dirty || ref_is_exclusive(ref_llc_of(s, c)))
			ref_llc_victim(s, c, old, old_dirty);
	}
	c->count[CP_SIM_l2_fills]++;
	ref_put(s, l2, w, addr, dirty, prefetched);
}

static int l2_dirty(struct ref_system *s, struct ref_core *c)
{
	int through = ref_l2_of(s, c)->g.write_through;

	c->count[CP_SIM_l2_writes_through] += (uint64_t)through;
	return !through;
}

void ref_l2_victim(struct ref_system *s, struct ref_core *c, uint64_t addr, int dirty)
{
	struct ref_cache *l2 = ref_l2_of(s, c);
	struct ref_way *w = ref_find(l2, addr);
	int stays;

	if (!l2->g.sets) {
		if (dirty || ref_is_exclusive(ref_llc_of(s, c)))
			ref_llc_victim(s, c, addr, dirty);
		return;
	}
	if (!dirty) {
		if (ref_is_exclusive(l2) && !w)
			ref_l2_put(s, c, addr, 0, 0);
		return;
	}
	if (!w && l2->g.no_allocate) {
		c->count[CP_SIM_l2_writes_through]++;
		ref_llc_victim(s, c, addr, 1);
		return;
	}
	stays = l2_dirty(s, c);
	if (!stays)
		ref_llc_victim(s, c, addr, 1);
	if (w)
		w->dirty |= stays;
	else
		ref_l2_put(s, c, addr, stays, 0);
}

void ref_l2_store(struct ref_system *s, struct ref_core *c, uint64_t addr)
{
	struct ref_cache *l2 = ref_l2_of(s, c);
	struct ref_way *w = ref_find(l2, addr);
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
		dirty = ref_get(s, c, addr, STORE, 1, 0, 1);
	} else {
		ref_use(s, l2, w);
		ref_first_use(c, l2, w);
	}
	stays = l2_dirty(s, c);
	if (!stays)
		llc_store(s, c, addr);
	if (w)
		w->dirty |= stays;
	else
		ref_l2_put(s, c, addr, dirty | stays, 0);
}
