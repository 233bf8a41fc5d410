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

UInt paths_limit = CP_PROFILE_PATHS;

static struct cp_profile_path nowhere;
static struct node *nodes;
static UInt nnodes, room; /* nodes[0]: none */
static UInt last_root;

/* Open addressing; 0: free. */
static UInt *table;
static UInt table_room;

static UInt slot_of(UInt parent, Addr function)
{
	ULong key = function ^ (ULong)parent * 0xff51afd7ed558ccdull;
	UInt i = (UInt)(key * 0x9e3779b97f4a7c15ull >> 32) & (table_room - 1);

	while (table[i] && (nodes[table[i]].parent != parent ||
				   nodes[table[i]].function != function))
		i = (i + 1) & (table_room - 1);
	return i;
}

static void rebuild_table(UInt size)
{
	VG_(free)(table);
	table = VG_(calloc)("cachepeek.paths", size, sizeof(*table));
	table_room = size;
	for (UInt i = 1; i < nnodes; i++)
		if (nodes[i].function > GONE)
			table[slot_of(nodes[i].parent, nodes[i].function)] = i;
}

static void make_room(void)
{
	if (nnodes == room) {
		room = room ? 2 * room : 1 << 10;
		nodes = VG_(realloc)("cachepeek.nodes", nodes, room * sizeof(*nodes));
	}
	if (!nnodes)
		nodes[nnodes++] = (struct node){.out = &nowhere};
	if (nnodes >= table_room / 2)
		rebuild_table(table_room ? 2 * table_room : 1 << 11);
}

static UInt new_node(UInt parent, Addr function, UInt thread)
{
	struct cp_profile_path *out;

	make_room();
	out = nnodes <= paths_limit ? profile_allocate(sizeof(*out)) : NULL;
	if (!out)
		return 0;
	out->id = nnodes;
	out->parent = parent;
	out->thread = thread;
	out->function = function;
	out->module = function ? profile_module_at(function) : 0;
	out->passage = function && (own_code_at(function) || code_is_stub(function));
	profile_publish(out, CP_PROFILE_PATH);
	nodes[nnodes] = (struct node){out, function, parent, 0};
	return nnodes++;
}

/* Threads for which there is no room, or that are no other one to the profile, share the
 * last one's. */
UInt tree_root(UInt thread)
{
	UInt root = 0;

	if (!last_root || nodes[last_root].out->thread != thread)
		root = new_node(0, 0, thread);
	if (root)
		last_root = root;
	return last_root;
}

static UInt find_or_make(UInt parent, Addr function)
{
	UInt i = slot_of(parent, function);

	if (table[i])
		return table[i];
	/* The table may be another one after this. */
	i = new_node(parent, function, nodes[parent].out->thread);
	if (!i)
		return parent;
	table[slot_of(parent, function)] = i;
	return i;
}

UInt tree_child(UInt parent, Addr function)
{
	struct node *n = &nodes[parent];
	UInt child;

	if (n->function == function || !parent || !function)
		return parent;
	if (nodes[n->latest].function == function)
		return n->latest;
	child = find_or_make(parent, function);
	if (child != parent)
		nodes[parent].latest = child;
	return child;
}

UInt tree_call(UInt parent, Addr function)
{
	UInt child = tree_child(parent, function);
	struct node *n = &nodes[child];

	if (n->function == function)
		n->out->calls++;
	else
		n->out->folded++;
	return child;
}

struct cp_profile_path *tree_node(UInt node)
{
	return nodes[node].out;
}

Bool tree_is_passage(UInt node)
{
	return nodes[node].out->passage != 0;
}

void tree_forget(Addr a, SizeT len)
{
	for (UInt i = 1; i < nnodes; i++) {
		struct node *n = &nodes[i];

		n->latest = 0;
		if (n->function >= a && n->function - a < len)
			n->function = GONE;
	}
	if (nnodes)
		rebuild_table(table_room);
}

/* The child's are in another file. */
void tree_fork_child(void)
{
	nnodes = last_root = 0;
	VG_(memset)(&nowhere, 0, sizeof(nowhere));
	if (table_room)
		VG_(memset)(table, 0, table_room * sizeof(*table));
}
