/* SPDX-License-Identifier: MIT
 *
 * The end of an execution as most are: each execution is counted, no group takes
 * turns, each quantity is one counter, and the region around it is open in this
 * thread.  The record is the same as after tree_change.c, which any execution may
 * take; what is left out here is the questions whose answers are known beforehand.
 */
#include <stddef.h>

#include "regions/tree_parts.h"

bool cp_layout_is_plain(const struct cp_layout *layout)
{
	if (layout->nrotated || layout->sparse || layout->corrected ||
		layout->ncounters > CP_MAX_COUNTERS)
		return false;
	for (uint32_t q = 0; q < layout->nquantities; q++) {
		const struct cp_quantity_terms *quantity = &layout->quantities[q];

		if (quantity->nterms > 1 ||
			(quantity->nterms == 1 && quantity->terms->sign < 0))
			return false;
	}
	return true;
}

/* How many there are of each, as constants where that pays. */
struct shape {
	uint32_t counters, quantities, groups;
	bool one_of_each; /* the quantity is the counter */
};

#define INLINE static inline __attribute__((always_inline))

/* From the start of the thread and of the execution to now no counter runs backwards,
 * and no reading has failed. */
INLINE bool can_be_counted(const struct cp_reading *first, const struct cp_reading *from,
	const struct cp_reading *to, struct shape shape)
{
	bool wrong = to->failed | from->failed | first->failed;

	for (uint32_t i = 0; i < shape.counters; i++)
		wrong |= (to->counter[i] < from->counter[i]) |
			 (to->counter[i] < first->counter[i]);
	return !wrong;
}

/* From its flags on. */
INLINE uint64_t *save_from_flags(struct cp_journal_range *range, uint64_t *to,
	const struct cp_node *node, uint64_t size)
{
	range->offset = node->offset + offsetof(struct cp_region_item, flags);
	range->size = size;
	return copy_words(
		to, (const uint64_t *)(const void *)&node->item->flags, size / 8);
}

/* The region's counts, the thread's, and the nested ones of what is in between. */
INLINE void save_three(struct cp_tree *tree, const struct cp_node *node,
	const struct cp_node *outer, struct shape shape)
{
	struct cp_journal_item *journal = tree->journal;
	uint64_t fixed = sizeof(struct cp_region_item) -
			 offsetof(struct cp_region_item, flags),
		 sums = fixed + shape.counters * sizeof(struct cp_sum),
		 all = sums + shape.quantities * sizeof(struct cp_spread) +
		       shape.groups * sizeof(struct cp_times);
	uint64_t *to = journal->bytes;

	to = save_from_flags(&journal->ranges[0], to, node, all);
	to = save_from_flags(&journal->ranges[1], to, tree->root, all);
	journal->nranges = 2;
	if (outer == tree->root)
		return;
	save_from_flags(&journal->ranges[2], to, outer, sums);
	journal->nranges = 3;
}

/* The sum has the value in it, the calls do not count it yet.  As long as all
 * executions were counted, and count the same, nothing deviates. */
INLINE void add_spread(struct cp_spread *spread, uint64_t value, uint64_t sum,
	const struct cp_region_item *item)
{
	uint64_t before = item->calls;

	if (value == spread->min && value == spread->max &&
		!(item->flags & CP_REGION_READ_FAILED))
		return;
	if (value < spread->min)
		spread->min = value;
	if (value > spread->max)
		spread->max = value;
	if (before)
		spread->squares += cp_squares_of_more(
			sum - value, before, value, 1, cp_squares_share(before, 1));
}

INLINE void add_spreads(const struct cp_region_item *item,
	const struct cp_quantity_terms *quantity, const uint64_t delta[],
	struct shape shape)
{
	const struct cp_sum *sums = cp_region_sums(item);
	struct cp_spread *spread = cp_region_spreads(item, shape.counters);

	for (uint32_t q = 0; q < shape.quantities; q++, spread++, quantity++) {
		uint32_t counter = 0;

		if (!shape.one_of_each) {
			if (!quantity->nterms)
				continue;
			counter = quantity->terms->counter;
		}
		add_spread(spread, delta[counter], sums[counter].inclusive, item);
	}
}

/* Looked up once: what is stored meanwhile might be any of these, for all that the
 * compiler knows. */
struct execution {
	const struct cp_reading *first, *from, *now; /* of the thread, its own */
	const struct cp_pair_cost *cost;
	struct cp_region_item *own, *around, *whole;
	/* Boundaries inside it and in the thread, and its own pieces. */
	uint64_t inside, all, pieces;
	uint64_t spent_ns, lived_ns;
};

/* Adds the counts to the execution's region, to the region around it as nested, and to
 * the thread's. */
INLINE void add_counts(struct execution e, uint64_t delta[], struct shape shape)
{
	struct cp_sum *own = cp_region_sums(e.own), *around = cp_region_sums(e.around),
		      *whole = cp_region_sums(e.whole);
	bool costs = e.cost && e.cost->counts;

	for (uint32_t i = 0; i < shape.counters; i++) {
		uint64_t value = e.now->counter[i] - e.from->counter[i],
			 total = e.now->counter[i] - e.first->counter[i];

		if (costs) {
			value = subtract_part(
				value, e.inside * e.cost->whole[i] +
					       e.pieces * e.cost->inside[i]);
			total = subtract_part(total, e.all * e.cost->whole[i]);
		}
		delta[i] = value;
		own[i].inclusive += value;
		around[i].children += value;
		whole[i].inclusive = total;
	}
}

INLINE void add_clock(struct execution e)
{
	uint64_t spent = e.spent_ns, lived = e.lived_ns;

	if (e.cost) {
		spent = subtract_part(spent,
			e.inside * e.cost->whole_ns + e.pieces * e.cost->inside_ns);
		lived = subtract_part(lived, e.all * e.cost->whole_ns);
	}
	e.own->time_ns += spent;
	e.around->children_ns += spent;
	e.whole->time_ns = lived;
}

INLINE void add_times(struct execution e, struct shape shape)
{
	struct cp_times *own = cp_region_times(e.own, shape.counters, shape.quantities),
			*whole = cp_region_times(
				e.whole, shape.counters, shape.quantities);
	const struct cp_times *from = e.from->group, *first = e.first->group,
			      *to = e.now->group;

	for (uint32_t g = 0; g < shape.groups; g++) {
		own[g].enabled += subtract_part(to[g].enabled, from[g].enabled);
		own[g].running += subtract_part(to[g].running, from[g].running);
		whole[g].enabled = subtract_part(to[g].enabled, first[g].enabled);
		whole[g].running = subtract_part(to[g].running, first[g].running);
	}
}

INLINE void add_execution(struct cp_tree *tree, const struct execution *found,
	const struct cp_node *node, const struct cp_node *outer, struct shape shape)
{
	struct execution e = *found;
	struct change change = {tree->journal, NULL};
	const struct cp_quantity_terms *quantities = tree->layout->quantities;
	uint64_t delta[CP_MAX_COUNTERS];

	save_three(tree, node, outer, shape);
	change_open(&change);
	write_begin(e.own);
	write_begin(e.around);
	write_begin(e.whole);
	add_counts(e, delta, shape);
	add_spreads(e.own, quantities, delta, shape);
	add_clock(e);
	add_times(e, shape);
	e.own->calls++;
	write_end(e.whole);
	if (e.around != e.whole)
		write_end(e.around);
	write_end(e.own);
	change_close(&change);
}

/* As tree.c's, of one that was counted. */
INLINE void pop_frame(struct cp_tree *tree, struct cp_frame *top)
{
	tree->top = top->outer;
	tree->depth--;
	cp_frame_spare(tree, top);
	tree->npairs += !tree->paused;
}

INLINE bool end_plainly(struct cp_tree *tree, struct cp_frame *top,
	const struct cp_reading *now, uint64_t now_ns, struct shape shape)
{
	const struct cp_frame *begin = tree->begin;
	const struct cp_node *outer = top->node->parent; /* cp_tree_ends_plainly */
	struct execution e = {&begin->start, &top->start, now, tree->layout->cost,
		top->node->item, outer->item, tree->root->item, tree->npairs - top->pairs,
		tree->npairs - begin->pairs, top->rests + 1,
		subtract_part(now_ns, top->begin_ns),
		subtract_part(now_ns, begin->begin_ns)};

	if (__builtin_expect(!can_be_counted(e.first, e.from, now, shape), 0)) {
		cp_tree_close_top(tree, now, now_ns, true, 0);
		return true;
	}
	add_execution(tree, &e, top->node, outer, shape);
	pop_frame(tree, top);
	return true;
}

bool cp_tree_end_one_of_each(struct cp_tree *tree, struct cp_frame *top,
	const struct cp_reading *now, uint64_t now_ns)
{
	return end_plainly(tree, top, now, now_ns, (struct shape){1, 1, 1, true});
}

bool cp_tree_end_plain(struct cp_tree *tree, struct cp_frame *top,
	const struct cp_reading *now, uint64_t now_ns)
{
	const struct cp_layout *layout = tree->layout;

	return end_plainly(tree, top, now, now_ns,
		(struct shape){
			layout->ncounters, layout->nquantities, layout->ngroups, false});
}
