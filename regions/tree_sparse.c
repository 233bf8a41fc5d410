/* SPDX-License-Identifier: MIT
 *
 * Regions that are so short that our boundaries weigh on them: of every n
 * executions in a row one is counted, at random, and stands for all of them.  n
 * is a power of two; it grows as long as the boundaries cost more than a
 * twentieth of the region, but not faster than there is something to go by.
 */
#include "regions/tree_parts.h"

enum {
	/* n is at most one in so many of those that were counted: all of the first
	 * 16 are, and the first is unlike others */
	PER_STEP = 8,
	MOST = 1024,    /* n */
	SHARE = 20,     /* our cost is to be less than one in so many */
	REMEMBERED = 16 /* executions, about, that tell how long one takes of late */
};

static uint32_t choose_every(const struct cp_tree *tree, const struct cp_node *node)
{
	const struct cp_pair_cost *cost = tree->layout->cost;
	uint64_t counted = cp_sampled_of(tree->layout, node->item)->counted;
	uint32_t every = 1;

	if (!cost)
		return 1;
	while (every < MOST && 2 * every * PER_STEP <= counted &&
		every * node->usual_ns < SHARE * (double)cost->whole_ns)
		every *= 2;
	return every;
}

uint64_t cp_sparse_begin(struct cp_tree *tree, struct cp_node *node)
{
	if (!node->ahead) {
		node->every = node->ahead = choose_every(tree, node);
		node->pick = (uint32_t)cp_random(&tree->random) & (node->every - 1);
	}
	return --node->ahead == node->pick ? node->every : 0;
}

static void add_chosen(struct cp_chosen *of, uint64_t before, uint64_t sum,
	uint64_t weight, double squares)
{
	of->squares += squares;
	if (before && weight)
		of->squares += cp_squares_between(of->sum, before, sum, weight);
	of->sum += sum;
}

void cp_sparse_add(const struct cp_tree *tree, struct cp_node *node, uint64_t weight,
	const uint64_t delta[], uint64_t time_ns)
{
	const struct cp_layout *layout = tree->layout;
	struct cp_sampled *sampled = cp_sampled_of(layout, node->item);

	sampled->counted++;
	node->usual_ns +=
		((double)time_ns - node->usual_ns) /
		(sampled->counted < REMEMBERED ? (double)sampled->counted : REMEMBERED);
	if (weight < 2)
		return;
	for (uint32_t q = 0; delta && q < layout->nquantities; q++)
		add_chosen(&sampled->of[q], sampled->weight,
			weight * cp_quantity_sum(&layout->quantities[q], delta, 1),
			weight, 0);
	sampled->chosen++;
	sampled->weight += weight;
	sampled->time_ns += weight * time_ns;
	sampled->squares += (double)weight * (double)(weight - 1);
}

void cp_sparse_move(const struct cp_layout *layout, struct cp_region_item *to,
	struct cp_region_item *from)
{
	struct cp_sampled *sum = cp_sampled_of(layout, to),
			  *old = cp_sampled_of(layout, from);

	for (uint32_t q = 0; q < layout->nquantities; q++) {
		add_chosen(&sum->of[q], sum->weight, old->of[q].sum, old->weight,
			old->of[q].squares);
		old->of[q] = (struct cp_chosen){0, 0};
	}
	sum->counted += old->counted;
	sum->chosen += old->chosen;
	sum->weight += old->weight;
	sum->time_ns += old->time_ns;
	sum->squares += old->squares;
	old->counted = old->chosen = old->weight = old->time_ns = 0;
	old->squares = 0;
}
