/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sample/words.h"

#define GRANULE 8 /* within which references that are aligned touch one line */

/* A reference to plan for. */
struct planned {
	const struct address *at;
	Long offset, low; /* low: rounded down if its line is the same then */
	UInt last;
	enum word_kind kind;
};

static Long round_down(Long offset)
{
	return offset & -(Long)GRANULE;
}

/* Is the root a multiple of 8?  Those of references of 8 bytes are: else these would be
 * slow, and span lines now and then. */
static Bool is_aligned(
	IRTemp root, const struct batch *b, const struct address *at, UInt places)
{
	for (UInt i = 0; i < places; i++)
		if (at[i].root == root && b->place[i].last == GRANULE - 1 &&
			at[i].offset % GRANULE == 0)
			return True;
	return False;
}

static Bool is_in_granule(
	const struct batch *b, const struct address *at, UInt places, UInt n)
{
	return at[n].root != IRTemp_INVALID &&
	       at[n].offset % GRANULE + b->place[n].last < GRANULE &&
	       is_aligned(at[n].root, b, at, places);
}

static struct planned planned_place(
	const struct batch *b, const struct address *at, UInt places, UInt n)
{
	const struct batch_place *p = &b->place[n];
	Long offset = (Long)at[n].offset;

	return (struct planned){
		.at = &at[n],
		.offset = offset,
		.low = is_in_granule(b, at, places, n) ? round_down(offset) : offset,
		.last = p->last < GRANULE ? 0 : p->last,
		.kind = p->first_kind == STORE ? WORD_STORES
			: p->writes            ? WORD_BOTH
					       : WORD_LOADS,
	};
}

/* A line that was stored to needs no other word, one that was loaded from does for
 * stores. */
static Bool stands_for(const struct word *w, const struct planned *p)
{
	if (w->at.root != p->at->root || (w->kind == WORD_LOADS && p->kind != WORD_LOADS))
		return False;
	if (w->last)
		return p->offset >= w->low && p->offset + p->last <= w->low + w->last;
	return p->low >= w->low && p->low + p->last <= w->high;
}

static Bool is_joined(struct word *w, const struct planned *p, Long reach)
{
	Long low = p->low < w->low ? p->low : w->low,
	     high = p->low > w->high ? p->low : w->high;

	if (w->at.root != p->at->root || w->at.root == IRTemp_INVALID ||
		w->kind != p->kind || w->last || p->last || high - low > reach)
		return False;
	if (p->low < w->low)
		w->at = *p->at;
	w->low = low;
	w->high = high;
	return True;
}

/* Where the program goes on after a fault, each batch that was run has words. */
static UInt word_for(struct words *words, const struct planned *p)
{
	for (UInt i = words->faults ? words->open : 0; i < words->n; i++)
		if (stands_for(&words->all[i], p))
			return i;
	for (UInt i = words->open; i < words->n; i++)
		if (is_joined(&words->all[i], p, words->reach))
			return i;
	words->all[words->n] = (struct word){*p->at, p->low, p->low, p->kind, p->last};
	return words->n++;
}

/* A place that is the same whenever the batch runs is not written if that is a matter
 * of bursts only: the site has it. */
static Bool is_left_out(const struct batch_place *p, const struct address *at,
	const struct sample_sets *chosen)
{
	UInt shift = line_shift();

	return at->root == IRTemp_INVALID &&
	       sample_leaves_out(chosen, at->offset >> shift) &&
	       sample_leaves_out(chosen, (at->offset + p->last) >> shift);
}

void words_plan(struct words *words, struct words_plan *plan, const struct batch *b,
	const struct address *at, UInt places)
{
	if (words->n + BATCH_PLACES > WORDS_MOST)
		words->n = 0;
	plan->first = words->open = words->n;
	for (UInt i = 0; i < places; i++) {
		UInt n = batch_order(b, i);
		struct planned p = planned_place(b, at, places, n);

		plan->word[n] = is_left_out(&b->place[n], &at[n], words->chosen)
					? NO_WORD
					: word_for(words, &p);
	}
	plan->end = words->n;
}
