/* SPDX-License-Identifier: MIT
 *
 * Adding the tree of a thread that has ended to the one that stands for many.
 *
 * One region after the other moves, innermost first, and each in one
 * transaction: what the two trees hold together is the same at any instant,
 * also for a reader who finds the process killed in between.
 */
#include <string.h>

#include "regions/series_write.h"
#include "regions/tree_parts.h"

/* Where node's counts belong; made if need be, NULL: out of memory. */
static struct cp_node *counterpart_in(struct cp_tree *into, const struct cp_node *node)
{
	struct cp_node *parent;

	if (!node->parent)
		return into->root;
	parent = counterpart_in(into, node->parent);
	return parent ? cp_tree_child(into, parent, node->name, node->range) : NULL;
}

static bool make_room(struct cp_tree *into, const struct cp_tree *from)
{
	for (const struct cp_node *node = from->nodes; node; node = node->next)
		if (!counterpart_in(into, node))
			return false;
	return true;
}

static struct cp_folded *folded_of(
	const struct cp_tree *tree, const struct cp_region_item *item)
{
	return cp_region_end(tree, item);
}

static void move_counts(const struct cp_layout *layout, struct cp_region_item *to,
	struct cp_region_item *from)
{
	struct cp_sum *sums = cp_region_sums(to), *old_sums = cp_region_sums(from);
	struct cp_times *times = cp_region_times(
				to, layout->ncounters, layout->nquantities),
			*old_times = cp_region_times(
				from, layout->ncounters, layout->nquantities);

	for (uint32_t i = 0; i < layout->ncounters; i++) {
		sums[i].inclusive += old_sums[i].inclusive;
		sums[i].children += old_sums[i].children;
		old_sums[i] = (struct cp_sum){0, 0};
	}
	for (uint32_t g = 0; g < layout->ngroups; g++) {
		times[g].enabled += old_times[g].enabled;
		times[g].running += old_times[g].running;
		old_times[g] = (struct cp_times){0, 0};
	}
}

/* Before the sums move: what lies between the two is taken from them. */
static double squares_between(const struct cp_layout *layout, uint32_t q,
	const struct cp_region_item *to, const struct cp_region_item *from)
{
	const struct cp_quantity_terms *quantity = &layout->quantities[q];
	uint64_t there = cp_sparse_executions(layout, to),
		 more = cp_sparse_executions(layout, from);

	if (!there || !more)
		return 0;
	return cp_squares_between(
		cp_quantity_sum(quantity, &cp_region_sums(to)->inclusive, 2), there,
		cp_quantity_sum(quantity, &cp_region_sums(from)->inclusive, 2), more);
}

static void move_spreads(const struct cp_layout *layout, struct cp_region_item *to,
	struct cp_region_item *from)
{
	struct cp_spread *spreads = cp_region_spreads(to, layout->ncounters),
			 *old = cp_region_spreads(from, layout->ncounters);

	for (uint32_t q = 0; q < layout->nquantities; q++) {
		if (old[q].min < spreads[q].min)
			spreads[q].min = old[q].min;
		if (old[q].max > spreads[q].max)
			spreads[q].max = old[q].max;
		spreads[q].squares +=
			old[q].squares + squares_between(layout, q, to, from);
		old[q] = (struct cp_spread){UINT64_MAX, 0, 0};
	}
}

static void move_rest(struct cp_folded *folded, struct cp_region_item *to,
	struct cp_region_item *from, const struct cp_folded *more)
{
	folded->threads += more->threads;
	if (more->longest_ns > folded->longest_ns)
		folded->longest_ns = more->longest_ns;
	to->flags |= from->flags;
	to->calls += from->calls;
	to->time_ns += from->time_ns;
	to->children_ns += from->children_ns;
	from->calls = from->time_ns = from->children_ns = 0;
	from->flags = 0;
}

void cp_region_move(const struct cp_layout *layout, struct cp_region_item *to,
	struct cp_folded *folded, struct cp_region_item *from,
	const struct cp_folded *more)
{
	move_spreads(layout, to, from);
	move_counts(layout, to, from);
	if (layout->sparse)
		cp_sparse_move(layout, to, from);
	if (layout->nrotated)
		cp_rotated_move(layout, to, from);
	move_rest(folded, to, from, more);
}

static void move_region(
	struct cp_tree *from, const struct cp_node *node, const struct cp_node *to)
{
	const struct cp_layout *layout = from->layout;
	struct change change = change_begin(from);

	save_range(&change, to, &to->item->flags, folded_of(from, to->item) + 1);
	save_range(&change, node, &node->item->flags, folded_of(from, node->item));
	change_open(&change);
	write_begin(to->item);
	write_begin(node->item);
	cp_region_move(layout, to->item, folded_of(from, to->item), node->item,
		&(struct cp_folded){1, node->item->time_ns});
	write_end(node->item);
	write_end(to->item);
	change_close(&change);
}

bool cp_tree_fold(struct cp_tree *into, struct cp_tree *from)
{
	if (!make_room(into, from))
		return false;
	/* The newest first: children come after their parents, the root last. */
	for (const struct cp_node *node = from->nodes; node; node = node->next)
		move_region(from, node, counterpart_in(into, node));
	for (const struct cp_node *node = from->nodes; node; node = node->next) {
		if (from->record->series)
			cp_series_forget(from->record->series, node->item,
				counterpart_in(into, node)->offset);
		cp_record_recycle(from->record, node->item);
	}
	cp_record_recycle(from->record, from->journal);
	from->journal = NULL;
	return true;
}
