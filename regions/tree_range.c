/* SPDX-License-Identifier: MIT
 *
 * Ranges, which overlap with anything, and pauses.
 */
#include "regions/tree_parts.h"

/* ---- ranges ---- */

struct cp_reading *cp_tree_range_begin(
	struct cp_tree *tree, struct cp_name *name, uint64_t id)
{
	struct cp_node *node = cp_tree_child(tree, tree->root, name, true);
	struct cp_frame *frame = node ? cp_frame_new(tree) : NULL;

	if (!frame)
		return NULL;
	cp_frame_set_out(tree, frame, node);
	frame->name = name;
	frame->tag = id;
	frame->outer = tree->ranges;
	tree->ranges = frame;
	return &frame->start;
}

void cp_tree_range_time(struct cp_tree *tree, uint64_t now_ns)
{
	tree->ranges->begin_ns = now_ns;
}

static void close_range(struct cp_tree *tree, struct cp_frame **at,
	const struct cp_reading *reading, uint64_t now_ns)
{
	struct cp_frame *frame = *at;

	cp_tree_add_range(tree, frame, reading, now_ns);
	*at = frame->outer;
	cp_frame_spare(tree, frame);
}

enum cp_misuse cp_tree_range_end(struct cp_tree *tree, uint64_t id,
	const struct cp_reading *reading, uint64_t now_ns)
{
	struct cp_frame **at = &tree->ranges;

	while (*at && (*at)->tag != id)
		at = &(*at)->outer;
	if (!*at)
		return CP_MISUSE_NO_BEGIN;
	close_range(tree, at, reading, now_ns);
	return CP_MISUSE_NONE;
}

void cp_tree_close_ranges(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns)
{
	while (tree->ranges) {
		tree->ranges->node->item->flags |= CP_REGION_LEFT_OPEN;
		close_range(tree, &tree->ranges, reading, now_ns);
	}
}

/* ---- pauses ---- */

void cp_tree_pause(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns)
{
	if (tree->pauses++ > 0)
		return;
	tree->paused = cp_frame_take(reading, now_ns);
}

const struct cp_reading *cp_tree_frozen(const struct cp_tree *tree, uint64_t *now_ns)
{
	if (!tree->paused)
		return NULL;
	*now_ns = tree->paused->begin_ns;
	return &tree->paused->start;
}

void cp_tree_shift(const struct cp_tree *tree, struct cp_frame *frame,
	const struct cp_frame *end, const struct cp_frame *from,
	const struct cp_reading *now, uint64_t now_ns)
{
	bool countable = cp_tree_is_countable(tree->layout, &from->start, now);

	for (; frame != end; frame = frame->outer) {
		if (!frame->node)
			continue;
		frame->start.failed |= !countable;
		for (uint32_t i = 0; i < tree->layout->ncounters; i++)
			frame->start.counter[i] +=
				now->counter[i] - from->start.counter[i];
		for (uint32_t g = 0; g < tree->layout->ngroups; g++) {
			frame->start.group[g].enabled +=
				now->group[g].enabled - from->start.group[g].enabled;
			frame->start.group[g].running +=
				now->group[g].running - from->start.group[g].running;
		}
		frame->begin_ns += now_ns - from->begin_ns;
	}
}

void cp_tree_resume(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns)
{
	if (tree->pauses == 0 || --tree->pauses > 0 || !tree->paused)
		return;
	cp_tree_shift(tree, tree->top, NULL, tree->paused, reading, now_ns);
	cp_tree_shift(tree, tree->ranges, NULL, tree->paused, reading, now_ns);
	cp_frame_give(tree->paused);
	tree->paused = NULL;
}
