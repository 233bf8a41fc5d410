/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tree of calling contexts, as it grows.
 */
#include "paths/tree.h"
#include "profile/profile.h"

struct path_node *path_nodes;

/* Where a node is found: what is compared is beside it. */
struct place {
	Addr function; /* 0: free */
	UInt parent, node;
};

/* The tree of this process's paths. */
static struct {
	struct cp_profile_path nowhere;
	UInt nnodes, room; /* path_nodes[0]: none */
	UInt last_root;
	/* Open addressing. */
	struct place *table;
	UInt table_room;
} tree;

static struct place *place_of(UInt parent, Addr function)
{
	ULong key = function ^ (ULong)parent * 0xff51afd7ed558ccdull;
	UInt i = (UInt)(key * 0x9e3779b97f4a7c15ull >> 32) & (tree.table_room - 1);

	while (tree.table[i].function &&
		(tree.table[i].parent != parent || tree.table[i].function != function))
		i = (i + 1) & (tree.table_room - 1);
	return &tree.table[i];
}

static void put_place(UInt parent, Addr function, UInt node)
{
	*place_of(parent, function) = (struct place){function, parent, node};
}

static void rebuild_table(UInt size)
{
	VG_(free)(tree.table);
	tree.table = VG_(calloc)("cachepeek.paths", size, sizeof(*tree.table));
	tree.table_room = size;
	for (UInt i = 1; i < tree.nnodes; i++)
		if (path_nodes[i].function > PATH_GONE)
			put_place(path_nodes[i].parent, path_nodes[i].function, i);
}

static void make_room(void)
{
	if (tree.nnodes == tree.room) {
		tree.room = tree.room ? 2 * tree.room : 1 << 10;
		path_nodes = VG_(realloc)(
			"cachepeek.nodes", path_nodes, tree.room * sizeof(*path_nodes));
	}
	if (!tree.nnodes)
		path_nodes[tree.nnodes++] = (struct path_node){.out = &tree.nowhere};
	if (tree.nnodes >= tree.table_room / 2)
		rebuild_table(tree.table_room ? 2 * tree.table_room : 1 << 11);
}

static UInt new_node(UInt parent, Addr function, UInt thread)
{
	struct cp_profile_path *out;

	make_room();
	out = tree.nnodes <= tool_options.paths_limit ? profile_allocate(sizeof(*out))
						      : NULL;
	if (!out)
		return 0;
	out->id = tree.nnodes;
	out->parent = parent;
	out->thread = thread;
	out->function = function;
	out->module = function ? profile_module_at(function) : 0;
	out->passage = function && (own_code_at(function) || code_is_stub(function));
	profile_publish(out, CP_PROFILE_PATH);
	path_nodes[tree.nnodes] = (struct path_node){out, function, parent, {0}};
	return tree.nnodes++;
}

/* Threads for which there is no room, or that are no other one to the profile, share the
 * last one's. */
UInt tree_root(UInt thread)
{
	UInt root = 0;

	if (!tree.last_root || path_nodes[tree.last_root].out->thread != thread)
		root = new_node(0, 0, thread);
	if (root)
		tree.last_root = root;
	return tree.last_root;
}

static UInt find_or_make(UInt parent, Addr function)
{
	const struct place *place = place_of(parent, function);
	UInt node;

	if (place->function)
		return place->node;
	/* The table may be another one after this. */
	node = new_node(parent, function, path_nodes[parent].out->thread);
	if (!node)
		return parent;
	put_place(parent, function, node);
	return node;
}

UInt tree_child(UInt parent, Addr function)
{
	UInt child;

	if (path_nodes[parent].function == function || !parent || !function)
		return parent;
	child = find_or_make(parent, function);
	if (child != parent)
		path_nodes[parent].latest[tree_latest_at(function)] = child;
	return child;
}

void tree_forget(Addr a, SizeT len)
{
	for (UInt i = 1; i < tree.nnodes; i++) {
		struct path_node *n = &path_nodes[i];

		VG_(memset)(n->latest, 0, sizeof(n->latest));
		if (n->function >= a && n->function - a < len)
			n->function = PATH_GONE;
	}
	if (tree.nnodes)
		rebuild_table(tree.table_room);
}

/* The child's are in another file. */
void tree_fork_child(void)
{
	tree.nnodes = tree.last_root = 0;
	VG_(memset)(&tree.nowhere, 0, sizeof(tree.nowhere));
	if (tree.table_room)
		VG_(memset)(tree.table, 0, tree.table_room * sizeof(*tree.table));
}
