/* SPDX-License-Identifier: MIT
 *
 * Graphs of which some nodes have many edges, and a matrix of entries in no order.
 */
#include <stdbool.h>
#include <string.h>

#include "clock.h"

static uint32_t nodes, *starts,
	*ends; /* those of node i: from starts[i] to starts[i + 1] */

/* From few of the nodes there are more edges than from others. */
static uint32_t some_node(void)
{
	return (uint32_t)(next_number() % (next_number() % nodes + 1));
}

/* An edge for each pair; those of a node are in the order of the pairs. */
static void sort_edges(const uint32_t *from, const uint32_t *to, size_t n)
{
	memset(starts, 0, sizeof(*starts) * (nodes + 2));
	for (size_t i = 0; i < n; i++)
		starts[from[i] + 2]++;
	for (size_t i = 0; i <= nodes; i++)
		starts[i + 1] += starts[i];
	for (size_t i = 0; i < n; i++)
		ends[starts[from[i] + 1]++] = to[i];
}

/* Each edge leads both ways, and those of a node are in order, as they are sorted by
 * their other end first. */
static void make_graph(uint32_t of_nodes, size_t edges)
{
	uint32_t *from = make_room(sizeof(*from) * 2 * edges),
		 *to = make_room(sizeof(*to) * 2 * edges);

	nodes = of_nodes;
	starts = make_room(sizeof(*starts) * (nodes + 2));
	ends = make_room(sizeof(*ends) * 2 * edges);
	for (size_t i = 0; i < edges; i++) {
		from[2 * i] = to[2 * i + 1] = some_node();
		from[2 * i + 1] = to[2 * i] = some_node();
	}
	sort_edges(from, to, 2 * edges);
	for (uint32_t node = 0; node < nodes; node++)
		for (size_t e = starts[node]; e < starts[node + 1]; e++)
			from[e] = node;
	memcpy(to, ends, sizeof(*to) * 2 * edges);
	sort_edges(to, from, 2 * edges);
}

/* ---- what hangs together (Shiloach and Vishkin) ---- */

static uint32_t *component;

static void make_components(void)
{
	make_graph(1 << 18, 400000);
	component = make_room(sizeof(*component) * nodes);
}

static bool hook(void)
{
	bool changed = false;

	for (uint32_t node = 0; node < nodes; node++)
		for (size_t e = starts[node]; e < starts[node + 1]; e++) {
			uint32_t one = component[node], other = component[ends[e]];
			uint32_t high = one > other ? one : other;

			if (one == other || component[high] != high)
				continue;
			component[high] = one > other ? other : one;
			changed = true;
		}
	return changed;
}

static uint64_t components(void)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < nodes; i++)
		component[i] = i;
	while (hook())
		for (uint32_t i = 0; i < nodes; i++)
			while (component[i] != component[component[i]])
				component[i] = component[component[i]];
	for (uint32_t i = 0; i < nodes; i++)
		count += component[i] == i;
	return count;
}

/* ---- three nodes of which each has an edge to both others ---- */

static void make_triangles(void)
{
	make_graph(1 << 14, 80000);
}

/* Nodes before the other one that it and the node have edges to. */
static uint64_t common(uint32_t node, uint32_t other)
{
	size_t mine = starts[node];
	uint64_t count = 0;

	for (size_t e = starts[other]; e < starts[other + 1] && ends[e] <= other; e++) {
		while (ends[mine] < ends[e])
			mine++;
		count += ends[mine] == ends[e];
	}
	return count;
}

static uint64_t triangles(void)
{
	uint64_t count = 0;

	for (uint32_t node = 0; node < nodes; node++)
		for (size_t e = starts[node]; e < starts[node + 1] && ends[e] < node; e++)
			count += common(node, ends[e]);
	return count;
}

/* ---- how many of the shortest ways from a node lead over each other one (Brandes) ----
 */

enum { NOT_YET = UINT32_MAX };

static uint32_t *queue, *depth;
static double *ways, *share;

static void make_ways(void)
{
	make_graph(1 << 16, 300000);
	queue = make_room(sizeof(*queue) * nodes);
	depth = make_room(sizeof(*depth) * nodes);
	ways = make_room(sizeof(*ways) * nodes);
	share = make_room(sizeof(*share) * nodes);
}

static size_t count_ways(uint32_t source)
{
	size_t tail = 1;

	queue[0] = source;
	depth[source] = 0;
	ways[source] = 1;
	for (size_t head = 0; head < tail; head++) {
		uint32_t node = queue[head];

		for (size_t e = starts[node]; e < starts[node + 1]; e++) {
			uint32_t to = ends[e];

			if (depth[to] == NOT_YET) {
				depth[to] = depth[node] + 1;
				queue[tail++] = to;
			}
			if (depth[to] == depth[node] + 1)
				ways[to] += ways[node];
		}
	}
	return tail;
}

static uint64_t betweenness(void)
{
	double most = 0;
	size_t n;

	memset(depth, 0xff, sizeof(*depth) * nodes);
	memset(ways, 0, sizeof(*ways) * nodes);
	memset(share, 0, sizeof(*share) * nodes);
	n = count_ways(3);
	while (n-- > 1) {
		uint32_t node = queue[n];

		for (size_t e = starts[node]; e < starts[node + 1]; e++)
			if (depth[ends[e]] == depth[node] + 1)
				share[node] +=
					ways[node] / ways[ends[e]] * (1 + share[ends[e]]);
		if (share[node] > most)
			most = share[node];
	}
	return (uint64_t)most;
}

/* ---- entries of a matrix by a vector ---- */

enum { LINES = 150000, ENTRIES = 700000 };

static struct entry {
	uint32_t row, column;
	double value;
} * entries;
static double *in, *out;

static void make_entries(void)
{
	entries = make_room(sizeof(*entries) * ENTRIES);
	in = make_room(sizeof(*in) * LINES);
	out = make_room(sizeof(*out) * LINES);
	for (size_t i = 0; i < ENTRIES; i++)
		entries[i] = (struct entry){(uint32_t)(next_number() % LINES),
			(uint32_t)(next_number() % LINES), 1};
	for (size_t i = 0; i < LINES; i++)
		in[i] = (double)(next_number() % 100) / 100;
}

static uint64_t by_entries(void)
{
	memset(out, 0, sizeof(*out) * LINES);
	for (size_t i = 0; i < ENTRIES; i++)
		out[entries[i].row] += entries[i].value * in[entries[i].column];
	return (uint64_t)out[7];
}

const struct kernel edge_kernels[] = {
	{"components", make_components, components},
	{"triangles", make_triangles, triangles},
	{"betweenness", make_ways, betweenness},
	{"by-entries", make_entries, by_entries},
	{NULL, NULL, NULL},
};
