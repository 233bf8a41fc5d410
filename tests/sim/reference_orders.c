/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The orders to the reference's caches about lines (tools/sim/model/orders.h).
 */
#include <string.h>

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

static void obey(struct ref_core *by, const struct ref_cache *cache, struct ref_way *w,
	enum cache_order order)
{
	w->dirty = w->half[0] = w->half[1] = 0;
	if (order != ORDER_CLEAN)
		ref_leave(by, cache, w);
}

/* An order, and its place; streams: stored past the caches. */
struct ordered {
	struct ref_core *by;
	uint64_t addr, bytes;
	enum cache_order order;
	int streams;
};

/* Returns whether any line of [addr, addr + bytes) was modified. */
static int order_cache(struct ref_cache *cache, uint64_t addr, uint64_t bytes,
	const struct ordered *what, int is_l1d)
{
	int dirty = 0;

	for (uint64_t a = addr; cache->g.sets && a < addr + bytes; a += cache->line) {
		struct ref_way *w = ref_find(cache, a);

		if (!w)
			continue;
		if (w->dirty && is_l1d)
			ref_count_l1d_writeback(what->by, cache, w);
		dirty |= w->dirty;
		obey(what->by, cache, w, what->order);
	}
	return dirty;
}

static int has_any(struct ref_cache *cache, uint64_t addr, uint64_t bytes)
{
	int any = 0;

	for (uint64_t a = addr; cache->g.sets && a < addr + bytes; a += cache->line)
		any |= ref_find(cache, a) != 0;
	return any;
}

static void count_lost(const struct ordered *what, int there, int dirty, int socket)
{
	what->by->count[CP_SIM_invalidations] += (uint64_t)there;
	what->by->count[CP_SIM_hitm] += (uint64_t)dirty;
	what->by->count[CP_SIM_remote_hitm] += dirty && socket != what->by->socket;
}

static int order_core(
	struct ref_core *c, const struct ordered *what, uint64_t addr, uint64_t bytes)
{
	int sibling = what->streams && c != what->by && c->cluster == what->by->cluster,
	    there = has_any(&c->l1d, addr, bytes),
	    dirty = order_cache(&c->l1d, addr, bytes, what, 1);

	if (what->order == ORDER_FLUSH && !what->streams)
		order_cache(&c->l1i, addr, bytes, what, 0);
	if (sibling)
		count_lost(what, there, dirty, c->socket);
	return dirty;
}

/* The cores around an L2, and that. */
static int order_around(struct ref_system *s, int cluster, const struct ordered *what)
{
	struct ref_cache *l2 = &s->l2[cluster];
	uint64_t step = l2->g.sets ? l2->line : what->bytes;
	int any = 0, there = has_any(l2, what->addr, what->bytes), socket = 0;

	for (int i = 0; i < s->ncores; i++) {
		if (s->core[i].cluster != cluster)
			continue;
		there |= has_any(&s->core[i].l1d, what->addr, what->bytes);
		socket = s->core[i].socket;
	}
	for (uint64_t a = what->addr; a < what->addr + what->bytes; a += step) {
		int dirty = 0;

		for (int i = 0; i < s->ncores; i++)
			if (s->core[i].cluster == cluster)
				dirty |= order_core(&s->core[i], what, a, step);
		dirty |= order_cache(l2, a, step, what, 0);
		if (l2->g.sets)
			what->by->count[CP_SIM_l2_writebacks] += (uint64_t)dirty;
		any |= dirty;
	}
	if (what->streams && cluster != what->by->cluster)
		count_lost(what, there, any, socket);
	return any;
}

static void demote(
	struct ref_system *s, struct ref_core *c, uint64_t addr, uint64_t bytes)
{
	struct ref_cache *l2 = ref_l2_of(s, c);
	uint64_t step = l2->g.sets ? l2->line : c->l1d.line;

	if (!ref_llc_of(s, c)->g.sets)
		return;
	for (uint64_t a = addr; a < addr + bytes; a += step) {
		struct ordered what = {c, a, step, ORDER_DEMOTE, 0};

		if (has_any(&c->l1d, a, step) || has_any(l2, a, step))
			ref_llc_victim(s, c, a, order_around(s, c->cluster, &what));
	}
}

static void order_all(struct ref_system *s, const struct ordered *what)
{
	int dirty = 0;

	for (int cluster = 0; cluster < REF_CORES; cluster++)
		dirty |= order_around(s, cluster, what);
	for (int i = 0; i < REF_CORES; i++)
		dirty |= order_cache(&s->llc[i], what->addr, what->bytes, what, 0);
	if (ref_llc_of(s, what->by)->g.sets)
		what->by->count[CP_SIM_llc_writebacks] += (uint64_t)dirty;
}

void ref_order(struct ref_system *s, int core, uint64_t addr, enum cache_order order)
{
	struct ref_core *c = &s->core[core];
	uint64_t bytes = largest_line(s, c);
	struct ordered what = {c, addr / bytes * bytes, bytes, order, 0};

	c->count[CP_SIM_cache_flushes]++;
	if (order == ORDER_DEMOTE)
		demote(s, c, what.addr, bytes);
	else
		order_all(s, &what);
}

/* ---- non-temporal stores ---- */

/* One byte; the last of a store's in its line. */
static void buffer_byte(struct ref_core *c, uint64_t addr, int last)
{
	uint64_t line = addr / c->l1d.line;
	struct ref_buffer *b = NULL;
	uint32_t full = 0;

	for (int i = 0; i < REF_BUFFERS; i++)
		if (c->buffer[i].used && c->buffer[i].line == line)
			b = &c->buffer[i];
	if (!b) {
		b = &c->buffer[c->next_buffer++ % REF_BUFFERS];
		memset(b, 0, sizeof(*b));
		b->used = 1;
		b->line = line;
		c->count[CP_SIM_stream_lines]++;
	}
	b->byte[addr % c->l1d.line] = 1;
	for (uint32_t i = 0; i < c->l1d.line; i++)
		full += b->byte[i];
	if (full < c->l1d.line || !last)
		return;
	c->count[CP_SIM_stream_full_lines]++;
	b->used = 0;
}

void ref_stream(struct ref_system *s, int core, uint64_t addr, uint32_t size)
{
	struct ref_core *c = &s->core[core];
	uint64_t bytes = largest_line(s, c), pages = c->count[CP_SIM_dtlb_store_pages];

	c->count[CP_SIM_l1d_stores]++;
	c->count[CP_SIM_stream_stores]++;
	for (uint64_t u = addr / s->m.line; u <= (addr + size - 1) / s->m.line; u++) {
		uint64_t at = u * s->m.line;
		struct ordered what = {c, at / bytes * bytes, bytes, ORDER_FLUSH, 1};

		ref_touch_page(s, c, at);
		ref_translate_store(s, c, at);
		order_all(s, &what);
	}
	c->count[CP_SIM_dtlb_store_misses] += c->count[CP_SIM_dtlb_store_pages] != pages;
	for (uint32_t i = 0; i < size; i++)
		buffer_byte(
			c, addr + i, i + 1 == size || (addr + i + 1) % c->l1d.line == 0);
}

/* ---- prefetches ---- */

void ref_prefetch(struct ref_system *s, int core, uint64_t addr, enum cache_order order)
{
	struct ref_core *c = &s->core[core];
	struct ref_cache *l2 = ref_l2_of(s, c);
	int into_l2 = order == ORDER_PREFETCH_L2 && l2->g.sets && !ref_is_exclusive(l2);
	struct ref_way *w = ref_find(&c->l1d, addr);

	c->count[CP_SIM_software_prefetches]++;
	c->to_train = 0;
	addr = addr / s->m.line * s->m.line;
	ref_touch_page(s, c, addr);
	ref_translate_load(s, c, addr);
	if (w && !into_l2)
		ref_use(s, &c->l1d, w);
	if (!w)
		ref_prefetch_line(s, c, into_l2 ? L2 : L1D, addr, 0);
	if (order == ORDER_PREFETCH_WRITE) {
		ref_tell_siblings(s, c, addr, STORE);
		ref_tell_others(s, c, addr, STORE);
	}
	if (c->to_train)
		ref_train(s, c, L2, addr, PREFETCH);
}
