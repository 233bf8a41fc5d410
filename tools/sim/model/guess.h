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
#define SURE 3u

/* What came next, and how sure that is: 0 to SURE. */
union usual {
	struct {
		uint32_t next, sure;
	};
	uint64_t all;
};

/* The same where a number of it will do, for there is a tag beside. */
#define GUESS_TAG 16 /* bits before it */
#define GUESS_SURE 30
#define TAG_BITS ((1u << GUESS_SURE) - (1u << GUESS_TAG))
union guess {
	struct {
		uint16_t next;
		uint16_t tag : GUESS_SURE - GUESS_TAG, sure : 2;
	};
	uint32_t all;
};

/* Which way it went so far, and where the last branch was.  The rounds of a loop are
 * counted instead, so that its end is known however many they are. */
struct history {
	uint64_t ways;
	uint32_t last, rounds;
};

struct guesses {
	struct history history;
	union guess by_history[GUESSES];
	union usual usual[USUAL];
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

/* An entry of other branches is taken over once it is not sure any more, and only where
 * the usual guess is wrong. */
static __attribute__((noinline)) int guesses_learn(
	union usual *usual, union guess *known, uint32_t next, union guess right)
{
	int own = known->tag == right.tag, unusual = usual->next != next,
	    is_right = own && known->sure ? known->next == right.next : !unusual;

	LEARN(usual, next);
	if (own)
		LEARN(known, right.next);
	else if (unusual && known->sure)
		known->sure--;
	else if (unusual)
		*known = (union guess){{right.next, right.tag, 0}};
	return !is_right;
}

/* A batch follows another one, which ends in a branch or not.  Not 0 if it was not to be
 * expected.  Mostly there is nothing to learn: the guess was right and as sure as can be.
 * That is told by a single branch of the host, which could not foresee which guess it is
 * that counts. */
LANES_INLINE int guesses_miss(struct guesses *g, struct history *h, uint32_t branches,
	const struct batch *b, uint64_t line)
{
	uint32_t next = b->key ^ (uint32_t)line * 0x9e3779b1u;
	uint64_t hash =
		(h->ways ^ h->last ^ (uint64_t)h->rounds << 32) * 0x9e3779b97f4a7c15ull;
	union guess right = {.all = (next ^ next >> 16) % (1 << GUESS_TAG) |
				    (uint32_t)(hash >> 2 & TAG_BITS) |
				    SURE << GUESS_SURE},
		    *known = &g->by_history[hash >> 40 & (GUESSES - 1)];
	union usual *usual = &g->usual[h->last % USUAL],
		    seen = {.next = next, .sure = SURE};
	uint64_t differs = known->all ^ right.all, unusual = usual->all ^ seen.all,
		 is_own = -(((differs & TAG_BITS) - 1) >> 63),
		 wrong = (differs & is_own) | (unusual & ~is_own);
	int same = next == h->last;

	if (!branches)
		return 0;
	h->ways = same ? h->ways : (h->ways ^ h->rounds) << 4 ^ next;
	h->rounds = same ? h->rounds + 1 : 0;
	h->last = next;
	return __builtin_expect(wrong != 0, 0) &&
	       guesses_learn(usual, known, next, right);
}

/* ---- lines ---- */

#define STREAM_SETS_LOG 4
#define STREAM_WAYS 4      /* loads from all over must not drive a stream away */
#define STREAM_LOOK_UPS 32 /* that are remembered of each; a power of two */
#define STREAM_PAGE_LOG 12

struct stream {
	int32_t last, step;
	uint32_t count, trained; /* look-ups; of these the first that fetched others */
	uint64_t at[STREAM_LOOK_UPS];
};

/* What is looked for, in few lines of the host's.  page: its number + 1; 0: none. */
struct stream_set {
	uint64_t page[STREAM_WAYS], used[STREAM_WAYS];
};

struct streams {
	uint64_t look_ups;
	struct stream_set set[1 << STREAM_SETS_LOG] __attribute__((aligned(64)));
	struct stream of[1 << STREAM_SETS_LOG][STREAM_WAYS];
};

LANES_INLINE uint64_t streams_set(uint64_t page)
{
	return page * 0x9e3779b97f4a7c15ull >> (64 - STREAM_SETS_LOG);
}

/* The way that has the page, or STREAM_WAYS. */
LANES_INLINE uint32_t streams_find(const struct streams *all, uint64_t set, uint64_t page)
{
	const uint64_t *of = all->set[set].page;

	return of[0] == page   ? 0
	       : of[1] == page ? 1
	       : of[2] == page ? 2
	       : of[3] == page ? 3
			       : STREAM_WAYS;
}

LANES_INLINE uint32_t streams_oldest(const struct streams *all, uint64_t set)
{
	const uint64_t *used = all->set[set].used;
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < STREAM_WAYS; i++)
		oldest = used[i] < used[oldest] ? i : oldest;
	return oldest;
}

/* The trained stream of a neighbouring page whose next line would be this one; NULL. */
LANES_INLINE struct stream *streams_from(
	struct streams *all, uint64_t page, int32_t line, int32_t lines)
{
	for (int way = -1; way <= 1; way += 2) {
		uint64_t next = page + (uint64_t)(int64_t)way, set = streams_set(next);
		uint32_t i = streams_find(all, set, next);
		struct stream *s = &all->of[set][i % STREAM_WAYS];

		if (i < STREAM_WAYS && s->trained &&
			s->last + s->step + way * lines == line)
			return s;
	}
	return 0;
}

/* The page's first look-up: its way, whose stream has looked up the one before already
 * if there is one that comes from there. */
static __attribute__((noinline)) uint32_t streams_begin(
	struct streams *all, uint64_t page, int32_t line, int32_t lines)
{
	uint64_t set = streams_set(page);
	uint32_t i = streams_oldest(all, set);
	struct stream *from = streams_from(all, page, line, lines), *s = &all->of[set][i];

	if (from) {
		*s = *from;
		s->last = line - s->step;
	} else {
		s->count = s->trained = 0;
		s->step = 0;
	}
	all->set[set].page[i] = page;
	return i;
}

/* The line is looked up then: when was it fetched ahead, by look-ups so many before?  0:
 * it was not. */
LANES_INLINE uint64_t streams_look_up(struct streams *all, uint64_t address,
	uint32_t line_shift, uint32_t ahead, uint64_t at)
{
	uint64_t page = (address >> STREAM_PAGE_LOG) + 1, set = streams_set(page);
	int32_t line = (int32_t)((address & ((1u << STREAM_PAGE_LOG) - 1)) >> line_shift),
		lines = 1 << STREAM_PAGE_LOG >> line_shift, step;
	uint32_t way = streams_find(all, set, page), by;
	struct stream *s;

	if (way == STREAM_WAYS)
		way = streams_begin(all, page, line, lines);
	all->set[set].used[way] = ++all->look_ups;
	s = &all->of[set][way];
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
