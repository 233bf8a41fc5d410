/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tree of calling contexts, as it grows.
 */
#include "paths/tree.h"
#include "profile/profile.h"

/* Where a node is found: what is compared is beside it. */
struct path_place {
	Addr function; /* 0: free */
	UInt parent, node;
};

struct path_tree path_tree;

static struct path_place *place_of(UInt parent, Addr function)
{
	ULong key = function ^ (ULong)parent * 0xff51afd7ed558ccdull;
	struct path_place *at = path_tree.table;

	return &at[CP_PROBE(path_tree.table_room, cp_hash_word(key) >> 32, i,
		!at[i].function ||
			(at[i].parent == parent && at[i].function == function))];
}

static void put_place(UInt parent, Addr function, UInt node)
{
	*place_of(parent, function) = (struct path_place){function, parent, node};
}

static void rebuild_table(UInt size)
{
	VG_(free)(path_tree.table);
	path_tree.table = VG_(calloc)("cachepeek.paths", size, sizeof(*path_tree.table));
	path_tree.table_room = size;
	for (UInt i = 1; i < path_tree.nnodes; i++)
		if (path_tree.nodes[i].function > PATH_GONE)
			put_place(path_tree.nodes[i].parent, path_tree.nodes[i].function,
				i);
}

static void make_room(void)
{
	if (path_tree.nnodes == path_tree.room) {
		path_tree.room = path_tree.room ? 2 * path_tree.room : 1 << 10;
		path_tree.nodes = VG_(realloc)("cachepeek.nodes", path_tree.nodes,
			path_tree.room * sizeof(*path_tree.nodes));
	}
	if (!path_tree.nnodes)
		path_tree.nodes[path_tree.nnodes++] =
			(struct path_node){.out = &path_tree.nowhere};
	if (path_tree.nnodes >= path_tree.table_room / 2)
		rebuild_table(path_tree.table_room ? 2 * path_tree.table_room : 1 << 11);
}

static UInt new_node(UInt parent, Addr function, UInt thread)
{
	struct cp_profile_path *out;

	make_room();
	out = path_tree.nnodes <= tool_options.paths_limit
		      ? profile_allocate(sizeof(*out))
		      : NULL;
	if (!out)
		return 0;
	out->id = path_tree.nnodes;
	out->parent = parent;
	out->thread = thread;
	out->function = function;
	out->module = function ? profile_module_at(function) : 0;
	out->passage = function && (own_code_at(function) || code_is_stub(function));
	profile_publish(out, CP_PROFILE_PATH);
	path_tree.nodes[path_tree.nnodes] =
		(struct path_node){out, function, parent, {0}};
	return path_tree.nnodes++;
}

/* Threads for which there is no room, or that are no other one to the profile, share the
 * last one's. */
UInt tree_root(UInt thread)
{
	UInt root = 0;

	if (!path_tree.last_root ||
		path_tree.nodes[path_tree.last_root].out->thread != thread)
		root = new_node(0, 0, thread);
	if (root)
		path_tree.last_root = root;
	return path_tree.last_root;
}

static UInt find_or_make(UInt parent, Addr function)
{
	const struct path_place *place = place_of(parent, function);
	UInt node;

	if (place->function)
		return place->node;
	/* The table may be another one after this. */
	node = new_node(parent, function, path_tree.nodes[parent].out->thread);
	if (!node)
		return parent;
	put_place(parent, function, node);
	return node;
}

UInt tree_child(UInt parent, Addr function)
{
	UInt child;

	if (path_tree.nodes[parent].function == function || !parent || !function)
		return parent;
	child = find_or_make(parent, function);
	if (child != parent)
		path_tree.nodes[parent].latest[tree_latest_at(function)] = child;
	return child;
}

void tree_forget(Addr a, SizeT len)
{
	for (UInt i = 1; i < path_tree.nnodes; i++) {
		struct path_node *n = &path_tree.nodes[i];

		VG_(memset)(n->latest, 0, sizeof(n->latest));
		if (n->function >= a && n->function - a < len)
			n->function = PATH_GONE;
	}
	if (path_tree.nnodes)
		rebuild_table(path_tree.table_room);
}

/* The child's are in another file. */
void tree_fork_child(void)
{
	path_tree.nnodes = path_tree.last_root = 0;
	VG_(memset)(&path_tree.nowhere, 0, sizeof(path_tree.nowhere));
	if (path_tree.table_room)
		VG_(memset)
	(path_tree.table, 0, path_tree.table_room * sizeof(*path_tree.table));
}
