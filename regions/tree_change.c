/* SPDX-License-Identifier: MIT
 *
 * Executions of regions, added to the record.
 */
#include "regions/tree_parts.h"

/* Counters never run backwards; one that did was not ours any more. */
static bool is_backwards(const struct cp_layout *layout, const struct cp_reading *from,
	const struct cp_reading *to)
{
	for (uint32_t i = 0; !layout->corrected && i < layout->ncounters; i++)
		if (to->counter[i] < from->counter[i])
			return true;
	return false;
}

bool cp_tree_is_countable(const struct cp_layout *layout, const struct cp_reading *from,
	const struct cp_reading *to)
{
	return !from->failed && !to->failed && !is_backwards(layout, from, to);
}

/* Boundaries inside an execution, and its own: one for each of its pieces, between
 * rests. */
struct boundaries {
	uint64_t pairs, skipped, pieces;
};

static inline struct boundaries boundaries_of(
	const struct cp_tree *tree, const struct cp_frame *frame, uint64_t pieces)
{
	return (struct boundaries){
		tree->npairs - frame->pairs, tree->nskipped - frame->skipped, pieces};
}

/* The cost of these boundaries in the region. */
static inline uint64_t cost_of(
	const struct cp_pair_cost *cost, struct boundaries of, uint32_t counter)
{
	uint64_t sum =
		of.pairs * cost->whole[counter] + of.pieces * cost->inside[counter];

	if (__builtin_expect(of.skipped > 0, 0))
		sum += of.skipped * cost->skipped[counter];
	return sum;
}

static inline uint64_t cost_ns(const struct cp_pair_cost *cost, struct boundaries of)
{
	return of.pairs * cost->whole_ns + of.skipped * cost->skipped_ns +
	       of.pieces * cost->inside_ns;
}

/* A counter that takes turns has no minimum and no maximum, nor has one that does not
 * count. */
static bool takes_turns(
	const struct cp_layout *layout, const struct cp_quantity_terms *quantity)
{
	for (uint32_t t = 0; t < quantity->nterms; t++)
		if (layout->group_of[quantity->terms[t].counter] < layout->nrotated)
			return true;
	return false;
}

/* The executions before had their part of the sums, which are those with this
 * one's delta, weighted. */
static void add_spreads(const struct cp_layout *layout, struct cp_region_item *item,
	const uint64_t delta[], uint64_t weight)
{
	struct cp_spread *spreads = cp_region_spreads(item, layout->ncounters);
	uint64_t before = cp_sparse_executions(layout, item);
	double share = before ? cp_squares_share(before, weight) : 0;

	for (uint32_t q = 0; q < layout->nquantities; q++) {
		const struct cp_quantity_terms *quantity = &layout->quantities[q];
		uint64_t value, sum;

		if (!quantity->nterms ||
			(layout->nrotated && takes_turns(layout, quantity)))
			continue;
		value = cp_quantity_sum(quantity, delta, 1);
		if (value < spreads[q].min)
			spreads[q].min = value;
		if (value > spreads[q].max)
			spreads[q].max = value;
		if (!before)
			continue;
		sum = cp_quantity_sum(quantity, &cp_region_sums(item)->inclusive, 2);
		spreads[q].squares += cp_squares_of_more(
			sum > weight * value ? sum - weight * value : 0, before, value,
			weight, share);
	}
}

/* Times that were read in different ways differ by rounding. */
static void add_times(const struct cp_layout *layout, struct cp_region_item *item,
	const struct cp_reading *from, const struct cp_reading *to)
{
	struct cp_times *times =
		cp_region_times(item, layout->ncounters, layout->nquantities);

	for (uint32_t g = 0; g < layout->ngroups; g++) {
		times[g].enabled +=
			subtract_part(to->group[g].enabled, from->group[g].enabled);
		times[g].running +=
			subtract_part(to->group[g].running, from->group[g].running);
	}
}

/* Counts of our own boundaries inside are not the program's. */
static void add_counts(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, struct boundaries own, uint64_t delta[])
{
	const struct cp_layout *layout = tree->layout;
	struct cp_region_item *item = frame->node->item;
	struct cp_sum *sums = cp_region_sums(item);
	const struct cp_pair_cost *cost = layout->cost;
	uint64_t weight = frame->weight;

	for (uint32_t i = 0; i < layout->ncounters; i++) {
		uint64_t value = now->counter[i] - frame->start.counter[i];

		if (cost)
			value = subtract_part(value, cost_of(cost, own, i));
		delta[i] = value;
		sums[i].inclusive += weight * value;
	}
	if (layout->nrotated)
		cp_tree_add_sample(tree, frame, now, delta);
	add_spreads(layout, item, delta, frame->weight);
	add_times(layout, item, &frame->start, now);
}

/* One execution from `frame` to `now`, which is open for writing; delta is set to
 * what it counted.  Where a reading failed that is nothing, and false. */
static bool add_execution(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, uint64_t now_ns, uint64_t delta[])
{
	struct cp_region_item *item = frame->node->item;
	bool countable = cp_tree_is_countable(tree->layout, &frame->start, now);
	const struct cp_pair_cost *cost = tree->layout->cost;
	struct boundaries own = boundaries_of(tree, frame, frame->rests + 1);
	uint64_t time_ns = subtract_part(now_ns, frame->begin_ns);

	if (cost)
		time_ns = subtract_part(time_ns, cost_ns(cost, own));
	if (countable)
		add_counts(tree, frame, now, own, delta);
	else
		item->flags |= CP_REGION_READ_FAILED;
	if (tree->layout->sparse)
		cp_sparse_add(tree, frame->node, frame->weight, countable ? delta : NULL,
			time_ns);
	item->time_ns += frame->weight * time_ns;
	item->calls += !frame->again;
	return countable;
}

/* delta NULL: it could not be counted, and the region around it lacks a part to
 * leave out. */
static void add_to_outer(struct cp_tree *tree, const struct cp_frame *frame,
	struct cp_region_item *outer, const uint64_t delta[], uint64_t time_ns)
{
	struct cp_sum *above = cp_region_sums(outer);

	if (!delta)
		outer->flags |= CP_REGION_READ_FAILED;
	for (uint32_t i = 0; delta && i < tree->layout->ncounters; i++)
		above[i].children += frame->weight * delta[i];
	outer->children_ns += time_ns;
}

/* The root's counts are one difference, renewed at each boundary; it is open
 * for writing. */
static void renew_root(
	struct cp_tree *tree, const struct cp_reading *now, uint64_t now_ns)
{
	const struct cp_layout *layout = tree->layout;
	struct cp_region_item *item = tree->root->item;
	const struct cp_pair_cost *cost = layout->cost;
	struct boundaries inside = boundaries_of(tree, tree->begin, 0);
	struct cp_reading *start = &tree->begin->start;
	struct cp_sum *sums = cp_region_sums(item);
	struct cp_times *times =
		cp_region_times(item, layout->ncounters, layout->nquantities);

	item->time_ns = subtract_part(now_ns, tree->begin->begin_ns);
	if (cost)
		item->time_ns = subtract_part(item->time_ns, cost_ns(cost, inside));
	if (!cp_tree_is_countable(layout, start, now)) {
		item->flags |= CP_REGION_READ_FAILED;
		if (start->failed)
			*start = *now; /* from here on, then */
		return;
	}
	for (uint32_t i = 0; i < layout->ncounters; i++) {
		uint64_t value = now->counter[i] - start->counter[i];

		sums[i].inclusive =
			cost ? subtract_part(value, cost_of(cost, inside, i)) : value;
	}
	for (uint32_t g = 0; g < layout->ngroups; g++) {
		times[g].enabled =
			subtract_part(now->group[g].enabled, start->group[g].enabled);
		times[g].running =
			subtract_part(now->group[g].running, start->group[g].running);
	}
}

static void save_sums(
	struct change *change, const struct cp_node *node, uint32_t ncounters)
{
	save_range(change, node, &node->item->flags,
		cp_region_spreads(node->item, ncounters));
}

static void save_times(
	struct change *change, const struct cp_node *node, const struct cp_layout *layout)
{
	struct cp_times *times =
		cp_region_times(node->item, layout->ncounters, layout->nquantities);

	save_range(change, node, times, times + layout->ngroups);
}

void cp_tree_update_root(
	struct cp_tree *tree, const struct cp_reading *now, uint64_t now_ns)
{
	struct change change = change_begin(tree);

	save_sums(&change, tree->root, tree->layout->ncounters);
	save_times(&change, tree->root, tree->layout);
	change_open(&change);
	write_begin(tree->root->item);
	renew_root(tree, now, now_ns);
	write_end(tree->root->item);
	change_close(&change);
}

static void save_all(
	struct change *change, const struct cp_node *node, const struct cp_tree *tree)
{
	save_range(change, node, &node->item->flags, cp_region_end(tree, node->item));
}

/* Adds what was counted inside a region that is open in another thread only, by an
 * execution of weight 1: those of teams all have it. */
static void add_elsewhere(struct cp_tree *tree, const struct cp_node *node,
	const struct cp_frame *frame, const struct cp_reading *now,
	const uint64_t delta[], uint64_t time_ns)
{
	const struct cp_layout *layout = tree->layout;
	struct cp_region_item *item = node->item;
	struct cp_sum *sums = cp_region_sums(item);
	struct change change = change_begin(tree);

	save_all(&change, node, tree);
	change_open(&change);
	write_begin(item);
	item->flags |= CP_REGION_ELSEWHERE | (delta ? 0 : CP_REGION_READ_FAILED);
	for (uint32_t i = 0; delta && i < layout->ncounters; i++) {
		sums[i].inclusive += frame->weight * delta[i];
		sums[i].children += frame->weight * delta[i];
	}
	if (delta)
		add_times(layout, item, &frame->start, now);
	item->time_ns += time_ns;
	item->children_ns += time_ns;
	write_end(item);
	change_close(&change);
}

/* The region whose own counts it is no part of: mostly its parent. */
static const struct cp_node *node_around(
	const struct cp_tree *tree, const struct cp_frame *frame)
{
	return frame->outer ? frame->outer->node : tree->root;
}

void cp_tree_add_execution(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, uint64_t now_ns, bool with_root)
{
	const struct cp_layout *layout = tree->layout;
	const struct cp_node *node = frame->node, *outer = node_around(tree, frame),
			     *root = tree->root;
	struct change change = change_begin(tree);
	uint64_t delta[layout->ncounters + 1]; /* no more: stacks may be small */
	uint64_t before_ns = node->item->time_ns, spent_ns;
	bool counted;

	save_all(&change, node, tree);
	save_sums(&change, outer, layout->ncounters);
	if (with_root && root != outer)
		save_sums(&change, root, layout->ncounters);
	if (with_root)
		save_times(&change, root, layout);
	change_open(&change);
	write_begin(node->item);
	write_begin(outer->item);
	write_begin(root->item);
	counted = add_execution(tree, frame, now, now_ns, delta);
	spent_ns = node->item->time_ns - before_ns;
	add_to_outer(tree, frame, outer->item, counted ? delta : NULL, spent_ns);
	if (with_root)
		renew_root(tree, now, now_ns);
	write_end(root->item);
	if (root != outer)
		write_end(outer->item);
	write_end(node->item);
	change_close(&change);
	for (node = node->parent; node != outer && node != root; node = node->parent)
		add_elsewhere(tree, node, frame, now, counted ? delta : NULL, spent_ns);
}

void cp_tree_add_range(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, uint64_t now_ns)
{
	struct change change = change_begin(tree);
	uint64_t delta[tree->layout->ncounters + 1];

	save_all(&change, frame->node, tree);
	change_open(&change);
	write_begin(frame->node->item);
	add_execution(tree, frame, now, now_ns, delta);
	write_end(frame->node->item);
	change_close(&change);
}
