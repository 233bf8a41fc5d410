/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tree: its nodes are entries of the profile's file, so that they outlive the
 * process, and are found by their parent and the address of their function.
 */
#include "paths/paths.h"
#include "profile/profile.h"

#define GONE 1

struct node {
	struct cp_profile_path *out;
	Addr function; /* 0: a thread's root; GONE: it was unmapped */
	UInt parent;
	UInt latest; /* child: what is called again and again is found at once */
};

/* The tree of this process's paths. */
static struct {
	struct cp_profile_path nowhere;
	struct node *nodes;
	UInt nnodes, room; /* nodes[0]: none */
	UInt last_root;
	/* Open addressing; 0: free. */
	UInt *table;
	UInt table_room;
} tree;

static UInt slot_of(UInt parent, Addr function)
{
	ULong key = function ^ (ULong)parent * 0xff51afd7ed558ccdull;
	UInt i = (UInt)(key * 0x9e3779b97f4a7c15ull >> 32) & (tree.table_room - 1);

	while (tree.table[i] && (tree.nodes[tree.table[i]].parent != parent ||
					tree.nodes[tree.table[i]].function != function))
		i = (i + 1) & (tree.table_room - 1);
	return i;
}

static void rebuild_table(UInt size)
{
	VG_(free)(tree.table);
	tree.table = VG_(calloc)("cachepeek.paths", size, sizeof(*tree.table));
	tree.table_room = size;
	for (UInt i = 1; i < tree.nnodes; i++)
		if (tree.nodes[i].function > GONE)
			tree.table[slot_of(
				tree.nodes[i].parent, tree.nodes[i].function)] = i;
}

static void make_room(void)
{
	if (tree.nnodes == tree.room) {
		tree.room = tree.room ? 2 * tree.room : 1 << 10;
		tree.nodes = VG_(realloc)(
			"cachepeek.nodes", tree.nodes, tree.room * sizeof(*tree.nodes));
	}
	if (!tree.nnodes)
		tree.nodes[tree.nnodes++] = (struct node){.out = &tree.nowhere};
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
	tree.nodes[tree.nnodes] = (struct node){out, function, parent, 0};
	return tree.nnodes++;
}

/* Threads for which there is no room, or that are no other one to the profile, share the
 * last one's. */
UInt tree_root(UInt thread)
{
	UInt root = 0;

	if (!tree.last_root || tree.nodes[tree.last_root].out->thread != thread)
		root = new_node(0, 0, thread);
	if (root)
		tree.last_root = root;
	return tree.last_root;
}

static UInt find_or_make(UInt parent, Addr function)
{
	UInt i = slot_of(parent, function);

	if (tree.table[i])
		return tree.table[i];
	/* The table may be another one after this. */
	i = new_node(parent, function, tree.nodes[parent].out->thread);
	if (!i)
		return parent;
	tree.table[slot_of(parent, function)] = i;
	return i;
}

UInt tree_child(UInt parent, Addr function)
{
	struct node *n = &tree.nodes[parent];
	UInt child;

	if (n->function == function || !parent || !function)
		return parent;
	if (tree.nodes[n->latest].function == function)
		return n->latest;
	child = find_or_make(parent, function);
	if (child != parent)
		tree.nodes[parent].latest = child;
	return child;
}

UInt tree_call(UInt parent, Addr function)
{
	UInt child = tree_child(parent, function);
	struct node *n = &tree.nodes[child];

	if (n->function == function)
		n->out->calls++;
	else
		n->out->folded++;
	return child;
}

struct cp_profile_path *tree_node(UInt node)
{
	return tree.nodes[node].out;
}

Bool tree_is_passage(UInt node)
{
	return tree.nodes[node].out->passage != 0;
}

void tree_forget(Addr a, SizeT len)
{
	for (UInt i = 1; i < tree.nnodes; i++) {
		struct node *n = &tree.nodes[i];

		n->latest = 0;
		if (n->function >= a && n->function - a < len)
			n->function = GONE;
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
