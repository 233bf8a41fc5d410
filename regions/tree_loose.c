/* SPDX-License-Identifier: MIT
 *
 * Ends out of order, of tools whose regions may overlap: what is inside goes on.
 */
#include "regions/tree_parts.h"

/* Opens again what was closed for the sake of an outer region, on its new path. */
static void continue_region(struct cp_tree *tree, struct cp_name *name, uint64_t tag,
	const struct cp_reading *reading, uint64_t now_ns)
{
	struct cp_reading *start = cp_tree_begin_tagged(tree, name, tag);

	if (!start)
		return;
	*start = *reading;
	cp_tree_begin_time(tree, now_ns);
}

/* Closes down to frame and opens what was above it again, outermost first. */
static enum cp_misuse close_from_within(struct cp_tree *tree,
	const struct cp_frame *frame, bool close_own, const struct cp_reading *reading,
	uint64_t now_ns)
{
	struct cp_name *name = (struct cp_name *)(uintptr_t)tree->top->name;
	uint64_t tag = tree->top->tag;
	bool last = tree->top == frame, goes_on = !last;

	enum cp_misuse misuse = CP_MISUSE_NONE;
	uint32_t flags = 0;

	if (close_own && tag == frame->tag)
		goes_on = false;
	if (goes_on)
		flags = CP_REGION_CONTINUED;
	else if (!last && !tag)
		flags = CP_REGION_WRONG_NAME;
	cp_tree_close_top(tree, reading, now_ns, last, flags);
	if (!last)
		misuse = close_from_within(tree, frame, close_own, reading, now_ns);
	if (goes_on)
		continue_region(tree, name, tag, reading, now_ns);
	return flags == CP_REGION_WRONG_NAME ? CP_MISUSE_WRONG_NAME : misuse;
}

enum cp_misuse cp_tree_end_loosely(struct cp_tree *tree, const struct cp_name *name,
	uint64_t tag, bool close_own, const struct cp_reading *reading, uint64_t now_ns)
{
	const struct cp_frame *frame = cp_tree_find_open(tree, name, tag);

	if (!frame) {
		if (!tag)
			tree->root->item->flags |= CP_REGION_END_WITHOUT_BEGIN;
		return CP_MISUSE_NO_BEGIN;
	}
	if (tree->depth > 2 * CP_TREE_DEPTH) /* no recursion without a bound */
		return cp_tree_end_tagged(tree, name, tag, reading, now_ns);
	return close_from_within(tree, frame, close_own, reading, now_ns);
}

void cp_tree_suspend(struct cp_tree *tree, uint64_t tag, const struct cp_reading *reading,
	uint64_t now_ns)
{
	struct cp_frame *frame = cp_tree_find_open(tree, NULL, tag);

	if (!frame)
		return;
	if (frame->node)
		frame->node->item->flags |= CP_REGION_PARTS;
	if (frame == tree->top)
		cp_tree_close_top(tree, reading, now_ns, true, 0);
	else
		cp_tree_end_loosely(tree, NULL, tag, false, reading, now_ns);
}

void cp_tree_is_again(struct cp_tree *tree, const struct cp_name *name)
{
	struct cp_frame *top = tree->top;

	if (!top || top->name != name)
		return;
	top->again = true;
	if (top->node)
		top->node->item->flags |= CP_REGION_PARTS;
}

unsigned cp_tree_open_depth(const struct cp_tree *tree, uint64_t tag)
{
	unsigned depth = tree->depth;

	for (const struct cp_frame *frame = tree->top; frame;
		frame = frame->outer, depth--)
		if (frame->tag == tag)
			return depth;
	return 0;
}
