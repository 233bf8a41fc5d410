/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which words a superblock writes into the log (log.h) for its references.
 *
 * References that are as far from each other whenever the superblock runs share a word if
 * they are within a line's length: the address of the lowest.  In a burst all of them are
 * told from it.  Between bursts it stands for one line or two, that of the lowest and
 * that of the highest, of which one at most is sampled (struct sample_sets, `apart`).
 * What the superblock has written stands for later references to these lines, too.
 */
#ifndef CACHEPEEK_SIM_SAMPLE_WORDS_H
#define CACHEPEEK_SIM_SAMPLE_WORDS_H

#include "block.h"
#include "model/sets.h"

#define WORDS_MOST 64 /* of a superblock */
#define NO_WORD (~0u)

enum word_kind { WORD_LOADS, WORD_BOTH, WORD_STORES };

struct word {
	struct address at;
	/* The addresses of the lowest and the highest of its references, from the root;
	 * multiples of 8 where the line is the same. */
	Long low, high;
	enum word_kind kind;
	UInt last; /* byte of a reference that is wider than 8, else 0 */
};

/* The words of a batch are numbered from first to end; word: that of each place, or
 * NO_WORD for those that are left out. */
struct words_plan {
	UInt first, end, word[BATCH_PLACES];
};

/* The words of the superblock so far; open: the first of the batch that is planned.  None
 * when it begins, or something else was called that may take the log. */
struct words {
	struct word all[WORDS_MOST];
	UInt n, open;
	Bool faults; /* the program may go on after one */
	Long reach;  /* how far the references of a word may be from each other */
	const struct sample_sets *chosen;
};

void words_plan(struct words *words, struct words_plan *plan, const struct batch *b,
	const struct address *at, UInt places);

#endif
