/* SPDX-License-Identifier: MIT
 *
 * Regions of teams of threads: where the other threads put them, and rests.
 */
#include "regions/tree_parts.h"

/* The node of this tree for one of another; make: if need be.  NULL: there is
 * none, or no memory. */
static struct cp_node *counterpart_of(
	struct cp_tree *tree, const struct cp_node *foreign, bool make)
{
	struct cp_node *parent;

	if (!foreign || !foreign->parent)
		return tree->root;
	parent = counterpart_of(tree, foreign->parent, make);
	if (!parent)
		return NULL;
	return make ? cp_tree_child(tree, parent, foreign->name, false)
		    : cp_tree_find_child(tree, parent, foreign->name, false);
}

static struct cp_reading *begin_below(
	struct cp_tree *tree, struct cp_node *parent, struct cp_name *name, uint64_t tag)
{
	struct cp_node *node = parent ? cp_tree_child(tree, parent, name, false) : NULL;
	struct cp_frame *frame = node ? cp_tree_open(tree, node, name, tag) : NULL;

	if (frame && tag & CP_TAG_WATCHED)
		node->item->flags |= CP_REGION_FUNCTION;
	return frame ? &frame->start : NULL;
}

struct cp_reading *cp_tree_begin_at(struct cp_tree *tree, const struct cp_node *place,
	struct cp_name *name, uint64_t tag)
{
	if (tree->depth >= CP_TREE_DEPTH)
		return cp_tree_begin_tagged(tree, name, tag);
	return begin_below(tree, counterpart_of(tree, place, true), name, tag);
}

bool cp_tree_can_begin_at(const struct cp_tree *tree, const struct cp_node *place,
	const struct cp_name *name)
{
	const struct cp_node *parent =
		counterpart_of((struct cp_tree *)(uintptr_t)tree, place, false);

	return tree->spare && tree->depth < CP_TREE_DEPTH && parent &&
	       cp_tree_find_child(tree, parent, name, false);
}

static const struct cp_frame *innermost_of(const struct cp_tree *tree, uint64_t tag)
{
	const struct cp_frame *frame = tree->top;

	while (frame && frame->tag != tag)
		frame = frame->outer;
	return frame;
}

bool cp_tree_prepare_rest(struct cp_tree *tree)
{
	if (!tree->rest_frame)
		tree->rest_frame = cp_frame_take(&cp_no_reading, 0);
	return tree->rest_frame != NULL;
}

struct cp_reading *cp_tree_rest(struct cp_tree *tree, uint64_t tag)
{
	const struct cp_frame *frame = innermost_of(tree, tag);

	if (tree->rest || !frame || !tree->rest_frame)
		return NULL;
	tree->rest = tree->rest_frame;
	tree->resting = frame;
	tree->root_is_newer = false;
	return &tree->rest->start;
}

void cp_tree_rest_time(struct cp_tree *tree, uint64_t now_ns)
{
	tree->rest->begin_ns = now_ns;
}

/* The two readings around a rest cost as much as those of a pair. */
static void count_rest(struct cp_tree *tree)
{
	if (tree->paused)
		return;
	tree->npairs++;
	for (struct cp_frame *frame = tree->top; frame != tree->resting->outer;
		frame = frame->outer) {
		if (!frame->node)
			continue;
		frame->pairs++;
		frame->rests++;
	}
}

void cp_tree_go_on(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns)
{
	if (!tree->rest)
		return;
	cp_tree_shift(tree, tree->top, tree->resting->outer, tree->rest, reading, now_ns);
	count_rest(tree);
	tree->rest = NULL;
}

void cp_tree_end_rest(struct cp_tree *tree)
{
	const struct cp_frame *outside = tree->rest ? tree->resting->outer : NULL;

	if (!tree->rest)
		return;
	while (tree->top != outside)
		cp_tree_close_top(tree, &tree->rest->start, tree->rest->begin_ns,
			!tree->root_is_newer, 0);
	tree->rest = NULL;
}
