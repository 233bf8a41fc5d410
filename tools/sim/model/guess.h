/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a core foresees.  Branches, by what came next: after each one, the batch that
 * followed the same branches before, of as many as are known to have been followed by it
 * more than once: 64 or so, 16, or four; else the one that follows this branch most of
 * the time (TAGE: Seznec and Michaud, JILP 2006).  And streams of lines, in time alone:
 * what the caches have stays as it is, but lines that come at the same distance from each
 * other for the third time in a page were asked for when those some look-ups before were.
 * A stream that leaves its page at that distance goes on in the next one.
 */
#ifndef CACHEPEEK_SIM_GUESS_H
#define CACHEPEEK_SIM_GUESS_H

#include <stddef.h>

#include "model/batch.h"
#include "model/flow.h"

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
	guess_id foreseen; /* instead of what came, when it was last foreseen wrongly */
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

/* What a memory has for a history, and what its entry should be. */
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
	g->foreseen = by < 0 ? guess_id_of(usual->next) : all[by].known->next;
	is_right = g->foreseen == guess_id_of(next);
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

/* What is wrong with the entry for that history, if it is its own; else `wrong`. */
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

/* ---- wrong ways ----
 *
 * What a core executes behind a branch that it foresees wrongly, until the branch is
 * known: loads there ask for their lines.  Mostly the way that it goes by mistake soon
 * comes to where the right one goes as well; loads behind that which hang on nothing that
 * either way has changed are the right ones, so that their lines are on their way, or
 * there, when the right way comes to them.
 *
 * The wrong way is followed by what usually comes next (guess.h).  A batch that both ways
 * come to is the one where they meet.  Registers that were written in between by either
 * are different, and what is made of them, until they are written anew.
 */
#define FORKS 16
#define FORK_BLOCKS 8 /* of each way, before both meet */

/* A block begins behind a branch, and goes on to the next one.  A bit for each register:
 * those that were written in all blocks before it. */
struct block {
	uint32_t place;
	uint64_t writes;
};

/* A branch that is foreseen wrongly: instructions before it, the delay then, and when it
 * is known. */
struct fork {
	uint64_t number, delay, until;
	uint32_t apart; /* blocks in which both ways may yet meet; 0: they have */
	uint32_t nblocks;
	struct block block[FORK_BLOCKS]; /* of the wrong way */
	/* What is different, a bit each: registers now and when the superblock began, and
	 * its loads. */
	uint64_t differ, differed, loads_differ;
	uint64_t chains; /* that were late already */
};

/* Branches whose wrong ways come to where the core has got to, which may begin on each
 * other; the first that is known ends it for those behind it. */
struct forks {
	uint32_t n;
	struct fork of[FORKS];
	/* The block that is executed, from its beginning if it is whole; and what others
	 * were, when they were last. */
	guess_id id;
	uint32_t place, is_whole;
	uint64_t written;
	struct {
		uint32_t place;
		guess_id id;
		uint64_t writes;
	} seen[USUAL];
};

/* Where the batch's code is: of its first item, which is a reference to that. */
LANES_INLINE uint32_t place_of(const struct batch *b, uint64_t line)
{
	return (uint32_t)line * 64 + (uint32_t)batch_notes(b)->offset;
}

/* Behind a batch there is another block. */
LANES_INLINE void forks_begin_block(struct forks *f, const struct batch *b, uint64_t line)
{
	guess_id id = guess_id_of(guess_of(b, line));

	if (f->is_whole) {
		f->seen[f->id % USUAL].id = f->id;
		f->seen[f->id % USUAL].place = f->place;
		f->seen[f->id % USUAL].writes = f->written;
	}
	f->id = id;
	f->place = place_of(b, line);
	f->is_whole = 1;
	f->written = 0;
}

/* The wrong way, as far as it is known.  Of a loop there is another round, and then it
 * ends as the right way did. */
static void fork_foresee(
	struct fork *fork, const struct forks *f, const struct guesses *g, guess_id id)
{
	uint64_t writes = 0;

	fork->nblocks = 0;
	while (fork->nblocks < FORK_BLOCKS && f->seen[id % USUAL].id == id) {
		const union usual *next = &g->usual[id % USUAL];

		fork->block[fork->nblocks++] =
			(struct block){f->seen[id % USUAL].place, writes};
		writes |= f->seen[id % USUAL].writes;
		if (!next->sure)
			return;
		id = guess_id_of(next->next) == id ? f->id : guess_id_of(next->next);
	}
}

/* A branch was foreseen to be followed by the block `id`. */
static inline void forks_add(
	struct forks *f, const struct guesses *g, guess_id id, const struct fork *fork)
{
	if (f->n == FORKS)
		return;
	f->of[f->n] = *fork;
	fork_foresee(&f->of[f->n], f, g, id);
	f->of[f->n++].apart = FORK_BLOCKS;
}

/* The first ones are no more. */
static void forks_drop(struct forks *f, uint32_t first)
{
	for (uint32_t i = first; i < f->n; i++)
		f->of[i - first] = f->of[i];
	f->n -= first;
}

/* Chains have ended, and may begin anew. */
LANES_INLINE void forks_end_chains(struct forks *f, uint64_t chains)
{
	for (uint32_t i = 0; i < f->n; i++)
		f->of[i].chains &= ~chains;
}

/* Tells whether the wrong way has been here, or will be. */
static int fork_meets(struct fork *fork, uint32_t place)
{
	for (uint32_t i = 0; i < fork->nblocks; i++)
		if (fork->block[i].place == place) {
			fork->differ |= fork->block[i].writes;
			fork->apart = 0;
			return 1;
		}
	return 0;
}

/* The right way comes to a block.  Ways that do not meet are given up, with those that
 * would have to come that far. */
static inline void forks_meet(struct forks *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->of[i].apart && !fork_meets(&f->of[i], f->place) &&
			!--f->of[i].apart) {
			forks_drop(f, i + 1);
			i = (uint32_t)-1;
		}
}

/* Is anything different that it hangs on? */
static int fork_differs(const struct fork *fork, const struct flow_value *value)
{
	return !value ||
	       (value->registers & fork->differed) | (value->loads & fork->loads_differ);
}

/* A batch is over that is the same on both ways. */
static void fork_passes_on(struct fork *fork, const struct flow *flow)
{
	const union flow_word *word = flow_ways(flow);
	uint64_t reached = 0;

	for (uint32_t i = 0; i < flow->nloads; i++)
		if (fork_differs(fork, &flow->value[i]))
			fork->loads_differ |= 1ull << flow->value[i].to;
	if ((flow->reads & fork->differed) | (flow->loads & fork->loads_differ))
		for (uint32_t ways = flow->nways; ways; ways--) {
			struct flow_way way = word->way;
			uint64_t bit = 1ull << way.from % FLOW_REGISTERS,
				 of = way.from < FLOW_REGISTERS ? fork->differed
								: fork->loads_differ;

			for (word++; way.count; way.count--, word++)
				reached |= of & bit ? 1ull << word->put.to : 0;
		}
	fork->differ = (fork->differ & ~flow->writes) | reached;
}

/* A batch is over: on wrong ways that are apart, or that come to others that are, there
 * was another one. */
static inline void forks_pass_on(struct forks *f, const struct flow *flow)
{
	uint32_t apart = 0;

	for (uint32_t i = f->n; i-- > 0;) {
		struct fork *fork = &f->of[i];

		apart |= fork->apart;
		if (apart) {
			fork->differ |= flow->writes;
			fork->loads_differ = ~0ull;
		} else {
			fork_passes_on(fork, flow);
		}
	}
}

/* A superblock begins. */
LANES_INLINE void forks_take_over(struct forks *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		f->of[i].differed = f->of[i].differ;
		f->of[i].loads_differ = 0;
	}
}

/* The fork on whose wrong way the instruction is issued first that is so many behind all
 * others, at that cycle but for delays; NULL.  Window: how many it may be behind the
 * branch. */
LANES_INLINE struct fork *forks_first(
	struct forks *f, uint64_t number, uint64_t cycle, uint32_t window)
{
	uint32_t over = 0, first;

	while (over < f->n && (number - f->of[over].number >= window ||
				      cycle + f->of[over].delay >= f->of[over].until))
		over++;
	if (over)
		forks_drop(f, over);
	for (first = f->n; first && !f->of[first - 1].apart;)
		first--;
	return first < f->n ? &f->of[first] : NULL;
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
