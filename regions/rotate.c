/* SPDX-License-Identifier: MIT
 *
 * Groups of counters that take turns: which one counts which execution, and
 * what the report needs to know of the executions that each has counted.
 *
 * Groups are drawn in blocks that have each of them once, in random order, and
 * every path has its own blocks: so each comes equally often, and work that
 * repeats itself never meets the same group for long.
 */
#include "regions/tree_parts.h"

void cp_tree_rotate_from(struct cp_tree *tree, unsigned group, uint64_t seed)
{
	tree->turn = group;
	tree->draws = 1; /* in the record 0 is none */
	tree->random = seed;
}

static unsigned count_members(uint64_t set)
{
	unsigned count = 0;

	for (; set; set &= set - 1)
		count++;
	return count;
}

/* One of those that the node's block has left, which it then has no more. */
static unsigned draw_group(struct cp_tree *tree, struct cp_node *node)
{
	unsigned group = 0, count;
	uint64_t left;

	if (!node->left)
		node->left = UINT64_MAX >> (64 - tree->layout->nrotated);
	left = node->left;
	count = count_members(left);
	for (uint64_t skip = count ? cp_random(&tree->random) % count : 0; skip > 0;
		skip--)
		left &= left - 1;
	while (left && !(left >> group & 1))
		group++;
	node->left &= ~((uint64_t)1 << group);
	return group;
}

int cp_tree_turn(struct cp_tree *tree)
{
	struct cp_frame *frame = tree->top;
	bool first = !frame->node->begun;

	frame->node->begun = true;
	if (first || tree->unit || tree->paused || !tree->layout->nrotated)
		return -1;
	tree->unit = frame;
	tree->turn = draw_group(tree, frame->node);
	frame->draws = ++tree->draws;
	return (int)tree->turn;
}

/* ---- samples ---- */

static void open_cluster(
	const struct cp_tree *tree, struct cp_rotated *rotated, struct cp_turns *turns)
{
	const struct cp_layout *layout = tree->layout;
	struct cp_sample *samples = cp_rotated_samples(rotated, layout->ngroups);

	rotated->draw = tree->draws;
	turns->clusters++;
	turns->open = 0;
	for (uint32_t i = 0; i < layout->ncounters; i++)
		if (layout->group_of[i] == tree->turn)
			samples[i].open = 0;
}

/* The squares of sums, with one more in the last of them. */
static void add_to_cluster(struct cp_sample *sample, uint64_t value, uint64_t calls)
{
	double before = (double)sample->open, more = (double)value;

	sample->squares += more * (2 * before + more);
	sample->cross += before + more * (double)(calls + 1);
	sample->sum += value;
	sample->open += value;
	if (sample->open <= sample->max)
		return;
	sample->max = sample->open;
	sample->max_calls = calls + 1;
}

static uint64_t draw_between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* How long the group was enabled, if it was on the PMU all the while; else 0.
 * Times that were read in different ways differ by rounding. */
static uint64_t time_counted(const struct cp_times *from, const struct cp_times *to)
{
	uint64_t enabled = draw_between(from->enabled, to->enabled),
		 running = draw_between(from->running, to->running);

	return running < enabled - enabled / 1000 ? 0 : enabled;
}

static uint64_t time_of_any(const struct cp_layout *layout, const struct cp_reading *from,
	const struct cp_reading *to)
{
	uint64_t sum = 0;

	for (uint32_t g = 0; g < layout->nrotated; g++)
		sum += draw_between(from->group[g].enabled, to->group[g].enabled);
	return sum;
}

void cp_tree_add_sample(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, const uint64_t delta[])
{
	const struct cp_layout *layout = tree->layout;
	struct cp_region_item *item = frame->node->item;
	struct cp_rotated *rotated = cp_region_rotated(
		item, layout->ncounters, layout->nquantities, layout->ngroups);
	struct cp_turns *turns = &cp_rotated_turns(rotated)[tree->turn];
	struct cp_sample *samples = cp_rotated_samples(rotated, layout->ngroups);
	uint64_t ns =
		time_counted(&frame->start.group[tree->turn], &now->group[tree->turn]);
	bool first = item->calls == 0, whole = frame->draws == tree->draws && ns > 0;

	if (first) {
		rotated->firsts = 1;
		rotated->first_ns = time_of_any(layout, &frame->start, now);
		turns->firsts = whole;
	} else if (whole && rotated->draw != tree->draws) {
		open_cluster(tree, rotated, turns);
	}
	for (uint32_t i = 0; i < layout->ncounters && whole; i++) {
		if (layout->group_of[i] != tree->turn)
			continue;
		if (first)
			samples[i].first = delta[i];
		else
			add_to_cluster(&samples[i], delta[i], turns->open);
	}
	if (first || !whole)
		return;
	turns->squares += 2 * (double)turns->open + 1;
	turns->open++;
	turns->calls++;
	turns->ns += ns;
}

static void move_turns(struct cp_turns *to, struct cp_turns *from)
{
	to->calls += from->calls;
	to->clusters += from->clusters;
	to->firsts += from->firsts;
	to->ns += from->ns;
	to->squares += from->squares;
	*from = (struct cp_turns){0};
}

static void move_sample(struct cp_sample *to, struct cp_sample *from)
{
	to->sum += from->sum;
	to->first += from->first;
	to->squares += from->squares;
	to->cross += from->cross;
	if (from->max > to->max) {
		to->max = from->max;
		to->max_calls = from->max_calls;
	}
	*from = (struct cp_sample){0};
}

void cp_rotated_move(const struct cp_layout *layout, struct cp_region_item *to,
	struct cp_region_item *from)
{
	struct cp_rotated *into = cp_region_rotated(
		to, layout->ncounters, layout->nquantities, layout->ngroups);
	struct cp_rotated *old = cp_region_rotated(
		from, layout->ncounters, layout->nquantities, layout->ngroups);

	into->firsts += old->firsts;
	into->first_ns += old->first_ns;
	*old = (struct cp_rotated){0};
	for (uint32_t g = 0; g < layout->ngroups; g++)
		move_turns(&cp_rotated_turns(into)[g], &cp_rotated_turns(old)[g]);
	for (uint32_t i = 0; i < layout->ncounters; i++)
		move_sample(&cp_rotated_samples(into, layout->ngroups)[i],
			&cp_rotated_samples(old, layout->ngroups)[i]);
}
