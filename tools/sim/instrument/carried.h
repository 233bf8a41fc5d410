/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Values that go through memory: a load that gets what the superblock has stored, in this
 * round of a loop or in the one before, waits for that.  Each such word of memory is
 * one more of the registers that values flow through.
 *
 * General registers that are stored and loaded where a register and a constant say are
 * left out: Golden Cove has what was stored at once, without the way by memory (0 cycles,
 * measured, also where the next round's address is another one); other cores take four
 * to five cycles.  With an index, or without a register, it takes as long as all else.
 */
#ifndef CACHEPEEK_SIM_CARRIED_H
#define CACHEPEEK_SIM_CARRIED_H

#include "tool.h"

#define CARRIED_TEMPS 8192
#define CARRIED_STATEMENTS 8192
#define CARRIED_TOUCHES 64 /* loads, and stores, of a superblock */
#define CARRIED_GENERAL 32 /* registers, at the most */

/* A sum of general registers as they were when the superblock began, each times a power
 * of two, and a constant. */
struct sum {
	Int nterms; /* -1: it is none */
	struct term {
		Int of, shift;
	} term[2];
	Long offset;
};

/* A load or a store. */
struct touch {
	Int at, size;
	Int word;  /* -1: none yet */
	Bool slow; /* of floats and vectors, or not where a register and a constant say */
	struct sum where;
};

struct touches {
	Int n;
	struct touch of[CARRIED_TOUCHES];
};

struct carried {
	const IRSB *in;
	/* The values of temporaries, and which statement made them. */
	const IRExpr *made[CARRIED_TEMPS];
	Int made_at[CARRIED_TEMPS];
	/* The first and last statement that sets each general register; -1: none does. */
	Int first_put[CARRIED_GENERAL], last_put[CARRIED_GENERAL];
	struct touches loads, stores;
	Bool loops;                     /* the superblock is a round of one */
	Int words;                      /* so far */
	UChar word[CARRIED_STATEMENTS]; /* 0: none */
};

/* Looks for them in a superblock. */
void carried_find(struct carried *c, const IRSB *in);

/* The register that stands for what the statement, a load or store, loads or stores;
 * -1: none. */
Int carried_at(const struct carried *c, Int at);

#endif
