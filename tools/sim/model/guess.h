/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a core foresees.  Branches, by what came next: after each one, the batch that
 * followed the same few branches before, if it has done so more than once; else the one
 * that follows this branch most of the time.  And streams of lines, in time alone: what
 * the caches have stays as it is, but lines that come at the same distance from each
 * other for the third time in a page were asked for when those some look-ups before were.
 * A stream that leaves its page at that distance goes on in the next one.
 */
#ifndef CACHEPEEK_SIM_GUESS_H
#define CACHEPEEK_SIM_GUESS_H

#include "model/batch.h"

#define GUESSES 8192 /* a power of two, as of the next */
#define USUAL 4096
#define SURE 3

/* What came next, and how sure that is: 0 to SURE. */
struct usual {
	uint32_t next, sure;
};

/* The same where a number of it will do, for there is a tag beside. */
struct guess {
	uint16_t next;
	uint16_t tag : 14, sure : 2;
};

/* Which way it went so far, and where the last branch was. */
struct history {
	uint64_t ways;
	uint32_t last;
};

struct guesses {
	struct history history;
	struct guess by_history[GUESSES];
	struct usual usual[USUAL];
};

/* Learns what came next, which is what was guessed or not. */
#define LEARN(guess, came)                                                               \
	do {                                                                             \
		if ((guess)->next == (came))                                             \
			(guess)->sure += (guess)->sure < SURE;                           \
		else if ((guess)->sure)                                                  \
			(guess)->sure--;                                                 \
		else                                                                     \
			(guess)->next = (came);                                          \
	} while (0)

/* What is asked for a branch: which guess, where the branch was, and the guess that would
 * have been right and sure. */
struct question {
	uint32_t which, last, next;
	struct guess right;
};

/* A batch follows a branch. */
LANES_INLINE struct question guesses_ask(
	const struct guesses *g, struct history *h, const struct batch *b, uint64_t line)
{
	uint32_t next = (uint32_t)((uintptr_t)b >> 6) ^ (uint32_t)line * 0x9e3779b1u;
	uint64_t hash = (h->ways ^ h->last) * 0x9e3779b97f4a7c15ull;
	struct question q = {hash >> 40 & (GUESSES - 1), h->last, next,
		{(uint16_t)(next ^ next >> 16), hash >> 18 & 0x3fff, SURE}};

	__builtin_prefetch(&g->by_history[q.which]);
	h->ways = h->ways << 4 ^ next;
	h->last = next;
	return q;
}

/* An entry of other branches is taken over once it is not sure any more, and only where
 * the usual guess is wrong. */
static __attribute__((noinline)) int guesses_learn(
	struct guesses *g, const struct question *q)
{
	struct usual *usual = &g->usual[q->last % USUAL];
	struct guess *known = &g->by_history[q->which];
	int own = known->tag == q->right.tag, unusual = usual->next != q->next,
	    right = own && known->sure ? known->next == q->right.next : !unusual;

	LEARN(usual, q->next);
	if (own)
		LEARN(known, q->right.next);
	else if (unusual && known->sure)
		known->sure--;
	else if (unusual)
		*known = (struct guess){q->right.next, q->right.tag, 0};
	return !right;
}

/* Not 0 if what came was not to be expected. */
LANES_INLINE int guesses_miss(struct guesses *g, const struct question *q)
{
	const struct guess *known = &g->by_history[q->which];

	return (known->next != q->right.next || known->tag != q->right.tag ||
		       known->sure != SURE) &&
	       guesses_learn(g, q);
}

/* ---- lines ---- */

#define STREAM_SETS_LOG 4
#define STREAM_WAYS 4      /* loads from all over must not drive a stream away */
#define STREAM_LOOK_UPS 32 /* that are remembered of each; a power of two */
#define STREAM_PAGE_LOG 12

/* page: its number + 1; 0: none. */
struct stream {
	uint64_t page, used;
	int32_t last, step;
	uint32_t count, trained; /* look-ups; of these the first that fetched others */
	uint64_t at[STREAM_LOOK_UPS];
};

struct streams {
	uint64_t look_ups;
	struct stream of[1 << STREAM_SETS_LOG][STREAM_WAYS];
};

LANES_INLINE struct stream *streams_set(struct streams *all, uint64_t page)
{
	return all->of[page * 0x9e3779b97f4a7c15ull >> (64 - STREAM_SETS_LOG)];
}

/* That of the page, or NULL. */
LANES_INLINE struct stream *streams_find(struct streams *all, uint64_t page)
{
	struct stream *s = streams_set(all, page);

	for (int i = 0; i < STREAM_WAYS; i++)
		if (s[i].page == page)
			return &s[i];
	return 0;
}

LANES_INLINE struct stream *streams_oldest(struct streams *all, uint64_t page)
{
	struct stream *s = streams_set(all, page), *oldest = s;

	for (int i = 1; i < STREAM_WAYS; i++)
		if (s[i].used < oldest->used)
			oldest = &s[i];
	return oldest;
}

/* The trained stream of a neighbouring page whose next line would be this one; NULL. */
LANES_INLINE struct stream *streams_from(
	struct streams *all, uint64_t page, int32_t line, int32_t lines)
{
	for (int way = -1; way <= 1; way += 2) {
		struct stream *s = streams_find(all, page + (uint64_t)(int64_t)way);

		if (s && s->trained && s->last + s->step + way * lines == line)
			return s;
	}
	return 0;
}

/* The page's first look-up: its stream, which has looked up the one before already if
 * there is one that comes from there. */
static __attribute__((noinline)) struct stream *streams_begin(
	struct streams *all, uint64_t page, int32_t line, int32_t lines)
{
	struct stream *from = streams_from(all, page, line, lines),
		      *s = streams_oldest(all, page);

	if (from) {
		*s = *from;
		s->last = line - s->step;
	} else {
		s->count = s->trained = 0;
		s->step = 0;
	}
	s->page = page;
	return s;
}

/* The line is looked up then: when was it fetched ahead, by look-ups so many before?  0:
 * it was not. */
LANES_INLINE uint64_t streams_look_up(struct streams *all, uint64_t address,
	uint32_t line_shift, uint32_t ahead, uint64_t at)
{
	uint64_t page = (address >> STREAM_PAGE_LOG) + 1;
	int32_t line = (int32_t)((address & ((1u << STREAM_PAGE_LOG) - 1)) >> line_shift),
		lines = 1 << STREAM_PAGE_LOG >> line_shift, step;
	struct stream *s = streams_find(all, page);
	uint32_t by;

	if (!s)
		s = streams_begin(all, page, line, lines);
	s->used = ++all->look_ups;
	step = line - s->last;
	if (s->count && !step)
		return 0;
	s->last = line;
	s->at[s->count++ % STREAM_LOOK_UPS] = at;
	if (s->count == 1)
		return 0;
	if (step != s->step) {
		s->step = step;
		s->trained = 0;
	} else if (!s->trained) {
		s->trained = s->count;
	}
	if (!s->trained || s->trained == s->count)
		return 0;
	by = s->count > s->trained + ahead ? s->count - ahead : s->trained;
	return s->at[(by - 1) % STREAM_LOOK_UPS];
}

#endif
