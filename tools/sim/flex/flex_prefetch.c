/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which lines a prefetcher wants.
 */
#include "flex/flex.h"

struct request {
	struct core *core;
	uint64_t line, page; /* in lines */
	uint32_t shift, page_shift;
	void (*fetch)(struct core *core, uint64_t unit);
};

static void want_line(const struct request *r, int64_t by)
{
	uint64_t line = r->line + (uint64_t)by;

	if (line >> r->page_shift == r->page)
		r->fetch(r->core, line << r->shift);
}

static struct flex_stream *find_stream(struct flex_prefetcher *p, uint64_t page)
{
	struct flex_stream *oldest = &p->stream[0];

	for (int i = 0; i < FLEX_STREAMS; i++) {
		struct flex_stream *s = &p->stream[i];

		if (s->used && s->page == page)
			return s;
		if (s->used < oldest->used)
			oldest = s;
	}
	*oldest = (struct flex_stream){.page = page};
	return oldest;
}

/* Returns whether the stride has been seen twice in a row. */
static int extend_stream(struct flex_prefetcher *p, struct flex_stream *s, uint64_t line)
{
	int64_t stride = (int64_t)(line - s->last);
	int known = s->used != 0;

	s->used = ++p->clock;
	if (!known) {
		s->last = line;
		return 0;
	}
	if (stride == 0)
		return 0;
	s->steady = stride == s->stride;
	s->stride = stride;
	s->last = line;
	return s->steady;
}

void flex_prefetch(struct core *core, struct flex_prefetcher *p,
	const struct flex_cache *c, uint64_t unit,
	void (*fetch)(struct core *core, uint64_t unit))
{
	struct request r = {core, unit >> c->shift, 0, c->shift,
		core->flex->page_shift - c->shift, fetch};
	struct flex_stream *s;

	r.page = r.line >> r.page_shift;
	if (p->kind == PREFETCH_NEXT_LINE) {
		want_line(&r, 1);
		return;
	}
	s = find_stream(p, r.page);
	if (!extend_stream(p, s, r.line))
		return;
	for (uint32_t i = 0; i < p->degree; i++)
		want_line(&r, s->stride * (int64_t)(p->distance + i));
}
