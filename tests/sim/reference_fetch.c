/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines that come into a cache of the reference, and what other cores are told.
 */
#include "reference_parts.h"

/* ---- other cores ---- */

enum { PRESENT, DIRTY };

/* One cache is told of an access to [addr, addr + bytes). */
static void tell(struct ref_core *by, struct ref_cache *c, uint64_t addr, uint64_t bytes,
	enum access kind, int *found)
{
	if (!c->g.sets)
		return;
	for (uint64_t a = addr; a < addr + bytes; a += c->line) {
		struct ref_way *w = ref_find(c, a);

		if (!w)
			continue;
		found[PRESENT] = 1;
		found[DIRTY] |= w->dirty;
		w->dirty = w->half[0] = w->half[1] = 0;
		if (kind == STORE)
			ref_leave(by, c, w);
	}
}

static void count_told(struct ref_core *c, enum access kind, const int found[2])
{
	c->count[CP_SIM_hitm] += (uint64_t)found[DIRTY];
	c->count[CP_SIM_invalidations] += kind == STORE && found[PRESENT];
}

void ref_tell_siblings(
	struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind)
{
	/* The newest core first, as the cluster lists them. */
	for (int i = s->ncores - 1; i >= 0; i--) {
		struct ref_core *other = &s->core[i];
		int found[2] = {0, 0};

		if (other == c || other->cluster != c->cluster)
			continue;
		addr = addr / c->l1d.line * c->l1d.line;
		tell(c, &other->l1d, addr, c->l1d.line, kind, found);
		if (found[DIRTY])
			ref_l2_victim(s, c, addr, 1);
		count_told(c, kind, found);
	}
}

int ref_tell_others(
	struct ref_system *s, struct ref_core *c, uint64_t addr, enum access kind)
{
	uint64_t granule = ref_granule_of(s, c);
	int modified = 0;

	addr = addr / granule * granule;
	for (int cluster = REF_CORES - 1; cluster >= 0; cluster--) {
		int found[2] = {0, 0}, socket = c->socket;

		if (cluster == c->cluster)
			continue;
		for (int i = 0; i < s->ncores; i++) {
			struct ref_core *other = &s->core[i];

			if (other->cluster != cluster)
				continue;
			socket = other->socket;
			tell(c, &other->l1d, addr, granule, kind, found);
			if (ref_is_exclusive(ref_l2_of(s, c)))
				tell(c, &other->l1i, addr, granule, kind, found);
		}
		tell(c, &s->l2[cluster], addr, granule, kind, found);
		if (found[DIRTY])
			ref_llc_victim(s, c, addr, 1);
		count_told(c, kind, found);
		c->count[CP_SIM_remote_hitm] += found[DIRTY] && socket != c->socket;
		modified |= found[DIRTY] << (socket != c->socket);
	}
	for (int group = 0; group < REF_CORES; group++) {
		int found[2] = {0, 0}, far;

		if (group == c->group || !s->m.llc.shared)
			continue;
		tell(c, &s->llc[group], addr, granule, kind, found);
		if (!found[DIRTY])
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
		*seen = ref_first_use(c, l2, w);
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
	*seen = 1;
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
		ref_leave(c, l1, w);
		if (w->dirty)
			ref_count_l1d_writeback(c, l1, w);
		ref_l2_victim(s, c, w->key * l1->line, w->dirty);
	}
	ref_put(s, l1, w, addr, dirty, prefetched);
}
