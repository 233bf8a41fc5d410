/* SPDX-License-Identifier: MIT
 *
 * The first of the programs of the Computer Language Benchmarks Game that are not here
 * already, by their names there.
 */
#include <string.h>

#include "clock.h"

/* ---- binary-trees: trees of all depths are made, counted and given back: node by node,
 * to a heap that has been in use for long, or all at once ---- */

enum { SHORTEST = 4, DEEPEST = 15, TREE_NODES = 1 << (DEEPEST + 3) };

struct node {
	struct node *left, *right;
};

static struct node *pool;
static size_t pool_used;

/* A block has a head in front of it as heaps have it. */
static struct block {
	uint64_t head[2];
	struct node node;
} * heap;
static struct node *next_free;

static void make_pool(void)
{
	pool = make_room(sizeof(*pool) * TREE_NODES);
}

static void make_heap(void)
{
	uint32_t *order = make_room(sizeof(*order) * TREE_NODES);

	heap = make_room(sizeof(*heap) * TREE_NODES);
	shuffle(order, TREE_NODES);
	for (size_t i = 0; i + 1 < TREE_NODES; i++)
		heap[order[i]].node.left = &heap[order[i + 1]].node;
	next_free = &heap[order[0]].node;
}

static struct node *tree_of_heap(int depth)
{
	struct node *node = next_free;

	next_free = node->left;
	node->left = depth > 0 ? tree_of_heap(depth - 1) : NULL;
	node->right = depth > 0 ? tree_of_heap(depth - 1) : NULL;
	return node;
}

static void free_tree(struct node *node)
{
	if (node->left) {
		free_tree(node->left);
		free_tree(node->right);
	}
	node->left = next_free;
	next_free = node;
}

static struct node *tree_of_pool(int depth)
{
	struct node *node = &pool[pool_used++];

	node->left = depth > 0 ? tree_of_pool(depth - 1) : NULL;
	node->right = depth > 0 ? tree_of_pool(depth - 1) : NULL;
	return node;
}

static uint64_t count_nodes(const struct node *node)
{
	return node->left ? 1 + count_nodes(node->left) + count_nodes(node->right) : 1;
}

/* One tree stays for as long as others come and go. */
static uint64_t trees_of_heap(void)
{
	struct node *kept = tree_of_heap(DEEPEST);
	uint64_t sum = 0;

	for (int depth = SHORTEST; depth <= DEEPEST; depth += 2)
		for (int i = 0; i < 8 << (DEEPEST - depth); i++) {
			struct node *tree = tree_of_heap(depth);

			sum = sum * 3 + count_nodes(tree);
			free_tree(tree);
		}
	sum += count_nodes(kept);
	free_tree(kept);
	return sum;
}

static uint64_t trees_of_pool(void)
{
	struct node *kept;
	uint64_t sum = 0;

	pool_used = 0;
	kept = tree_of_pool(DEEPEST);
	for (int depth = SHORTEST; depth <= DEEPEST; depth += 2)
		for (int i = 0; i < 8 << (DEEPEST - depth); i++) {
			size_t used = pool_used;

			sum = sum * 3 + count_nodes(tree_of_pool(depth));
			pool_used = used;
		}
	return sum + count_nodes(kept);
}

/* ---- fannkuch: how often the first of some pancakes, in any order, has so many turned
 * round as it says until it is the smallest ---- */

enum { PANCAKES = 9 };

static void make_nothing(void)
{
}

static int turns(const int *order)
{
	int pile[PANCAKES], n = 0;

	memcpy(pile, order, sizeof(pile));
	for (int first = pile[0]; first; first = pile[0], n++)
		for (int low = 0, high = first; low < high; low++, high--) {
			int kept = pile[low];

			pile[low] = pile[high];
			pile[high] = kept;
		}
	return n;
}

/* The next order: more and more of the first ones go round by one, until those that did
 * not come round again.  False: all have been there. */
static int next_order(int *order, int *left)
{
	for (int n = 1; n < PANCAKES; n++) {
		int first = order[0];

		memmove(order, order + 1, sizeof(*order) * (size_t)n);
		order[n] = first;
		if (--left[n])
			return 1;
		left[n] = n + 1;
	}
	return 0;
}

static uint64_t fannkuch(void)
{
	int order[PANCAKES], left[PANCAKES], most = 0, sign = 1, sum = 0;

	for (int i = 0; i < PANCAKES; i++) {
		order[i] = i;
		left[i] = i + 1;
	}
	do {
		int n = turns(order);

		sum += sign * n;
		sign = -sign;
		most = n > most ? n : most;
	} while (next_order(order, left));
	return (uint64_t)most << 32 | (uint32_t)sum;
}

const struct kernel game_kernels[] = {
	{"binary-trees-heap", make_heap, trees_of_heap},
	{"binary-trees-pool", make_pool, trees_of_pool},
	{"fannkuch", make_nothing, fannkuch},
	{NULL, NULL, NULL},
};
