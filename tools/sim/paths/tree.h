/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tree: its nodes are entries of the profile's file, so that they outlive the
 * process, and are found by their parent and the address of their function.  What runs at
 * each call is here, to become part of who asks.
 */
#ifndef CACHEPEEK_SIM_PATHS_TREE_H
#define CACHEPEEK_SIM_PATHS_TREE_H

#include "base/probe.h"
#include "paths/paths.h"

/* Children that were called last, by their functions: what is called again is found at
 * once, and a node is one line of the cache. */
#define PATH_LATEST 11

struct path_node {
	struct cp_profile_path *out;
	Addr function; /* 0: a thread's root; PATH_GONE: it was unmapped */
	UInt parent;
	UInt latest[PATH_LATEST];
};

#define PATH_GONE 1

/* The tree of this process's paths. */
struct path_tree {
	struct cp_profile_path nowhere;
	struct path_node *nodes; /* by number; 0: none, there was no room */
	UInt nnodes, room;
	UInt last_root;
	struct path_place *table; /* open addressing */
	UInt table_room;
};

extern struct path_tree path_tree;

UInt tree_root(UInt thread);
/* The node of a function called there: the same where it calls itself, or where there is
 * no room for more. */
UInt tree_child(UInt parent, Addr function);
/* Functions there are others from now on. */
void tree_forget(Addr a, SizeT len);
void tree_fork_child(void);

static inline UInt tree_latest_at(Addr function)
{
	return (UInt)(cp_hash_word(function) >> 32) * (ULong)PATH_LATEST >> 32;
}

/* The same as tree_child, which has one more call. */
static inline UInt tree_call(UInt parent, Addr function)
{
	UInt child = path_tree.nodes[parent].latest[tree_latest_at(function)];
	const struct path_node *n = &path_tree.nodes[child];

	if (n->function != function || n->parent != parent || !child) {
		child = tree_child(parent, function);
		n = &path_tree.nodes[child];
	}
	if (n->function == function)
		n->out->calls++;
	else
		n->out->folded++;
	return child;
}

static inline struct cp_profile_path *tree_node(UInt node)
{
	return path_tree.nodes[node].out;
}

/* Does it only lead to another one: a stub of the PLT, code of the library's own? */
static inline Bool tree_is_passage(UInt node)
{
	return tree_node(node)->passage != 0;
}

#endif
