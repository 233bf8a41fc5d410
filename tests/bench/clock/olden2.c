/* SPDX-License-Identifier: MIT
 *
 * The next four programs of the Olden benchmarks, by their names there.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "clock.h"

/* ---- mst: the shortest tree that reaches all, where each vertex has its edges in a hash
 * table: of chains, or of slots in one piece ---- */

enum { VERTICES = 1400, CHAIN_BITS = 9, SLOT_BITS = 12, SLOTS = 1 << SLOT_BITS };
enum { TREES = 7, FARTHEST = 2048, NOWHERE = UINT32_MAX };

struct edge {
	struct edge *next;
	uint32_t to, length;
};

struct slot {
	uint32_t to, length;
};

static struct vertex {
	struct vertex *next;
	uint32_t number, nearest;
	struct edge **chains;
	struct slot *slots;
} * vertices;

static uint32_t edge_length(uint32_t one, uint32_t other)
{
	uint32_t low = one < other ? one : other, high = one < other ? other : one;
	uint32_t mixed = (low * VERTICES + high) * 2654435761u;

	return (mixed ^ mixed >> 15) * 2246822519u % FARTHEST + 1;
}

static size_t hash_of(uint32_t number, int bits)
{
	return (number * 2654435761u) >> (32 - bits);
}

static void make_vertices(void)
{
	vertices = make_room(sizeof(*vertices) * VERTICES);
	for (uint32_t i = 0; i < VERTICES; i++)
		vertices[i].number = i;
}

static void make_chains(void)
{
	struct edge *edge = make_room(sizeof(*edge) * VERTICES * VERTICES);
	struct edge **chains = make_room((sizeof(*chains) * VERTICES) << CHAIN_BITS);

	make_vertices();
	for (uint32_t i = 0; i < VERTICES; i++) {
		vertices[i].chains = chains + ((size_t)i << CHAIN_BITS);
		for (uint32_t to = 0; to < VERTICES; to++, edge++) {
			struct edge **chain =
				&vertices[i].chains[hash_of(to, CHAIN_BITS)];

			*edge = (struct edge){*chain, to, edge_length(i, to)};
			*chain = edge;
		}
	}
}

static void make_slots(void)
{
	struct slot *slots = make_room(sizeof(*slots) * VERTICES * SLOTS);

	make_vertices();
	memset(slots, 0xff, sizeof(*slots) * VERTICES * SLOTS);
	for (uint32_t i = 0; i < VERTICES; i++) {
		vertices[i].slots = slots + (size_t)i * SLOTS;
		for (uint32_t to = 0; to < VERTICES; to++) {
			size_t at = hash_of(to, SLOT_BITS);

			while (vertices[i].slots[at].to != NOWHERE)
				at = (at + 1) % SLOTS;
			vertices[i].slots[at] = (struct slot){to, edge_length(i, to)};
		}
	}
}

static uint32_t length_in_chains(const struct vertex *vertex, uint32_t to)
{
	const struct edge *edge = vertex->chains[hash_of(to, CHAIN_BITS)];

	while (edge->to != to)
		edge = edge->next;
	return edge->length;
}

static uint32_t length_in_slots(const struct vertex *vertex, uint32_t to)
{
	size_t at = hash_of(to, SLOT_BITS);

	while (vertex->slots[at].to != to)
		at = (at + 1) % SLOTS;
	return vertex->slots[at].length;
}

/* Vertices that are not reached yet are in a list. */
static struct vertex *list_vertices(void)
{
	for (uint32_t i = 0; i < VERTICES; i++) {
		vertices[i].nearest = NOWHERE;
		vertices[i].next = i + 1 < VERTICES ? &vertices[i + 1] : NULL;
	}
	return &vertices[1];
}

/* The last one that was reached may be nearer to others than those before. */
static inline uint64_t grow_tree(bool chained)
{
	struct vertex *rest = list_vertices();
	uint32_t last = 0;
	uint64_t sum = 0;

	while (rest) {
		struct vertex **least = &rest;

		for (struct vertex **at = &rest; *at; at = &(*at)->next) {
			struct vertex *vertex = *at;
			uint32_t length = chained ? length_in_chains(vertex, last)
						  : length_in_slots(vertex, last);

			if (length < vertex->nearest)
				vertex->nearest = length;
			if (vertex->nearest < (*least)->nearest)
				least = at;
		}
		sum += (*least)->nearest;
		last = (*least)->number;
		*least = (*least)->next;
	}
	return sum;
}

static uint64_t mst_chains(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < TREES; i++)
		sum += grow_tree(true);
	return sum;
}

static uint64_t mst_slots(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < TREES; i++)
		sum += grow_tree(false);
	return sum;
}

/* ---- perimeter: how long the edges of rings are, which are in a tree of squares that
 * are black, white, or of four (Samet) ---- */

enum { IMAGE = 2048, RING = 10000, MOST_SQUARES = 2400000 };
enum colour { WHITE, BLACK, GREY };
enum { EAST = 1, SOUTH = 2 }; /* bits of which of the four parts a square is */

static struct square {
	struct square *parent, *part[4];
	enum colour colour;
	int which;
} * squares;

static size_t used_squares;

static struct side {
	int bit, value; /* what the parts have that touch it */
} sides[4] = {{EAST, 0}, {EAST, EAST}, {SOUTH, 0}, {SOUTH, SOUTH}};

/* How near and how far from the middle, in squares, points of a line may be. */
static void reach(int from, int size, int *least, int *most)
{
	int first = from - IMAGE / 2, last = first + size - 1;

	*most = first * first > last * last ? first * first : last * last;
	*least = first > 0 ? first * first : last < 0 ? last * last : 0;
}

static struct square *make_square(
	struct square *parent, int which, int x, int y, int size)
{
	struct square *square = &squares[used_squares++];
	int near_x, near_y, far_x, far_y, first, last;

	reach(x, size, &near_x, &far_x);
	reach(y, size, &near_y, &far_y);
	first = (near_x + near_y) / RING;
	last = (far_x + far_y) / RING;
	square->parent = parent;
	square->which = which;
	square->colour = first < last ? GREY : first % 2 ? BLACK : WHITE;
	for (int k = 0; square->colour == GREY && k < 4; k++)
		square->part[k] = make_square(square, k, x + (k & EAST ? size / 2 : 0),
			y + (k & SOUTH ? size / 2 : 0), size / 2);
	return square;
}

static void make_squares(void)
{
	squares = make_room(sizeof(*squares) * MOST_SQUARES);
	make_square(NULL, 0, 0, 0, IMAGE);
}

/* The square beyond a side that is at least as large, if there is one. */
static const struct square *beyond(const struct square *square, const struct side *side)
{
	const struct square *there = square->parent;

	if (!there)
		return NULL;
	if ((square->which & side->bit) == side->value)
		there = beyond(there, side);
	if (!there || there->colour != GREY)
		return there;
	return there->part[square->which ^ side->bit];
}

/* How much is white of the side that is opposite to the one that was gone over. */
static long white_along(const struct square *square, const struct side *side, long size)
{
	long sum = 0;

	if (square->colour != GREY)
		return square->colour == WHITE ? size : 0;
	for (int k = 0; k < 4; k++)
		if ((k & side->bit) != side->value)
			sum += white_along(square->part[k], side, size / 2);
	return sum;
}

static long edges_of(const struct square *square, long size)
{
	long sum = 0;

	if (square->colour == GREY)
		for (int k = 0; k < 4; k++)
			sum += edges_of(square->part[k], size / 2);
	if (square->colour != BLACK)
		return sum;
	for (int k = 0; k < 4; k++) {
		const struct square *there = beyond(square, &sides[k]);

		sum += there ? white_along(there, &sides[k], size) : size;
	}
	return sum;
}

static uint64_t perimeter(void)
{
	return (uint64_t)edges_of(squares, IMAGE);
}

/* ---- power: what customers take of a current whose price depends on what is lost on its
 * way to them ---- */

enum { FEEDERS = 10, LATERALS = 20, BRANCHES = 5, CUSTOMERS = 10, SWEEPS = 16 };
enum { HALVINGS = 20 };

struct current {
	double real, reactive;
};

struct customer {
	struct current takes;
	double worth;
};

struct branch {
	struct branch *next;
	struct current flow;
	struct customer *customer[CUSTOMERS];
};

struct lateral {
	struct lateral *next;
	struct branch *first;
	struct current flow;
};

struct part {
	struct lateral lateral;
	struct branch branches[BRANCHES];
	struct customer customers[BRANCHES][CUSTOMERS];
};

static struct lateral *feeders[FEEDERS];
static const double resistance = 1e-4, reactance = 2e-4;

static struct lateral *make_lateral(struct part *part, struct lateral *next)
{
	part->lateral.next = next;
	for (int i = 0; i < BRANCHES; i++) {
		struct branch *branch = &part->branches[i];

		branch->next = part->lateral.first;
		part->lateral.first = branch;
		for (int k = 0; k < CUSTOMERS; k++) {
			branch->customer[k] = &part->customers[i][k];
			branch->customer[k]->worth =
				1 + (double)(next_number() % 1000) / 1000;
		}
	}
	return &part->lateral;
}

static void make_grid(void)
{
	struct part *parts = make_room(sizeof(*parts) * FEEDERS * LATERALS);

	for (int i = 0; i < FEEDERS; i++)
		for (int k = 0; k < LATERALS; k++)
			feeders[i] = make_lateral(parts++, feeders[i]);
}

/* A customer takes so much that one more is worth no more than its price, which has a
 * part that is for each taken already. */
static double taken(double worth, double price, double more)
{
	double sum = more + price, gain = worth - price;

	return gain > 0 ? 2 * gain / (sum + sqrt(sum * sum + 4 * more * gain)) : 0;
}

static struct current take_both(double worth, struct current price, double more)
{
	return (struct current){
		taken(worth, price.real, more), taken(1, price.reactive, more)};
}

static double square_of(struct current current)
{
	return current.real * current.real + current.reactive * current.reactive;
}

/* A customer's line bears one at most: what would be more costs as much as it takes. */
static void serve(struct customer *customer, struct current price)
{
	double low = 0, high = 2;

	customer->takes = take_both(customer->worth, price, 0);
	if (square_of(customer->takes) <= 1)
		return;
	for (int i = 0; i < HALVINGS; i++) {
		double more = (low + high) / 2;

		customer->takes = take_both(customer->worth, price, more);
		if (square_of(customer->takes) > 1)
			low = more;
		else
			high = more;
	}
}

/* Losses grow with the square of a current, so that more of it costs more. */
static struct current price_behind(struct current price, struct current flow)
{
	double loss = 2 * (price.real * resistance + price.reactive * reactance);

	return (struct current){
		price.real + loss * flow.real, price.reactive + loss * flow.reactive};
}

static struct current with_losses(struct current flow)
{
	double square = square_of(flow);

	return (struct current){
		flow.real + resistance * square, flow.reactive + reactance * square};
}

static struct current sum_of(struct current one, struct current other)
{
	return (struct current){one.real + other.real, one.reactive + other.reactive};
}

static struct current feed_branch(struct branch *branch, struct current price)
{
	struct current sum = {0, 0};

	price = price_behind(price, branch->flow);
	for (int k = 0; k < CUSTOMERS; k++) {
		serve(branch->customer[k], price);
		sum = sum_of(sum, branch->customer[k]->takes);
	}
	branch->flow = sum;
	return with_losses(sum);
}

static struct current feed_lateral(struct lateral *lateral, struct current price)
{
	struct current sum = {0, 0};

	price = price_behind(price, lateral->flow);
	for (struct branch *branch = lateral->first; branch; branch = branch->next)
		sum = sum_of(sum, feed_branch(branch, price));
	lateral->flow = sum;
	return with_losses(sum);
}

static void forget_flows(void)
{
	for (int i = 0; i < FEEDERS; i++)
		for (struct lateral *lateral = feeders[i]; lateral;
			lateral = lateral->next) {
			lateral->flow = (struct current){0, 0};
			for (struct branch *branch = lateral->first; branch;
				branch = branch->next)
				branch->flow = (struct current){0, 0};
		}
}

static uint64_t power(void)
{
	struct current price = {0.6, 0.3}, all = {0, 0};

	forget_flows();
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		all = (struct current){0, 0};
		for (int i = 0; i < FEEDERS; i++)
			for (struct lateral *lateral = feeders[i]; lateral;
				lateral = lateral->next)
				all = sum_of(all, feed_lateral(lateral, price));
		price.real = (price.real + 0.5 + all.real / 40000) / 2;
		price.reactive = (price.reactive + 0.2 + all.reactive / 40000) / 2;
	}
	return (uint64_t)(1e3 * all.real);
}

/* ---- treeadd: a sum over a tree whose nodes are where chance put them, or in the order
 * in which they are visited ---- */

enum { TREE_NODES = (1 << 17) - 1, ADDITIONS = 250 };

static struct tree {
	struct tree *left, *right;
	uint64_t value;
} * trees, *tree;

static struct tree *make_tree(const uint32_t *order, size_t at, size_t n)
{
	struct tree *made = &trees[order[at]];

	if (n == 0)
		return NULL;
	made->value = at;
	made->left = make_tree(order, at + 1, n / 2);
	made->right = make_tree(order, at + 1 + n / 2, n / 2);
	return made;
}

static uint32_t *make_order(void)
{
	uint32_t *order = make_room(sizeof(*order) * (TREE_NODES + 1));

	trees = make_room(sizeof(*trees) * (TREE_NODES + 1));
	for (size_t i = 0; i < TREE_NODES; i++)
		order[i] = (uint32_t)i;
	return order;
}

static void make_wild_tree(void)
{
	uint32_t *order = make_order();

	shuffle(order, TREE_NODES);
	tree = make_tree(order, 0, TREE_NODES);
}

static void make_near_tree(void)
{
	tree = make_tree(make_order(), 0, TREE_NODES);
}

static uint64_t add_tree(const struct tree *at)
{
	return at ? at->value + add_tree(at->left) + add_tree(at->right) : 0;
}

static uint64_t treeadd(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < ADDITIONS; i++) {
		tree->value = (uint64_t)i;
		sum += add_tree(tree);
	}
	return sum;
}

const struct kernel olden2_kernels[] = {
	{"mst-chains", make_chains, mst_chains},
	{"mst-slots", make_slots, mst_slots},
	{"perimeter", make_squares, perimeter},
	{"power", make_grid, power},
	{"treeadd-wild", make_wild_tree, treeadd},
	{"treeadd-near", make_near_tree, treeadd},
	{NULL, NULL, NULL},
};
