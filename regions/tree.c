/* SPDX-License-Identifier: MIT */
#include "regions/tree_parts.h"

#include <errno.h>
#include <string.h>

#include "base/pool.h"

static struct cp_pool nodes = {.object_size = sizeof(struct cp_node)};
static struct cp_pool frames = {.object_size = sizeof(struct cp_frame)};

/* ---- nodes ---- */

static uint64_t name_offset(struct cp_tree *tree, struct cp_name *name)
{
	if (name && !name->record_offset)
		name->record_offset =
			cp_record_put_string(tree->record, name->text, name->length);
	return name ? name->record_offset : 0;
}

static struct cp_region_item *new_item(
	struct cp_tree *tree, const struct cp_node *parent, struct cp_name *name)
{
	const struct cp_layout *layout = tree->layout;
	struct cp_region_item *item = cp_record_reserve(
		tree->record, cp_region_item_size(layout->ncounters, layout->nquantities,
				      layout->ngroups) +
				      (tree->folds ? sizeof(struct cp_folded) : 0));
	struct cp_spread *spreads;

	if (!item)
		return NULL;
	item->thread = tree->thread;
	item->parent = parent ? cp_record_offset(tree->record, parent->item) : 0;
	item->name = name_offset(tree, name);
	spreads = cp_region_spreads(item, layout->ncounters);
	for (uint32_t i = 0; i < layout->nquantities; i++)
		spreads[i].min = UINT64_MAX;
	cp_item_publish(item, CP_ITEM_REGION);
	return item;
}

static struct cp_journal_item *new_journal(struct cp_tree *tree)
{
	const struct cp_layout *layout = tree->layout;
	struct cp_journal_item *journal = cp_record_reserve(
		tree->record, cp_journal_item_size(layout->ncounters, layout->nquantities,
				      layout->ngroups));

	if (!journal)
		return NULL;
	journal->thread = tree->thread;
	cp_item_publish(journal, CP_ITEM_JOURNAL);
	return journal;
}

static struct cp_node *new_node(
	struct cp_tree *tree, struct cp_node *parent, struct cp_name *name)
{
	struct cp_node *node = cp_pool_take(&nodes);

	if (!node)
		return NULL;
	node->item = new_item(tree, parent, name);
	if (!node->item) {
		cp_pool_give(&nodes, node);
		return NULL;
	}
	node->offset = cp_record_offset(tree->record, node->item);
	node->parent = parent;
	node->name = name;
	node->next = tree->nodes;
	tree->nodes = node;
	if (parent)
		HASH_ADD_PTR(parent->children, name, node);
	return node;
}

struct cp_node *cp_tree_child(
	struct cp_tree *tree, struct cp_node *parent, struct cp_name *name)
{
	struct cp_node *child = parent->recent;

	if (child && child->name == name)
		return child;
	HASH_FIND_PTR(parent->children, &name, child);
	if (!child)
		child = new_node(tree, parent, name);
	if (child)
		parent->recent = child;
	return child;
}

/* ---- adding up ---- */

/* Counters never run backwards; one that did was not ours any more. */
static bool is_backwards(const struct cp_layout *layout, const struct cp_reading *from,
	const struct cp_reading *to)
{
	for (uint32_t i = 0; i < layout->ncounters; i++)
		if (to->counter[i] < from->counter[i])
			return true;
	return false;
}

static bool is_countable(const struct cp_layout *layout, const struct cp_reading *from,
	const struct cp_reading *to)
{
	return !from->failed && !to->failed && !is_backwards(layout, from, to);
}

/* Times that were read in different ways differ by rounding. */
static uint64_t elapsed(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static void add_spreads(const struct cp_layout *layout, struct cp_region_item *item,
	const uint64_t delta[])
{
	struct cp_spread *spreads = cp_region_spreads(item, layout->ncounters);

	for (uint32_t q = 0; q < layout->nquantities; q++) {
		const struct cp_quantity_terms *quantity = &layout->quantities[q];
		int64_t sum = 0;
		uint64_t value;

		for (uint32_t t = 0; t < quantity->nterms; t++)
			sum += quantity->terms[t].sign *
			       (int64_t)delta[quantity->terms[t].counter];
		value = sum < 0 ? 0 : (uint64_t)sum;
		if (value < spreads[q].min)
			spreads[q].min = value;
		if (value > spreads[q].max)
			spreads[q].max = value;
		spreads[q].sum_squares += (double)value * (double)value;
	}
}

static void add_times(const struct cp_layout *layout, struct cp_region_item *item,
	const struct cp_reading *from, const struct cp_reading *to)
{
	struct cp_times *times =
		cp_region_times(item, layout->ncounters, layout->nquantities);

	for (uint32_t g = 0; g < layout->ngroups; g++) {
		times[g].enabled += elapsed(from->group[g].enabled, to->group[g].enabled);
		times[g].running += elapsed(from->group[g].running, to->group[g].running);
	}
}

static void add_counts(const struct cp_layout *layout, struct cp_region_item *item,
	struct cp_region_item *parent, const struct cp_reading *from,
	const struct cp_reading *to)
{
	struct cp_sum *sums = cp_region_sums(item), *above = cp_region_sums(parent);
	uint64_t delta[CP_MAX_COUNTERS];

	for (uint32_t i = 0; i < layout->ncounters; i++) {
		delta[i] = to->counter[i] - from->counter[i];
		sums[i].inclusive += delta[i];
		above[i].children += delta[i];
	}
	add_spreads(layout, item, delta);
	add_times(layout, item, from, to);
}

/* One execution from `frame` to `now`, onto the node and its parent's share;
 * both are open for writing.  Where a reading failed, nothing is counted, and
 * both lack it: the one a part of it, the other a part to leave out. */
static void add(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, uint64_t now_ns)
{
	struct cp_region_item *item = frame->node->item,
			      *parent = frame->node->parent->item;
	uint64_t time_ns = now_ns - frame->begin_ns;

	if (is_countable(tree->layout, &frame->start, now)) {
		add_counts(tree->layout, item, parent, &frame->start, now);
	} else {
		item->flags |= CP_REGION_READ_FAILED;
		parent->flags |= CP_REGION_READ_FAILED;
	}
	item->time_ns += time_ns;
	parent->children_ns += time_ns;
	item->calls++;
}

/* The root's counts are one difference, renewed at each boundary; it is open
 * for writing. */
static void renew_root(
	struct cp_tree *tree, const struct cp_reading *now, uint64_t now_ns)
{
	const struct cp_layout *layout = tree->layout;
	struct cp_region_item *item = tree->root->item;
	struct cp_reading *start = &tree->begin->start;
	struct cp_sum *sums = cp_region_sums(item);
	struct cp_times *times =
		cp_region_times(item, layout->ncounters, layout->nquantities);

	item->time_ns = now_ns - tree->begin->begin_ns;
	if (!is_countable(layout, start, now)) {
		item->flags |= CP_REGION_READ_FAILED;
		if (start->failed)
			*start = *now; /* from here on, then */
		return;
	}
	for (uint32_t i = 0; i < layout->ncounters; i++)
		sums[i].inclusive = now->counter[i] - start->counter[i];
	for (uint32_t g = 0; g < layout->ngroups; g++) {
		times[g].enabled =
			elapsed(start->group[g].enabled, now->group[g].enabled);
		times[g].running =
			elapsed(start->group[g].running, now->group[g].running);
	}
}

static void save_sums(
	struct change *change, const struct cp_node *node, uint32_t ncounters)
{
	save(change, node, &node->item->flags, cp_region_spreads(node->item, ncounters));
}

static void save_times(
	struct change *change, const struct cp_node *node, const struct cp_layout *layout)
{
	struct cp_times *times =
		cp_region_times(node->item, layout->ncounters, layout->nquantities);

	save(change, node, times, times + layout->ngroups);
}

static void update_root(
	struct cp_tree *tree, const struct cp_reading *now, uint64_t now_ns)
{
	struct change change = change_begin(tree);

	save_sums(&change, tree->root, tree->layout->ncounters);
	save_times(&change, tree->root, tree->layout);
	change_open(&change);
	write_begin(tree->root->item);
	renew_root(tree, now, now_ns);
	write_end(tree->root->item);
	change_close(&change);
}

/* The execution, and with_root the root up to date: all of it or nothing. */
static void add_execution(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, uint64_t now_ns, bool with_root)
{
	const struct cp_layout *layout = tree->layout;
	const struct cp_node *node = frame->node, *parent = node->parent,
			     *root = tree->root;
	struct change change = change_begin(tree);

	save(&change, node, &node->item->flags,
		cp_region_times(node->item, layout->ncounters, layout->nquantities) +
			layout->ngroups);
	save_sums(&change, parent, layout->ncounters);
	if (with_root && root != parent)
		save_sums(&change, root, layout->ncounters);
	if (with_root)
		save_times(&change, root, layout);
	change_open(&change);
	write_begin(node->item);
	write_begin(parent->item);
	write_begin(root->item);
	add(tree, frame, now, now_ns);
	if (with_root)
		renew_root(tree, now, now_ns);
	write_end(root->item);
	if (root != parent)
		write_end(parent->item);
	write_end(node->item);
	change_close(&change);
}

/* ---- the stack ---- */

/* Used frames stay with their tree: the pool has a lock, and clears them. */
static struct cp_frame *push(struct cp_tree *tree, struct cp_node *node)
{
	struct cp_frame *frame = tree->spare;

	if (frame)
		tree->spare = frame->outer;
	else
		frame = cp_pool_take(&frames);
	if (!frame)
		return NULL;
	frame->node = node;
	frame->outer = tree->top;
	tree->top = frame;
	tree->depth++;
	return frame;
}

static void pop(struct cp_tree *tree)
{
	struct cp_frame *frame = tree->top;

	tree->top = frame->outer;
	tree->depth--;
	frame->outer = tree->spare;
	tree->spare = frame;
}

static bool is_open(const struct cp_tree *tree, const struct cp_name *name)
{
	for (const struct cp_frame *frame = tree->top; frame; frame = frame->outer)
		if (frame->node->name == name)
			return true;
	return false;
}

static int start(struct cp_tree *tree, const struct cp_layout *layout,
	struct cp_recording *record, uint64_t thread, const struct cp_reading *reading,
	uint64_t now_ns)
{
	tree->layout = layout;
	tree->record = record;
	tree->thread = thread;
	tree->journal = tree->folds ? NULL : new_journal(tree);
	tree->root = new_node(tree, NULL, NULL);
	tree->begin = cp_pool_take(&frames);
	if (!tree->root || !tree->begin) {
		cp_tree_drop(tree);
		return -ENOMEM;
	}
	tree->begin->node = tree->root;
	tree->begin->begin_ns = now_ns;
	tree->begin->start = *reading;
	return 0;
}

int cp_tree_start(struct cp_tree *tree, const struct cp_layout *layout,
	struct cp_recording *record, uint64_t thread, const struct cp_reading *reading,
	uint64_t now_ns)
{
	memset(tree, 0, sizeof(*tree));
	return start(tree, layout, record, thread, reading, now_ns);
}

int cp_tree_start_folded(struct cp_tree *tree, const struct cp_layout *layout,
	struct cp_recording *record, uint64_t thread)
{
	static const struct cp_reading nothing;

	memset(tree, 0, sizeof(*tree));
	tree->folds = true;
	return start(tree, layout, record, thread, &nothing, 0);
}

struct cp_reading *cp_tree_begin(struct cp_tree *tree, struct cp_name *name)
{
	struct cp_node *node =
		cp_tree_child(tree, tree->top ? tree->top->node : tree->root, name);
	struct cp_frame *frame = node ? push(tree, node) : NULL;

	return frame ? &frame->start : NULL;
}

void cp_tree_begin_time(struct cp_tree *tree, uint64_t now_ns)
{
	tree->top->begin_ns = now_ns;
}

enum cp_misuse cp_tree_end(struct cp_tree *tree, const struct cp_name *name,
	const struct cp_reading *reading, uint64_t now_ns)
{
	enum cp_misuse misuse = CP_MISUSE_NONE;

	if (!is_open(tree, name)) {
		tree->root->item->flags |= CP_REGION_END_WITHOUT_BEGIN;
		return CP_MISUSE_NO_BEGIN;
	}
	while (tree->top->node->name != name) {
		tree->top->node->item->flags |= CP_REGION_WRONG_NAME;
		add_execution(tree, tree->top, reading, now_ns, false);
		pop(tree);
		misuse = CP_MISUSE_WRONG_NAME;
	}
	add_execution(tree, tree->top, reading, now_ns, true);
	pop(tree);
	return misuse;
}

bool cp_tree_has_child(const struct cp_tree *tree, const struct cp_name *name)
{
	const struct cp_node *parent = tree->top ? tree->top->node : tree->root;
	struct cp_node *child = parent->recent;

	if (child && child->name == name)
		return true;
	HASH_FIND_PTR(parent->children, &name, child);
	return child != NULL;
}

void cp_tree_pause(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns)
{
	if (tree->pauses++ > 0)
		return;
	tree->paused = cp_pool_take(&frames);
	if (!tree->paused)
		return;
	tree->paused->start = *reading;
	tree->paused->begin_ns = now_ns;
}

const struct cp_reading *cp_tree_frozen(const struct cp_tree *tree, uint64_t *now_ns)
{
	if (!tree->paused)
		return NULL;
	*now_ns = tree->paused->begin_ns;
	return &tree->paused->start;
}

/* Moves the start of every open region by what was counted meanwhile. */
static void shift_starts(
	struct cp_tree *tree, const struct cp_reading *now, uint64_t now_ns)
{
	const struct cp_frame *paused = tree->paused;
	bool countable = is_countable(tree->layout, &paused->start, now);

	for (struct cp_frame *frame = tree->top; frame; frame = frame->outer) {
		frame->start.failed |= !countable;
		for (uint32_t i = 0; i < tree->layout->ncounters; i++)
			frame->start.counter[i] +=
				now->counter[i] - paused->start.counter[i];
		for (uint32_t g = 0; g < tree->layout->ngroups; g++) {
			frame->start.group[g].enabled +=
				now->group[g].enabled - paused->start.group[g].enabled;
			frame->start.group[g].running +=
				now->group[g].running - paused->start.group[g].running;
		}
		frame->begin_ns += now_ns - paused->begin_ns;
	}
}

void cp_tree_resume(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns)
{
	if (tree->pauses == 0 || --tree->pauses > 0 || !tree->paused)
		return;
	shift_starts(tree, reading, now_ns);
	cp_pool_give(&frames, tree->paused);
	tree->paused = NULL;
}

const struct cp_name *cp_tree_innermost(const struct cp_tree *tree)
{
	return tree->top ? tree->top->node->name : NULL;
}

void cp_tree_finish(struct cp_tree *tree, const struct cp_reading *reading,
	uint64_t now_ns, bool close_open)
{
	update_root(tree, reading, now_ns);
	if (close_open)
		tree->root->item->calls = 1;
	while (close_open && tree->top) {
		tree->top->node->item->flags |= CP_REGION_LEFT_OPEN;
		add_execution(tree, tree->top, reading, now_ns, false);
		pop(tree);
	}
}

void cp_tree_drop(struct cp_tree *tree)
{
	struct cp_node *node;

	while (tree->top)
		pop(tree);
	while (tree->spare) {
		struct cp_frame *frame = tree->spare;

		tree->spare = frame->outer;
		cp_pool_give(&frames, frame);
	}
	for (node = tree->nodes; node; node = node->next)
		HASH_CLEAR(hh, node->children);
	for (node = tree->nodes; node;) {
		struct cp_node *next = node->next;

		cp_pool_give(&nodes, node);
		node = next;
	}
	cp_pool_give(&frames, tree->begin);
	cp_pool_give(&frames, tree->paused);
	memset(tree, 0, sizeof(*tree));
}

struct cp_reading *cp_tree_root_start(struct cp_tree *tree)
{
	return &tree->begin->start;
}

uint64_t cp_tree_root_offset(const struct cp_tree *tree)
{
	return cp_record_offset(tree->record, tree->root->item);
}

/* Outermost first. */
static int reopen(struct cp_tree *child, const struct cp_frame *frame)
{
	struct cp_reading *start;

	if (!frame)
		return 0;
	if (reopen(child, frame->outer) < 0)
		return -ENOMEM;
	start = cp_tree_begin(child, frame->node->name);
	if (!start)
		return -ENOMEM;
	*start = child->begin->start;
	cp_tree_begin_time(child, child->begin->begin_ns);
	return 0;
}

int cp_tree_reopen(struct cp_tree *child, const struct cp_tree *parent)
{
	return reopen(child, parent->top);
}

void cp_trees_after_fork(void)
{
	cp_lock_reset(&nodes.lock);
	cp_lock_reset(&frames.lock);
	cp_hash_after_fork();
}
