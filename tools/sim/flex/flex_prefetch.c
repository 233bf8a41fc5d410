/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flex/flex.h"
#include "model/facts.h"

/* The reference that prefetchers see, in lines. */
struct sight {
	struct core *core;
	uint64_t line, page;
	uint32_t shift, page_shift; /* from lines */
	enum access kind;
	void (*fetch)(struct core *core, uint64_t unit);
};

static int is_near(const struct sight *s, uint64_t line)
{
	return line >> s->page_shift == s->page;
}

static void want_line(const struct sight *s, int64_t by)
{
	uint64_t line = s->line + (uint64_t)by;

	if (is_near(s, line))
		s->fetch(s->core, line << s->shift);
}

/* ---- lines that were seen lately ---- */

#define RECENT_MOST 64

struct recent {
	uint32_t low[RECENT_MOST];  /* the low half of: */
	uint64_t line[RECENT_MOST]; /* plus one; 0: none yet */
	uint32_t next;
	int32_t balance;
};

static int was_seen(const struct recent *r, uint32_t n, uint64_t line)
{
	int at = lanes_find(r->low, (n + 3) & ~3u, (uint32_t)(line + 1));

	if (at < 0 || r->line[at] == line + 1)
		return at >= 0;
	for (uint32_t i = 0; i < n; i++)
		if (r->line[i] == line + 1)
			return 1;
	return 0;
}

static void note_line(struct recent *r, uint32_t n, uint64_t line)
{
	r->line[r->next] = line + 1;
	r->low[r->next] = (uint32_t)(line + 1);
	r->next = r->next + 1 < n ? r->next + 1 : 0;
}

static void see_next_line(struct flex_prefetcher *p, const struct sight *s)
{
	struct recent *r = p->state;
	uint32_t n = p->of.number[0];
	int goes_up = !n || was_seen(r, n, s->line - 1);

	if (n)
		note_line(r, n, s->line);
	if (goes_up)
		want_line(s, 1);
}

static int toward_zero(int32_t balance)
{
	return (balance < 0) - (balance > 0);
}

#define MOST_BALANCE 8
#define SURE_BALANCE 4

static void see_up_down(struct flex_prefetcher *p, const struct sight *s)
{
	struct recent *r = p->state;
	uint32_t n = p->of.number[0];
	int way = was_seen(r, n, s->line - 1) - was_seen(r, n, s->line + 1);

	r->balance += way ? way : toward_zero(r->balance);
	if (r->balance > MOST_BALANCE || r->balance < -MOST_BALANCE)
		r->balance -= way;
	note_line(r, n, s->line);
	if (r->balance >= SURE_BALANCE)
		want_line(s, 1);
	else if (r->balance <= -SURE_BALANCE)
		want_line(s, -1);
}

static void see_adjacent(struct flex_prefetcher *p, const struct sight *s)
{
	(void)p;
	want_line(s, s->line & 1 ? -1 : 1);
}

/* ---- the latest of something ---- */

#define LATEST_MOST 64
#define BYTES 0x0101010101010101ull

/* So many numbers at most; each has a place, which the one that was longest not seen
 * leaves to another. */
struct latest {
	uint32_t tag[LATEST_MOST];       /* the low half of: */
	uint64_t number[LATEST_MOST];    /* plus one; 0: none yet */
	uint64_t order[LATEST_MOST / 8]; /* places, a byte each, the newest first */
	uint32_t n;
};

static void begin_order(struct latest *l)
{
	for (uint32_t i = 0; i < LATEST_MOST / 8; i++)
		l->order[i] = 0x0706050403020100ull + 8 * i * BYTES;
}

/* The place becomes the newest: those in front of it move by one. */
static void renew_place(struct latest *l, uint32_t place)
{
	uint64_t first = place;

	for (uint64_t *word = l->order;; word++) {
		uint64_t was = *word, other = was ^ place * BYTES,
			 found = (other - BYTES) & ~other & BYTES << 7,
			 last = found & -found, moved = last | (last - 1);

		*word = ((was << 8 | first) & moved) | (was & ~moved);
		if (found)
			return;
		first = was >> 56;
	}
}

static int search_place(const struct latest *l, uint32_t n, uint64_t wanted)
{
	int place = lanes_find(l->tag, (n + 3) & ~3u, (uint32_t)wanted);

	if (place < 0 || l->number[place] == wanted)
		return place;
	for (uint32_t i = 0; i < n; i++)
		if (l->number[i] == wanted)
			return (int)i;
	return -1;
}

static uint32_t new_place(struct latest *l, uint32_t n, uint64_t wanted)
{
	uint32_t oldest = (uint32_t)(l->order[(n - 1) / 8] >> (n - 1) % 8 * 8) & 0xff,
		 place = l->n < n ? l->n++ : oldest;

	l->number[place] = wanted;
	l->tag[place] = (uint32_t)wanted;
	return place;
}

/* The number's place, one of n; is_known: it had it before. */
static uint32_t place_of(struct latest *l, uint32_t n, uint64_t number, int *is_known)
{
	uint32_t newest = (uint32_t)l->order[0] & 0xff;
	int place;

	*is_known = l->number[newest] == number + 1;
	if (*is_known)
		return newest;
	if (!l->n)
		begin_order(l);
	place = search_place(l, n, number + 1);
	*is_known = place >= 0;
	if (place < 0)
		place = (int)new_place(l, n, number + 1);
	renew_place(l, (uint32_t)place);
	return (uint32_t)place;
}

/* ---- pages ---- */

#define STREAMS 16

/* A page that is followed. */
struct stream {
	uint64_t last;
	uint64_t reached; /* the streamer's last line */
	int64_t step;     /* the streamer's direction */
	uint32_t times;   /* in a row */
};

struct streams {
	struct latest pages;
	struct stream of[];
};

/* Whether the page is a known one: it is, from now on. */
static struct stream *find_stream(
	struct streams *all, uint32_t n, const struct sight *s, int *is_known)
{
	struct stream *st = &all->of[place_of(&all->pages, n, s->page, is_known)];

	if (!*is_known)
		*st = (struct stream){.last = s->line};
	return st;
}

static void see_stream(struct flex_prefetcher *p, const struct sight *s)
{
	int is_known;
	struct stream *st = find_stream(p->state, STREAMS, s, &is_known);
	int64_t step = (int64_t)(s->line - st->last);

	if (!is_known || !step)
		return;
	st->times = step == st->step;
	st->step = step;
	st->last = s->line;
	for (uint32_t i = 0; st->times && i < p->of.number[0]; i++)
		want_line(s, step * (int64_t)(p->of.number[1] + i));
}

#define STREAMER_STEP 2

/* Returns whether it is part of a stream. */
static int extend_stream(struct stream *st, uint64_t line)
{
	int64_t step = (int64_t)(line - st->last), way = step > 0 ? 1 : -1;

	st->last = line;
	if (step * way > STREAMER_STEP) {
		st->step = st->times = 0;
		return 0;
	}
	if (way != st->step) {
		st->step = way;
		st->times = 0;
		st->reached = line;
	}
	st->times += st->times < 2;
	return st->times == 2;
}

static void see_streamer(struct flex_prefetcher *p, const struct sight *s)
{
	int is_known;
	struct stream *st = find_stream(p->state, p->of.number[2], s, &is_known);
	int64_t ahead;

	if (!is_known || s->line == st->last || !extend_stream(st, s->line))
		return;
	ahead = (int64_t)(st->reached - s->line) * st->step;
	if (ahead < 0)
		ahead = 0;
	for (uint32_t i = 0; i < p->of.number[1] && ahead < p->of.number[0]; i++) {
		if (!is_near(s, s->line + (uint64_t)((ahead + 1) * st->step)))
			break;
		want_line(s, ++ahead * st->step);
	}
	st->reached = s->line + (uint64_t)(ahead * st->step);
}

/* ---- instructions ---- */

/* Modulo n, which is mostly a power of two: to divide takes the host long. */
LANES_INLINE uint64_t entry_of(uint64_t instruction, uint32_t n)
{
	return n & (n - 1) ? instruction % n : instruction & (n - 1);
}

struct stride {
	uint64_t instruction, last; /* 0: none; address */
	int64_t bytes, lines;
};

/* The step that is repeated, in bytes; 0: none. */
static int64_t extend_stride(
	struct stride *of, const struct sight *s, uint64_t address, int64_t most)
{
	uint32_t shift = s->shift + s->core->line_shift;
	int64_t bytes = (int64_t)(address - of->last),
		lines = (int64_t)((address >> shift) - (of->last >> shift)), repeated = 0;

	of->last = address;
	if (bytes > most || bytes < -most)
		bytes = lines = 0;
	else if (bytes == of->bytes)
		repeated = bytes;
	else if (lines == of->lines)
		repeated = lines * ((int64_t)1 << shift);
	of->bytes = bytes;
	of->lines = lines;
	return repeated;
}

static void see_ip_stride(struct flex_prefetcher *p, const struct sight *s)
{
	uint64_t instruction = front->instruction, address = front->address;
	struct stride *of =
		(struct stride *)p->state + entry_of(instruction, p->of.number[0]);
	uint32_t shift = s->shift + s->core->line_shift;
	int64_t step;

	if (!instruction || s->kind != LOAD)
		return;
	if (of->instruction != instruction) {
		*of = (struct stride){instruction, address, 0, 0};
		return;
	}
	if (of->last == address)
		return;
	step = extend_stride(of, s, address, p->of.number[2]);
	if (step)
		want_line(s, (int64_t)(((address + (uint64_t)step * p->of.number[1]) >>
					       shift) -
				       (address >> shift)));
}

#define REGIONS 16

struct region {
	uint64_t instruction, lines; /* 0: not said; a bit each */
	uint32_t first;
};

struct pattern {
	uint64_t instruction, lines;
	uint32_t first, times;
};

struct regions {
	struct latest numbers;
	struct region of[REGIONS];
	struct pattern known[];
};

static struct pattern *pattern_of(
	const struct flex_prefetcher *p, uint64_t instruction, uint32_t first)
{
	struct regions *r = p->state;

	return &r->known[entry_of(instruction + first, p->of.number[1])];
}

static void keep_pattern(const struct flex_prefetcher *p, const struct region *of)
{
	struct pattern *known = pattern_of(p, of->instruction, of->first);
	int same = known->instruction == of->instruction && known->first == of->first &&
		   known->lines == of->lines;

	*known = (struct pattern){of->instruction, of->lines, of->first, (uint32_t)same};
}

/* The region is one of those that are followed, or the oldest of those makes room. */
static struct region *find_region(struct flex_prefetcher *p, uint64_t number)
{
	struct regions *r = p->state;
	int is_known;
	struct region *of = &r->of[place_of(&r->numbers, REGIONS, number, &is_known)];

	if (is_known)
		return of;
	if (of->lines)
		keep_pattern(p, of);
	*of = (struct region){0};
	return of;
}

static void see_region(struct flex_prefetcher *p, const struct sight *s)
{
	uint32_t lines = p->of.number[0], place = (uint32_t)s->line & (lines - 1);
	uint64_t instruction = front->instruction;
	const struct pattern *known;
	struct region *of;

	if (!instruction)
		return;
	of = find_region(p, s->line / lines);
	of->lines |= 1ull << place;
	if (of->instruction)
		return;
	of->instruction = instruction;
	of->first = place;
	known = pattern_of(p, instruction, place);
	if (!known->times || known->instruction != instruction || known->first != place)
		return;
	for (uint64_t rest = known->lines & ~(1ull << place); rest; rest &= rest - 1)
		want_line(s, (int64_t)__builtin_ctzll(rest) - place);
}

/* ---- all ---- */

static const struct {
	void (*see)(struct flex_prefetcher *p, const struct sight *s);
	uint32_t size, each; /* of the state, and of what there is number[of] of */
	uint32_t of;
} kinds[] = {
	[PREFETCH_NEXT_LINE] = {see_next_line, sizeof(struct recent), 0, 0},
	[PREFETCH_STREAM] = {see_stream,
		sizeof(struct streams) + STREAMS * sizeof(struct stream), 0, 0},
	[PREFETCH_IP_STRIDE] = {see_ip_stride, 0, sizeof(struct stride), 0},
	[PREFETCH_STREAMER] = {see_streamer, sizeof(struct streams),
		sizeof(struct stream), 2},
	[PREFETCH_ADJACENT] = {see_adjacent, 0, 0, 0},
	[PREFETCH_REGION] = {see_region, sizeof(struct regions), sizeof(struct pattern),
		1},
	[PREFETCH_UP_DOWN] = {see_up_down, sizeof(struct recent), 0, 0},
};

int flex_prefetchers_init(
	struct flex_prefetcher all[PREFETCHERS], const struct prefetcher of[PREFETCHERS])
{
	for (int i = 0; i < PREFETCHERS && of[i].kind != PREFETCH_NONE; i++) {
		struct flex_prefetcher *p = &all[i];

		p->of = of[i];
		p->size = kinds[of[i].kind].size +
			  (uint64_t)kinds[of[i].kind].each *
				  of[i].number[kinds[of[i].kind].of];
		if (p->size && !(p->state = host_alloc(p->size)))
			return -1;
	}
	return 0;
}

void flex_prefetchers_free(struct flex_prefetcher all[PREFETCHERS])
{
	for (int i = 0; i < PREFETCHERS; i++)
		if (all[i].state)
			host_free(all[i].state, all[i].size);
}

void flex_prefetch(struct core *core, struct flex_prefetcher all[PREFETCHERS],
	const struct flex_cache *c, uint64_t unit, enum access kind,
	void (*fetch)(struct core *core, uint64_t unit))
{
	struct sight s = {core, unit >> c->shift, 0, c->shift,
		core->flex->page_shift - c->shift, kind, fetch};

	s.page = s.line >> s.page_shift;
	for (int i = 0; i < PREFETCHERS && all[i].of.kind != PREFETCH_NONE; i++)
		kinds[all[i].of.kind].see(&all[i], &s);
}
