/* SPDX-License-Identifier: MIT */
#include "regions/left_out.h"

#include <string.h>

#include "regions/tree.h"

void cp_left_out_begin(struct cp_left_out *left, const struct cp_tree *tree,
	const struct cp_name *name, uint64_t tag)
{
	if (left->n == CP_MOST_LEFT_OUT) {
		if (!left->more++)
			left->more_depth = tree->depth;
		return;
	}
	left->open[left->n].name = name;
	left->open[left->n].tag = tag;
	left->open[left->n++].depth = tree->depth;
}

/* The innermost of the tag, and of the name if there is one; n: none. */
static unsigned find(
	const struct cp_left_out *left, const struct cp_name *name, uint64_t tag)
{
	for (unsigned i = left->n; i-- > 0;)
		if (left->open[i].tag == tag && (!name || left->open[i].name == name))
			return i;
	return left->n;
}

bool cp_left_out_end(struct cp_left_out *left, const struct cp_tree *tree,
	const struct cp_name *name, uint64_t tag)
{
	unsigned found = find(left, name, tag);
	unsigned open = name ? 0 : cp_tree_open_depth(tree, tag);

	if (left->more) {
		if (open > left->more_depth)
			return false;
		left->more--;
		return true;
	}
	if (found == left->n || open > left->open[found].depth)
		return false;
	left->n--;
	memmove(&left->open[found], &left->open[found + 1],
		(left->n - found) * sizeof(left->open[0]));
	return true;
}
