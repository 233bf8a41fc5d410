/* SPDX-License-Identifier: MIT
 *
 * A region that is open in a thread that forks is open in the child, from zero.
 */
#include <errno.h>

#include "regions/tree_parts.h"

static struct cp_reading *reopen_one(struct cp_tree *child, const struct cp_frame *frame)
{
	struct cp_name *name = (struct cp_name *)(uintptr_t)frame->name;

	if (!frame->node)
		return cp_tree_begin_tagged(child, name, frame->tag);
	return cp_tree_begin_at(child, frame->node->parent, name, frame->tag);
}

/* Outermost first. */
static int reopen_frames(struct cp_tree *child, const struct cp_frame *frame)
{
	struct cp_reading *start;

	if (!frame)
		return 0;
	if (reopen_frames(child, frame->outer) < 0)
		return -ENOMEM;
	start = reopen_one(child, frame);
	if (!start)
		return child->depth > CP_TREE_DEPTH ? 0 : -ENOMEM;
	*start = child->begin->start;
	cp_tree_begin_time(child, child->begin->begin_ns);
	return 0;
}

static void reopen_ranges(struct cp_tree *child, const struct cp_frame *frame)
{
	for (; frame; frame = frame->outer) {
		struct cp_reading *start = cp_tree_range_begin(
			child, (struct cp_name *)(uintptr_t)frame->name, frame->tag);

		if (!start)
			return;
		*start = child->begin->start;
		cp_tree_range_time(child, child->begin->begin_ns);
	}
}

int cp_tree_reopen(struct cp_tree *child, const struct cp_tree *parent)
{
	reopen_ranges(child, parent->ranges);
	return reopen_frames(child, parent->top);
}
