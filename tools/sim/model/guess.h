/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A core's predictions.  It foresees branches by what came next: after each one, the
 * batch that followed the same branches before, of as many as are known to have been
 * followed by it more than once: 64 or so, 16, or four; else the one that follows this
 * branch most of the time (TAGE: Seznec and Michaud, JILP 2006).  And streams of lines,
 * in time alone: what the caches have stays as it is, but lines that come at the same
 * distance from each other for the third time in a page were asked for when those some
 * look-ups before were.  A stream that leaves its page at that distance goes on in the
 * next one.
 */
#ifndef CACHEPEEK_SIM_GUESS_H
#define CACHEPEEK_SIM_GUESS_H

#include <stddef.h>

#include "model/batch.h"

#define GUESSES 4096 /* of each memory: a power of two, as of the next */
#define GUESSES_OF_JUMPS 512
#define USUAL 4096
/* With what comes, two bits, as cores have: where chance takes a branch three times of
 * ten, .38 go otherwise than foreseen, as many as by the clock (three bits: .31). */
#define SURE 1u
/* A loop's end is told apart from its other rounds if it has no more than these: a core
 * goes by so many branches (Alder Lake 194: Yavarzadeh and others, Half&Half, IEEE S&P
 * 2023). */
#define ROUNDS 193

/* The batch that came next, and how sure that is: 0 to SURE. */
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

/* A batch, in few bits. */
typedef uint16_t guess_id;

LANES_INLINE guess_id guess_id_of(uint32_t next)
{
	return (guess_id)next;
}

LANES_INLINE uint32_t guess_of(const struct batch *b, uint64_t line)
{
	return b->key ^ (uint32_t)line * 0x9e3779b1u;
}

/* By how many of the branches before: about four, 16, and 64. */
enum memory_of_branches { SHORT, MIDDLE, LONG, MEMORIES };
#define SHORT_WAYS 0xffffu

/* Which way it went so far: four bits of each branch, and one; and where the last branch
 * was.  The rounds of a loop are counted instead, so that its end is known however many
 * they are. */
struct history {
	uint64_t ways, long_ways;
	uint32_t last, rounds;
};

struct guesses {
	struct history history;
	union guess by_history[MEMORIES][GUESSES + GUESSES_OF_JUMPS];
	union usual usual[USUAL];
};

/* Learns what came next, which is what was guessed or not: the host could not foresee
 * which, so it is told without a branch. */
#define LEARN(guess, came)                                                               \
	do {                                                                             \
		uint32_t was = (guess)->sure, is_right = (guess)->next == (came);        \
                                                                                         \
		(guess)->next = was ? (guess)->next : (came);                            \
		(guess)->sure = is_right ? was + (was < SURE) : was - (was > 0);         \
	} while (0)

/* A memory's entry for a history, and what it should be. */
struct recalled {
	union guess *known, right;
};

/* For a branch with that history; where: the branch, and the rounds of a loop; the ways
 * have it, too, and both together must not be nothing.  Jumps that may go anywhere have
 * entries of their own. */
LANES_INLINE struct recalled guesses_recall(struct guesses *g, int memory, uint64_t ways,
	uint64_t where, uint32_t jumps, uint32_t next)
{
	uint64_t hash = (ways ^ where) * 0x9e3779b97f4a7c15ull,
		 entry = hash >> 40 & (jumps ? GUESSES_OF_JUMPS - 1 : GUESSES - 1);

	return (struct recalled){
		&g->by_history[memory][(jumps ? GUESSES : 0) + entry],
		{.all = guess_id_of(next) | (uint32_t)(hash >> 2 & TAG_BITS) |
			SURE << GUESS_SURE},
	};
}

LANES_INLINE uint64_t where_of(const struct history *h)
{
	return (uint64_t)h->last << 13 ^ (uint64_t)h->rounds << 32;
}

/* One longer memory is taken for it, the shortest of those whose entries of other
 * branches are not sure any more; those that are get less so. */
static void guesses_remember(const struct recalled *all, int shortest)
{
	for (int i = shortest; i < MEMORIES; i++) {
		union guess *known = all[i].known;

		if (!known->sure) {
			*known = all[i].right;
			known->sure = 0;
			return;
		}
		known->sure--;
	}
}

/* The longest memory of those bits; -1: none. */
LANES_INLINE int longest_of(uint32_t memories)
{
	return memories ? 31 - __builtin_clz(memories) : -1;
}

/* Only the longest memory learns, and the usual guess if there is no other. */
static __attribute__((noinline)) int guesses_learn(
	struct guesses *g, struct history h, uint32_t jumps, uint32_t next)
{
	const uint64_t ways[MEMORIES] = {h.ways & SHORT_WAYS, h.ways, h.long_ways};
	union usual *usual = &g->usual[h.last % USUAL];
	struct recalled all[MEMORIES];
	uint32_t mine = 0, sure = 0;
	int own, by, is_right;

#pragma GCC unroll 3
	for (int i = 0; i < MEMORIES; i++) {
		all[i] = guesses_recall(g, i, ways[i], where_of(&h), jumps, next);
		mine |= (uint32_t)(all[i].known->tag == all[i].right.tag) << i;
		sure |= (uint32_t)(all[i].known->sure != 0) << i;
	}
	own = longest_of(mine);
	by = longest_of(mine & sure);
	is_right = (by < 0 ? guess_id_of(usual->next) : all[by].known->next) ==
		   guess_id_of(next);
	LEARN(usual, next);
	if (own >= 0)
		LEARN(all[own].known, guess_id_of(next));
	if (!is_right)
		guesses_remember(all, own + 1);
	return !is_right;
}

/* How a batch ends: in a branch, which may go anywhere. */
struct branched {
	uint32_t branches, jumps;
};

LANES_INLINE struct branched branched_after(const struct batch *b)
{
	return (struct branched){b->branches, b->jumps};
}

/* Tells what is wrong with the entry for that history, if it is its own; else `wrong`. */
LANES_INLINE uint64_t guesses_look(const struct recalled *r, uint64_t wrong)
{
	uint32_t differs = r->known->all ^ r->right.all;

	return differs & TAG_BITS ? wrong : differs;
}

/* A branch of that history is followed by that batch. */
LANES_INLINE void history_goes_on(struct history *h, uint32_t next)
{
	int same = next == h->last;

	h->ways = same ? h->ways : (h->ways ^ h->rounds) << 4 ^ next;
	h->long_ways = same ? h->long_ways : (h->long_ways ^ h->rounds) << 1 ^ next;
	h->rounds = same ? h->rounds + (h->rounds < ROUNDS) : 0;
	h->last = next;
}

/* A branch is followed by what comes next.  Not 0 if it was not to be expected.  Mostly
 * there is nothing to learn: the guess was right and as sure as can be.  That is told by
 * a single branch of the host, which could not foresee which guess it is that counts. */
LANES_INLINE int guesses_miss(
	struct guesses *g, struct history *h, uint32_t jumps, uint32_t next)
{
	uint64_t where = where_of(h),
		 wrong = g->usual[h->last % USUAL].all ^
			 (union usual) { .next = next, .sure = SURE }.all;
	struct recalled brief = guesses_recall(
				g, SHORT, h->ways & SHORT_WAYS, where, jumps, next),
			middle = guesses_recall(g, MIDDLE, h->ways, where, jumps, next),
			far = guesses_recall(g, LONG, h->long_ways, where, jumps, next);
	int missed = 0;

	wrong = guesses_look(&brief, wrong);
	wrong = guesses_look(&middle, wrong);
	wrong = guesses_look(&far, wrong);
	if (__builtin_expect(wrong != 0, 0))
		missed = guesses_learn(g, *h, jumps, next);
	history_goes_on(h, next);
	return missed;
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

/* The pages that are looked for, in few lines of the host's.  page: its number + 1; 0:
 * none. */
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
