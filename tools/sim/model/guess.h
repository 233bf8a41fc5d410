/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a core foresees.  Branches, by what came next: after each one, the batch that
 * followed the same few branches before, if it has done so more than once; else the one
 * that follows this branch most of the time.  And streams of lines, in time alone: what
 * the caches have stays as it is, but lines that come at the same distance from each
 * other for the third time in a page were asked for when those some look-ups before were.
 */
#ifndef CACHEPEEK_SIM_GUESS_H
#define CACHEPEEK_SIM_GUESS_H

#include "model/batch.h"

#define GUESSES 8192 /* a power of two, as of the next */
#define USUAL 4096
#define SURE 3

/* next: of what came next a number; sure: 0 to SURE. */
struct guess {
	uint16_t next;
	uint16_t tag : 14, sure : 2;
};

struct guesses {
	uint64_t history;
	uint32_t last; /* where the branch was */
	struct guess by_history[GUESSES], usual[USUAL];
};

/* Learns what came next, which is what was guessed or not. */
LANES_INLINE void guess_learn(struct guess *g, uint32_t next)
{
	if (g->next == next)
		g->sure += g->sure < SURE;
	else if (g->sure)
		g->sure--;
	else
		g->next = (uint16_t)next;
}

/* An entry of other branches is taken over once it is not sure any more, and only where
 * the usual guess is wrong. */
static __attribute__((noinline)) int guesses_learn(
	struct guesses *g, struct guess *known, uint32_t tag, uint32_t next)
{
	struct guess *usual = &g->usual[g->last % USUAL];
	int own = known->tag == tag,
	    right = (own && known->sure ? known->next : usual->next) == next,
	    unusual = usual->next != next;

	guess_learn(usual, next);
	if (own)
		guess_learn(known, next);
	else if (unusual && known->sure)
		known->sure--;
	else if (unusual)
		*known = (struct guess){(uint16_t)next, tag & 0x3fff, 0};
	return !right;
}

/* A batch follows a branch: not 0 if that was not to be expected. */
LANES_INLINE int guesses_miss(struct guesses *g, const struct batch *b, uint64_t line)
{
	uint32_t next = (uint32_t)((uintptr_t)b >> 6) ^ (uint32_t)line * 0x9e3779b1u,
		 number = (next ^ next >> 16) & 0xffff;
	uint64_t hash = (g->history ^ g->last) * 0x9e3779b97f4a7c15ull;
	struct guess *known = &g->by_history[hash >> 40 & (GUESSES - 1)];
	uint32_t tag = (uint32_t)hash >> 18;
	int miss = 0;

	if (known->tag != tag || known->next != number || known->sure != SURE)
		miss = guesses_learn(g, known, tag, number);
	g->history = g->history << 4 ^ next;
	g->last = next;
	return miss;
}

/* ---- lines ---- */

#define STREAMS 64         /* a power of two, as is the next */
#define STREAM_LOOK_UPS 32 /* that are remembered of each */
#define STREAM_PAGE_LOG 12

struct stream {
	uint64_t page;
	int32_t last, step;
	uint32_t count, trained; /* look-ups; of these the first that fetched others */
	uint64_t at[STREAM_LOOK_UPS];
};

struct streams {
	struct stream of[STREAMS];
};

LANES_INLINE void stream_begin(struct stream *s, uint64_t page, int32_t line, uint64_t at)
{
	s->page = page;
	s->last = line;
	s->step = 0;
	s->count = 1;
	s->trained = 0;
	s->at[0] = at;
}

/* The line is looked up then: when was it fetched ahead, by look-ups so many before?  0:
 * it was not. */
LANES_INLINE uint64_t streams_look_up(struct streams *all, uint64_t address,
	uint32_t line_shift, uint32_t ahead, uint64_t at)
{
	uint64_t page = address >> STREAM_PAGE_LOG;
	struct stream *s = &all->of[page * 0x9e3779b97f4a7c15ull >> 58];
	int32_t line = (int32_t)((address & ((1u << STREAM_PAGE_LOG) - 1)) >> line_shift),
		step = line - s->last;
	uint32_t by;

	if (s->page != page || !s->count) {
		stream_begin(s, page, line, at);
		return 0;
	}
	if (!step)
		return 0;
	if (step != s->step) {
		s->step = step;
		s->trained = 0;
	} else if (!s->trained) {
		s->trained = s->count + 1;
	}
	s->last = line;
	s->at[s->count++ % STREAM_LOOK_UPS] = at;
	if (!s->trained || s->trained == s->count)
		return 0;
	by = s->count > s->trained + ahead ? s->count - ahead : s->trained;
	return s->at[(by - 1) % STREAM_LOOK_UPS];
}

#endif
