/* SPDX-License-Identifier: MIT
 *
 * Counts open regions up to where the process executes another program.  An exec may
 * fail, and then everything is as it was: the record's items are kept meanwhile.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/map.h"
#include "regions/tree_parts.h"

struct cp_tree_booked {
	size_t size, n; /* of the mapping; items that are kept */
	struct kept {
		struct cp_region_item *item;
	} kept[];
};

static size_t depth_of(const struct cp_node *node)
{
	size_t n = 0;

	for (; node; node = node->parent)
		n++;
	return n;
}

static size_t count_items(const struct cp_frame *frame)
{
	size_t n = 0;

	for (; frame; frame = frame->outer)
		n += depth_of(frame->node);
	return n;
}

static char *bytes_of(const struct cp_tree *tree, struct cp_tree_booked *booked,
	size_t room, size_t index)
{
	return (char *)&booked->kept[room] + index * tree->region_size;
}

static void keep_item(const struct cp_tree *tree, struct cp_tree_booked *booked,
	size_t room, const struct cp_frame *frame)
{
	for (; frame; frame = frame->outer)
		for (const struct cp_node *node = frame->node; node;
			node = node->parent) {
			booked->kept[booked->n].item = node->item;
			memcpy(bytes_of(tree, booked, room, booked->n), node->item,
				tree->region_size);
			booked->n++;
		}
}

/* Innermost first, as if they ended; but they stay open. */
static void add_open(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns)
{
	for (struct cp_frame *frame = tree->top; frame; frame = frame->outer) {
		if (!frame->node)
			continue;
		if (!(frame->tag & CP_TAG_UNWRITTEN))
			frame->node->item->flags |= CP_REGION_AT_EXEC;
		if (frame->weight)
			cp_tree_add_execution(tree, frame, reading, now_ns, false);
		else
			frame->node->item->calls++;
	}
	for (struct cp_frame *frame = tree->ranges; frame; frame = frame->outer) {
		frame->node->item->flags |= CP_REGION_AT_EXEC;
		cp_tree_add_range(tree, frame, reading, now_ns);
	}
}

void cp_tree_book_open(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns)
{
	size_t room = count_items(tree->top) + count_items(tree->ranges), size;

	if (!room || tree->booked || cp_tree_rests(tree))
		return;
	size = sizeof(*tree->booked) + room * sizeof(tree->booked->kept[0]) +
	       room * tree->region_size;
	tree->booked = cp_map(size, -1, 0);
	if (!tree->booked)
		return;
	tree->booked->size = size;
	tree->booked->n = 0;
	if (tree->paused)
		reading = cp_tree_frozen(tree, &now_ns);
	keep_item(tree, tree->booked, room, tree->top);
	keep_item(tree, tree->booked, room, tree->ranges);
	add_open(tree, reading, now_ns);
}

/* The version goes on: who reads it meanwhile sees that it has changed. */
static void restore_item(struct cp_region_item *item, const char *from, uint64_t size)
{
	uint64_t version = item->version;

	write_begin(item);
	memcpy(item, from, size);
	item->version = version | 1;
	write_end(item);
}

void cp_tree_unbook(struct cp_tree *tree)
{
	struct cp_tree_booked *booked = tree->booked;

	if (!booked)
		return;
	for (size_t i = 0; i < booked->n; i++)
		restore_item(booked->kept[i].item, bytes_of(tree, booked, booked->n, i),
			tree->region_size);
	tree->booked = NULL;
	munmap(booked, booked->size);
}
