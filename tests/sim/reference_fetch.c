/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines that come into a cache of the reference: what other cores are told, and what is
 * prefetched.
 */
#include <string.h>

#include "reference_parts.h"

/* ---- other cores ---- */

/* One cache is told of an access to [addr, addr + bytes). */
static void tell(struct ref_cache *c, uint64_t addr, uint64_t bytes, enum access kind,
	int *present, int *dirty)
{
	if (!c->g.sets)
		return;
	for (uint64_t a = addr; a < addr + bytes; a += c->line) {
		struct ref_way *w = ref_find(c, a);

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

void ref_tell_siblings(
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
			ref_l2_victim(s, c, addr, 1);
		count_told(c, kind, present, dirty);
	}
}

int ref_tell_others(
	struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind)
{
	uint64_t granule = ref_granule_of(s, c);
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
			if (ref_is_exclusive(ref_l2_of(s, c)))
				tell(&other->l1i, addr, granule, kind, &present, &dirty);
		}
		tell(&s->l2[cluster], addr, granule, kind, &present, &dirty);
		if (dirty)
			ref_llc_victim(s, c, addr, 1);
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
		ref_llc_victim(s, c, addr, 1);
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

static struct ref_cache *level_of(struct ref_system *s, struct ref_core *c, int level)
{
	return level == L1I ? &c->l1i : level == L1D ? &c->l1d : ref_l2_of(s, c);
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
		ref_prefetch_line(s, c, level, addr, 1);
}

void ref_train(struct ref_system *s, struct ref_core *c, int level, uint64_t addr)
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

int ref_fetch(struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind,
	int *seen)
{
	struct ref_cache *l2 = ref_l2_of(s, c);
	struct ref_way *w;
	int dirty, modified;

	*seen = 0;
	c->count[CP_SIM_l2_accesses] += l2->g.sets != 0;
	ref_tell_siblings(s, c, addr, kind);
	w = ref_find(l2, addr);
	if (w) {
		ref_use(s, l2, w);
		ref_tell_others(s, c, addr, kind);
		if (kind != PREFETCH) {
			*seen = w->prefetched;
			w->prefetched = 0;
		}
		if (!ref_is_exclusive(l2) || ref_siblings_have(s, c, addr) ||
			(kind == IFETCH && w->dirty))
			return 0;
		w->valid = 0;
		return w->dirty;
	}
	c->count[CP_SIM_beyond_l2_lines]++;
	if (l2->g.sets)
		c->count[CP_SIM_l2_ifetch_misses + kind]++;
	modified = ref_tell_others(s, c, addr, kind);
	if (!l2->g.sets)
		return ref_get(s, c, addr, kind, kind != IFETCH, modified, 0);
	dirty = ref_get(s, c, addr, kind, !ref_is_exclusive(l2) || kind != IFETCH,
		modified, !ref_is_exclusive(l2));
	*seen = kind != PREFETCH;
	if (ref_is_exclusive(l2))
		return dirty;
	ref_l2_put(s, c, addr, dirty, 0);
	return 0;
}

void ref_l1_put(struct ref_system *s, struct ref_core *c, struct ref_cache *l1,
	uint64_t addr, int dirty, int prefetched)
{
	struct ref_way *w = ref_victim(l1, addr);

	if (w->valid) {
		if (w->dirty)
			ref_count_l1d_writeback(c, l1, w);
		ref_l2_victim(s, c, w->key * l1->line, w->dirty);
	}
	ref_put(s, l1, w, addr, dirty, prefetched);
}

void ref_prefetch_line(struct ref_system *s, struct ref_core *c, int level, uint64_t addr,
	int by_hardware)
{
	struct ref_cache *cache = level_of(s, c, level);
	int seen, dirty;

	if (ref_find(cache, addr))
		return;
	c->count[CP_SIM_software_prefetch_lines] += !by_hardware;
	c->count[level == L1I   ? CP_SIM_l1i_prefetches
		 : level == L1D ? CP_SIM_l1d_prefetches
				: CP_SIM_l2_prefetches]++;
	c->count[CP_SIM_l1d_fills] += level == L1D;
	c->count[CP_SIM_beyond_l2_lines] += level == L2;
	if (level == L2) {
		dirty = ref_get(s, c, addr, PREFETCH, 1,
			ref_tell_others(s, c, addr, PREFETCH), 1);
		ref_l2_put(s, c, addr, dirty, by_hardware);
	} else {
		dirty = ref_fetch(s, c, addr, PREFETCH, &seen);
		ref_l1_put(s, c, cache, addr, level == L1D ? dirty : 0, by_hardware);
	}
}
