/* SPDX-License-Identifier: MIT
 *
 * Sparse matrices, graphs and lists.
 */
#include "clock.h"

enum { NODES = 200000, DEGREE = 8, SEEDS = 1 };

static uint32_t *targets, *queue;
static int32_t *depth;
static double *values, *in, *out;

static void make_graph(void)
{
	targets = make_room(sizeof(*targets) * NODES * DEGREE);
	queue = make_room(sizeof(*queue) * NODES);
	depth = make_room(sizeof(*depth) * NODES);
	values = make_room(sizeof(*values) * NODES * DEGREE);
	in = make_room(sizeof(*in) * NODES);
	out = make_room(sizeof(*out) * NODES);
	for (size_t i = 0; i < NODES; i++)
		in[i] = 1.0 / (double)(i + 1);
}

/* Edges to anywhere, or to nodes near by. */
static void make_wild(void)
{
	make_graph();
	for (size_t i = 0; i < (size_t)NODES * DEGREE; i++) {
		targets[i] = (uint32_t)(next_number() % NODES);
		values[i] = 1;
	}
}

static void make_near(void)
{
	make_graph();
	for (size_t i = 0; i < (size_t)NODES * DEGREE; i++) {
		targets[i] = (uint32_t)((i / DEGREE + next_number() % 64) % NODES);
		values[i] = 1;
	}
}

static uint64_t spmv(void)
{
	for (size_t i = 0; i < NODES; i++) {
		double sum = 0;

		for (size_t e = i * DEGREE; e < (i + 1) * DEGREE; e++)
			sum += values[e] * in[targets[e]];
		out[i] = sum;
	}
	return (uint64_t)out[7];
}

/* Pushes along the edges. */
static uint64_t pagerank(void)
{
	for (size_t i = 0; i < NODES; i++)
		out[i] = 0.15;
	for (size_t i = 0; i < NODES; i++)
		for (size_t e = i * DEGREE; e < (i + 1) * DEGREE; e++)
			out[targets[e]] += 0.85 / DEGREE * in[i];
	return (uint64_t)out[7];
}

static uint64_t bfs(void)
{
	size_t head = 0, tail = 1;

	for (size_t i = 0; i < NODES; i++)
		depth[i] = -1;
	queue[0] = 0;
	depth[0] = 0;
	while (head < tail) {
		uint32_t node = queue[head++];

		for (size_t e = node * DEGREE; e < (size_t)(node + 1) * DEGREE; e++) {
			uint32_t to = targets[e];

			if (depth[to] >= 0)
				continue;
			depth[to] = depth[node] + 1;
			queue[tail++] = to;
		}
	}
	return tail;
}

/* ---- lists ---- */

enum { ITEMS = 150000 };
struct item {
	struct item *next;
	uint64_t value, more[4];
};
static struct item *items, *first;

static void link_items(const uint32_t *order)
{
	first = &items[order[0]];
	for (size_t i = 0; i < ITEMS; i++) {
		items[order[i]].next = i + 1 < ITEMS ? &items[order[i + 1]] : NULL;
		items[order[i]].value = i;
	}
}

static void make_list(void)
{
	uint32_t *order = make_room(sizeof(*order) * ITEMS);

	items = make_room(sizeof(*items) * ITEMS);
	for (size_t i = 0; i < ITEMS; i++)
		order[i] = (uint32_t)i;
	link_items(order);
}

static void make_wild_list(void)
{
	uint32_t *order = make_room(sizeof(*order) * ITEMS);

	items = make_room(sizeof(*items) * ITEMS);
	shuffle(order, ITEMS);
	link_items(order);
}

static uint64_t walk(void)
{
	uint64_t sum = 0;

	for (struct item *item = first; item; item = item->next)
		sum += item->value;
	return sum;
}

const struct kernel graph_kernels[] = {
	{"spmv-wild", make_wild, spmv},
	{"spmv-near", make_near, spmv},
	{"pagerank-wild", make_wild, pagerank},
	{"pagerank-near", make_near, pagerank},
	{"bfs-wild", make_wild, bfs},
	{"bfs-near", make_near, bfs},
	{"list-wild", make_wild_list, walk},
	{"list-in-order", make_list, walk},
	{NULL, NULL, NULL},
};
