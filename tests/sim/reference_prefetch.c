/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Prefetchers of the reference, by the rules of tools/sim/flex/flex_prefetchers.h:
 * nothing is found but by looking at all there is.
 */
#include <stdlib.h>
#include <string.h>

#include "reference_parts.h"

static struct ref_cache *level_of(struct ref_system *s, struct ref_core *c, int level)
{
	return level == L1I ? &c->l1i : level == L1D ? &c->l1d : ref_l2_of(s, c);
}

/* A lesson for a prefetcher: the lines of a level, one of which was asked for. */
struct lesson {
	struct ref_system *s;
	struct ref_core *c;
	int level;
	uint64_t addr, bytes, line; /* of that line */
	enum access kind;
	const struct prefetcher *of;
	struct ref_prefetcher *p;
};

/* Calls for a line if it is in the same page. */
static void maybe(const struct lesson *l, int64_t lines)
{
	uint64_t addr = (l->line + (uint64_t)lines) * l->bytes;

	if (addr / l->s->m.page == l->addr / l->s->m.page)
		ref_prefetch_line(l->s, l->c, l->level, addr, 1);
}

/* The latest first. */
static int is_among(const struct ref_prefetcher *p, uint32_t n, uint64_t line)
{
	for (uint32_t i = 0; i < n && i < p->nseen; i++)
		if (p->seen[i] == line)
			return 1;
	return 0;
}

static void remember(struct ref_prefetcher *p, uint64_t line)
{
	memmove(p->seen + 1, p->seen, sizeof(p->seen) - sizeof(p->seen[0]));
	p->seen[0] = line;
	p->nseen += p->nseen < 64;
}

static void next_line(const struct lesson *l)
{
	uint32_t recent = l->of->number[0];
	int wanted = recent == 0 || is_among(l->p, recent, l->line - 1);

	remember(l->p, l->line);
	if (wanted)
		maybe(l, 1);
}

static void up_down(const struct lesson *l)
{
	int before = is_among(l->p, l->of->number[0], l->line - 1),
	    after = is_among(l->p, l->of->number[0], l->line + 1);

	remember(l->p, l->line);
	if (before && !after && l->p->balance < 8)
		l->p->balance++;
	if (after && !before && l->p->balance > -8)
		l->p->balance--;
	if (before == after && l->p->balance)
		l->p->balance -= l->p->balance > 0 ? 1 : -1;
	if (l->p->balance >= 4)
		maybe(l, 1);
	if (l->p->balance <= -4)
		maybe(l, -1);
}

static void adjacent(const struct lesson *l)
{
	maybe(l, l->addr / (2 * l->bytes) == (l->addr + l->bytes) / (2 * l->bytes) ? 1
										   : -1);
}

static struct ref_stream *stream_of(struct ref_stream *all, uint32_t n, uint64_t page)
{
	struct ref_stream *oldest = all;

	for (uint32_t i = 0; i < n; i++)
		if (all[i].used && all[i].page == page)
			return &all[i];
	for (uint32_t i = 0; i < n; i++)
		if (all[i].used < oldest->used)
			oldest = &all[i];
	memset(oldest, 0, sizeof(*oldest));
	oldest->page = page;
	return oldest;
}

static void stream(const struct lesson *l)
{
	struct ref_stream *st = stream_of(l->p->stream, 16, l->addr / l->s->m.page);
	int fresh = !st->used;
	int64_t stride = (int64_t)(l->line - st->last);

	st->used = ++l->c->now;
	if (fresh || stride == 0) {
		st->last = l->line;
		return;
	}
	st->twice = stride == st->stride;
	st->stride = stride;
	st->last = l->line;
	for (uint32_t i = 0; st->twice && i < l->of->number[0]; i++)
		maybe(l, stride * (int64_t)(l->of->number[1] + i));
}

/* Here `twice` counts the steps in a row, and `reached` is the line fetched last. */
static void streamer(const struct lesson *l)
{
	struct ref_stream *st =
		stream_of(l->p->stream, l->of->number[2], l->addr / l->s->m.page);
	int fresh = !st->used;
	int64_t step = fresh ? 0 : (int64_t)(l->line - st->last);
	uint32_t each = l->of->number[1];

	st->used = ++l->c->now;
	st->last = l->line;
	if (step == 0)
		return;
	if (step < -2 || step > 2) {
		st->stride = st->twice = 0;
		return;
	}
	if ((step > 0 ? 1 : -1) != st->stride) {
		st->stride = step > 0 ? 1 : -1;
		st->twice = 0;
		st->reached = l->line;
	}
	if (++st->twice < 2)
		return;
	if ((st->stride > 0 && st->reached < l->line) ||
		(st->stride < 0 && st->reached > l->line))
		st->reached = l->line;
	while (each--) {
		uint64_t next = st->reached + (uint64_t)st->stride;

		if (next * l->bytes / l->s->m.page != l->addr / l->s->m.page ||
			llabs((long long)(next - l->line)) > (long long)l->of->number[0])
			return;
		st->reached = next;
		maybe(l, (int64_t)(next - l->line));
	}
}

static void ip_stride(const struct lesson *l)
{
	uint64_t who = l->s->instruction, addr = l->s->address;
	struct ref_stride *e = &l->p->stride[who % l->of->number[0]];
	int64_t bytes = (int64_t)(addr - e->last),
		lines = (int64_t)(addr / l->bytes) - (int64_t)(e->last / l->bytes),
		most = l->of->number[2], by = 0;

	if (who == 0 || l->kind != LOAD)
		return;
	if (e->instruction != who) {
		memset(e, 0, sizeof(*e));
		e->instruction = who;
		e->last = addr;
		return;
	}
	if (bytes == 0)
		return;
	if (bytes < -most || bytes > most)
		bytes = lines = 0;
	if (bytes && bytes == e->bytes)
		by = bytes;
	else if (bytes && lines == e->lines)
		by = lines * (int64_t)l->bytes;
	e->bytes = bytes;
	e->lines = lines;
	e->last = addr;
	if (by)
		maybe(l, (int64_t)((addr + (uint64_t)(by * (int64_t)l->of->number[1])) /
				   l->bytes) -
				 (int64_t)(addr / l->bytes));
}

static void close_region(const struct lesson *l, const struct ref_region *r)
{
	struct ref_pattern *known =
		&l->p->pattern[(r->instruction + r->first) % l->of->number[1]];

	known->twice = known->instruction == r->instruction && known->first == r->first &&
		       known->lines == r->lines;
	known->instruction = r->instruction;
	known->first = r->first;
	known->lines = r->lines;
}

static void region(const struct lesson *l)
{
	uint64_t lines = l->of->number[0], number = l->line / lines,
		 place = l->line % lines, who = l->s->instruction;
	struct ref_region *r = NULL, *oldest = l->p->region;
	const struct ref_pattern *known;

	if (who == 0)
		return;
	for (int i = 0; i < 16; i++) {
		if (l->p->region[i].used && l->p->region[i].number == number)
			r = &l->p->region[i];
		if (l->p->region[i].used < oldest->used)
			oldest = &l->p->region[i];
	}
	if (r) {
		r->lines |= 1ull << place;
		r->used = ++l->c->now;
		return;
	}
	if (oldest->used)
		close_region(l, oldest);
	*oldest = (struct ref_region){number, who, place, 1ull << place, ++l->c->now};
	known = &l->p->pattern[(who + place) % l->of->number[1]];
	if (known->instruction != who || known->first != place || !known->twice)
		return;
	for (uint64_t i = 0; i < lines; i++)
		if (i != place && known->lines >> i & 1)
			maybe(l, (int64_t)(i - place));
}

void ref_train(struct ref_system *s, struct ref_core *c, int level, uint64_t addr,
	enum access kind)
{
	static void (*const by[])(const struct lesson *l) = {
		NULL, next_line, stream, ip_stride, streamer, adjacent, region, up_down};
	const struct ref_cache *cache = level_of(s, c, level);
	struct lesson l = {s, c, level, addr / cache->line * cache->line, cache->line,
		addr / cache->line, kind, NULL, NULL};

	for (int i = 0; i < PREFETCHERS; i++) {
		l.of = &cache->g.prefetch[i];
		l.p = &c->prefetcher[level][i];
		if (l.of->kind)
			by[l.of->kind](&l);
	}
}

void ref_prefetch_line(struct ref_system *s, struct ref_core *c, int level, uint64_t addr,
	int by_hardware)
{
	static const int all[] = {CP_SIM_l1i_prefetches, CP_SIM_l1d_prefetches,
		CP_SIM_l2_prefetches},
			 hardware[] = {0, CP_SIM_l1d_hardware_prefetches,
				 CP_SIM_l2_hardware_prefetches};
	struct ref_cache *cache = level_of(s, c, level);
	int seen = 0, dirty;

	if (ref_find(cache, addr))
		return;
	c->count[CP_SIM_software_prefetch_lines] += !by_hardware;
	c->count[all[level]]++;
	if (by_hardware && level != L1I)
		c->count[hardware[level]]++;
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
	if (seen && by_hardware)
		ref_train(s, c, L2, addr, PREFETCH);
	c->to_train = seen && !by_hardware;
}
