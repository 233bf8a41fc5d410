/* SPDX-License-Identifier: MIT
 *
 * What the two files of the region tree share; nobody else's business.
 */
#ifndef CACHEPEEK_REGIONS_TREE_PARTS_H
#define CACHEPEEK_REGIONS_TREE_PARTS_H

#include "regions/tree.h"

/* Handles of uthash, which only tree.c includes. */
struct cp_node_key {
	const struct cp_node *parent;
	const struct cp_name *name;
	uint64_t range; /* 1: of a range, which has nothing inside */
};

/* One path of one thread. */
struct cp_node {
	struct cp_region_item *item;
	uint64_t offset; /* of the item, in the record */
	struct cp_node *parent;
	struct cp_name *name;   /* NULL: the root */
	struct cp_node *recent; /* the child used last: loops find it at once */
	struct cp_node *next;   /* of the tree */
};

/* One open execution.  One that is nested too deeply to be recorded ends
 * before begin_ns. */
struct cp_frame {
	struct cp_frame *outer;
	struct cp_node *node; /* NULL: not recorded */
	const struct cp_name *name;
	uint64_t tag;
	uint64_t pairs; /* of the thread when this one began */
	uint64_t begin_ns;
	struct cp_reading start;
};

/* tree_change.c: each is one transaction. */

/* The execution, and with_root the root up to date: all of it or nothing. */
void cp_tree_add_execution(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, uint64_t now_ns, bool with_root);

/* The same for a range, which is no part of what it overlaps with. */
void cp_tree_add_range(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, uint64_t now_ns);

void cp_tree_update_root(
	struct cp_tree *tree, const struct cp_reading *now, uint64_t now_ns);

#endif
