/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which branches a core mispredicts, by what came next: after each branch, the batch that
 * followed the same few branches before; where that is not known, the one that follows
 * this branch most of the time.
 */
#ifndef CACHEPEEK_SIM_GUESS_H
#define CACHEPEEK_SIM_GUESS_H

#include "model/batch.h"

#define GUESSES 8192 /* a power of two, as of the next */
#define USUAL 4096
#define SURE 3

struct guess {
	uint32_t tag, next;
};

struct guesses {
	uint64_t history;
	uint32_t last; /* where the branch was */
	struct guess by_history[GUESSES], usual[USUAL];
};

/* The latter's tag: how sure it is. */
LANES_INLINE void guess_usual(struct guess *usual, uint32_t next)
{
	if (usual->next == next)
		usual->tag += usual->tag < SURE;
	else if (usual->tag)
		usual->tag--;
	else
		usual->next = next;
}

static __attribute__((noinline)) int guesses_learn(
	struct guesses *g, struct guess *known, uint32_t tag, uint32_t next)
{
	struct guess *usual = &g->usual[g->last % USUAL];
	int right = known->tag != tag && usual->next == next;

	if (!right)
		*known = (struct guess){tag, next};
	guess_usual(usual, next);
	return !right;
}

/* A batch follows a branch: not 0 if that was not to be expected. */
LANES_INLINE int guesses_miss(struct guesses *g, const struct batch *b, uint64_t line)
{
	uint32_t next = (uint32_t)((uintptr_t)b >> 6) ^ (uint32_t)line * 0x9e3779b1u;
	uint64_t hash = (g->history ^ g->last) * 0x9e3779b97f4a7c15ull;
	struct guess *known = &g->by_history[hash >> 40 & (GUESSES - 1)];
	int miss = 0;

	if (known->tag != (uint32_t)hash || known->next != next)
		miss = guesses_learn(g, known, (uint32_t)hash, next);
	g->history = g->history << 4 ^ next;
	g->last = next;
	return miss;
}

#endif
