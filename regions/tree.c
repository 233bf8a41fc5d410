/* SPDX-License-Identifier: MIT
 *
 * A thread's regions: its nodes, and the stack of those that are open.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/pool.h"
#include "regions/series_write.h"
#include "regions/tree_parts.h"

/* Words, not bytes: memcmp would be the program's on the simulated PMU. */
static unsigned hash_key(const void *memory)
{
	const struct cp_node_key *key = memory;
	uint64_t mixed = (uint64_t)(uintptr_t)key->parent * 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ (uint64_t)(uintptr_t)key->name ^ key->range) *
		0xd6e8feb86659fd93u;
	return (unsigned)(mixed >> 32);
}

static int key_differs(const void *one, const void *other)
{
	const struct cp_node_key *a = one, *b = other;

	return a->parent != b->parent || a->name != b->name || a->range != b->range;
}

#define uthash_malloc(size) cp_hash_take(size)
#define uthash_free(memory, size) cp_hash_give(memory, size)
#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, length, value) ((value) = hash_key(key))
#define HASH_KEYCMP(a, b, length) key_differs(a, b)
#include <uthash.h>

const struct cp_reading cp_no_reading;

/* An entry of a tree's hash table.  There is one table for the whole tree: one for
 * each parent would be half a kilobyte each. */
struct cp_tree_entry {
	struct cp_node node;
	struct cp_node_key key;
	UT_hash_handle hh;
};

CP_POOL(nodes, struct cp_tree_entry);
CP_POOL(frames, struct cp_frame);
CP_POOL(stubs, char[offsetof(struct cp_frame, begin_ns)]);

/* ---- nodes ---- */

static uint64_t name_offset(struct cp_tree *tree, struct cp_name *name)
{
	uint64_t offset;

	if (!name)
		return 0;
	offset = __atomic_load_n(&name->record_offset, __ATOMIC_ACQUIRE);
	if (offset)
		return offset;
	offset = cp_record_put_string(tree->record, name->text, name->length);
	__atomic_store_n(&name->record_offset, offset, __ATOMIC_RELEASE);
	return offset;
}

static struct cp_region_item *new_item(struct cp_tree *tree, const struct cp_node *parent,
	struct cp_name *name, bool range)
{
	const struct cp_layout *layout = tree->layout;
	struct cp_region_item *item = cp_record_reserve(tree->record,
		tree->region_size + (tree->folds ? sizeof(struct cp_folded) : 0));
	struct cp_spread *spreads;

	if (!item)
		return NULL;
	item->thread = tree->thread;
	item->parent = parent ? parent->offset : 0;
	item->name = name_offset(tree, name);
	item->flags = range ? CP_REGION_OVERLAPPING : 0;
	spreads = cp_region_spreads(item, layout->ncounters);
	for (uint32_t i = 0; i < layout->nquantities; i++)
		spreads[i].min = UINT64_MAX;
	cp_item_publish(item, CP_ITEM_REGION);
	if (tree->record->series)
		cp_series_note(
			tree->record->series, cp_record_offset(tree->record, item), item);
	return item;
}

static struct cp_journal_item *new_journal(struct cp_tree *tree)
{
	struct cp_journal_item *journal =
		cp_record_reserve(tree->record, cp_journal_item_size(tree->region_size));

	if (!journal)
		return NULL;
	journal->thread = tree->thread;
	cp_item_publish(journal, CP_ITEM_JOURNAL);
	return journal;
}

static struct cp_node *new_node(
	struct cp_tree *tree, struct cp_node *parent, struct cp_name *name, bool range)
{
	struct cp_tree_entry *entry = cp_pool_take(&nodes);
	struct cp_node *node = entry ? &entry->node : NULL;

	if (!node)
		return NULL;
	node->item = new_item(tree, parent, name, range);
	if (!node->item) {
		cp_pool_give(&nodes, entry);
		return NULL;
	}
	node->offset = cp_record_offset(tree->record, node->item);
	node->parent = parent;
	node->name = name;
	node->range = range;
	node->next = tree->nodes;
	tree->nodes = node;
	entry->key = (struct cp_node_key){parent, name, range};
	if (parent)
		HASH_ADD(hh, tree->table, key, sizeof(entry->key), entry);
	return node;
}

struct cp_node *cp_tree_find_child(const struct cp_tree *tree,
	const struct cp_node *parent, const struct cp_name *name, bool range)
{
	struct cp_node_key key = {parent, name, range};
	struct cp_tree_entry *entry;

	if (!range && parent->recent && parent->recent->name == name)
		return parent->recent;
	HASH_FIND(hh, tree->table, &key, sizeof(key), entry);
	return entry ? &entry->node : NULL;
}

struct cp_node *cp_tree_child(
	struct cp_tree *tree, struct cp_node *parent, struct cp_name *name, bool range)
{
	struct cp_node *child = cp_tree_find_child(tree, parent, name, range);

	if (!child)
		child = new_node(tree, parent, name, range);
	if (child && !range)
		parent->recent = child;
	return child;
}

/* ---- the stack ---- */

/* The innermost region that is recorded. */
static struct cp_node *innermost_of(const struct cp_tree *tree)
{
	return tree->top && tree->depth <= CP_TREE_DEPTH ? tree->top->node : tree->root;
}

struct cp_frame *cp_frame_new(struct cp_tree *tree)
{
	struct cp_frame *frame = tree->spare;

	if (frame)
		tree->spare = frame->outer;
	else
		frame = cp_pool_take(&frames);
	return frame;
}

static void push_frame(struct cp_tree *tree, struct cp_frame *frame,
	const struct cp_name *name, uint64_t tag)
{
	frame->name = name;
	frame->tag = tag;
	frame->again = false;
	frame->outer = tree->top;
	tree->top = frame;
	tree->depth++;
}

/* Too deep for a path of its own: it is only known to be open. */
static void push_stub(struct cp_tree *tree, const struct cp_name *name, uint64_t tag)
{
	struct cp_frame *stub = cp_pool_take(&stubs), *limit = tree->top;

	if (!stub)
		return;
	push_frame(tree, stub, name, tag);
	while (!limit->node)
		limit = limit->outer;
	limit->node->item->flags |= CP_REGION_DEEPER;
}

struct cp_frame *cp_tree_open(struct cp_tree *tree, struct cp_node *node,
	const struct cp_name *name, uint64_t tag)
{
	struct cp_frame *frame = cp_frame_new(tree);

	if (!frame)
		return NULL;
	cp_frame_set_out(tree, frame, node);
	push_frame(tree, frame, name, tag);
	return frame;
}

struct cp_frame *cp_frame_take(const struct cp_reading *reading, uint64_t now_ns)
{
	struct cp_frame *frame = cp_pool_take(&frames);

	if (!frame)
		return NULL;
	frame->start = *reading;
	frame->begin_ns = now_ns;
	return frame;
}

static void pop_frame(struct cp_tree *tree)
{
	struct cp_frame *frame = tree->top;

	tree->top = frame->outer;
	tree->depth--;
	if (tree->unit == frame)
		tree->unit = NULL;
	if (!frame->node) {
		cp_pool_give(&stubs, frame);
		return;
	}
	cp_frame_spare(tree, frame);
	if (tree->paused)
		return;
	if (frame->weight)
		tree->npairs++;
	else
		tree->nskipped++;
}

void cp_tree_close_top(struct cp_tree *tree, const struct cp_reading *reading,
	uint64_t now_ns, bool with_root, uint32_t flags)
{
	struct cp_frame *frame = tree->top;

	if (frame->node && flags)
		frame->node->item->flags |= flags;
	if (frame->node && frame->weight)
		cp_tree_add_execution(tree, frame, reading, now_ns, with_root);
	else if (frame->node)
		frame->node->item->calls += !frame->again;
	pop_frame(tree);
}

static bool matches_frame(
	const struct cp_frame *frame, const struct cp_name *name, uint64_t tag)
{
	return frame->tag == tag && (!name || frame->name == name);
}

struct cp_frame *cp_tree_find_open(
	const struct cp_tree *tree, const struct cp_name *name, uint64_t tag)
{
	struct cp_frame *frame = tree->top;

	while (frame && !matches_frame(frame, name, tag))
		frame = frame->outer;
	return frame;
}

static int start_tree(struct cp_tree *tree, const struct cp_layout *layout,
	struct cp_recording *record, uint64_t thread, const struct cp_reading *reading,
	uint64_t now_ns)
{
	tree->layout = layout;
	tree->record = record;
	tree->thread = thread;
	tree->region_size = cp_region_size(layout);
	tree->journal = tree->folds ? NULL : new_journal(tree);
	tree->plain = tree->journal && cp_layout_is_plain(layout);
	tree->one_of_each = layout->ncounters == 1 && layout->nquantities == 1 &&
			    layout->ngroups == 1 && layout->quantities->nterms == 1;
	tree->root = new_node(tree, NULL, NULL, false);
	tree->begin = cp_pool_take(&frames);
	if (!tree->root || !tree->begin) {
		cp_tree_drop(tree);
		return -ENOMEM;
	}
	tree->begin->node = tree->root;
	tree->begin->weight = 1;
	tree->begin->pairs = tree->begin->skipped = 0;
	tree->begin->begin_ns = now_ns;
	tree->begin->start = *reading;
	tree->random = now_ns ^ thread << 40;
	return 0;
}

int cp_tree_start(struct cp_tree *tree, const struct cp_layout *layout,
	struct cp_recording *record, uint64_t thread, const struct cp_reading *reading,
	uint64_t now_ns)
{
	memset(tree, 0, sizeof(*tree));
	return start_tree(tree, layout, record, thread, reading, now_ns);
}

int cp_tree_start_folded(struct cp_tree *tree, const struct cp_layout *layout,
	struct cp_recording *record, uint64_t thread)
{
	memset(tree, 0, sizeof(*tree));
	tree->folds = true;
	return start_tree(tree, layout, record, thread, &cp_no_reading, 0);
}

static struct cp_reading *open_frame(struct cp_tree *tree, struct cp_node *node,
	struct cp_frame *frame, const struct cp_name *name, uint64_t tag)
{
	cp_frame_set_out(tree, frame, node);
	if (__builtin_expect(!tree->plain && tree->layout->sparse, 0))
		frame->weight = cp_sparse_begin(tree, node);
	push_frame(tree, frame, name, tag);
	return &frame->start;
}

struct cp_reading *cp_tree_begin_tagged(
	struct cp_tree *tree, struct cp_name *name, uint64_t tag)
{
	struct cp_node *node;
	struct cp_frame *frame;

	if (tree->depth >= CP_TREE_DEPTH) {
		push_stub(tree, name, tag);
		return NULL;
	}
	node = cp_tree_child(tree, innermost_of(tree), name, false);
	if (node && tag & CP_TAG_WATCHED)
		node->item->flags |= CP_REGION_FUNCTION;
	frame = node ? cp_frame_new(tree) : NULL;
	return frame ? open_frame(tree, node, frame, name, tag) : NULL;
}

const struct cp_node *cp_tree_place(const struct cp_tree *tree)
{
	return innermost_of(tree);
}

bool cp_tree_top_is_skipped(const struct cp_tree *tree)
{
	return tree->top && tree->top->node && !tree->top->weight;
}

void cp_tree_skip(struct cp_tree *tree, const struct cp_name *name, uint32_t count)
{
	struct cp_node *node = cp_tree_find_child(tree, innermost_of(tree), name, false);

	if (!node)
		return;
	node->every = node->ahead = count;
	node->pick = UINT32_MAX;
}

void cp_tree_begin_time(struct cp_tree *tree, uint64_t now_ns)
{
	tree->top->begin_ns = now_ns;
}

enum cp_misuse cp_tree_end_tagged(struct cp_tree *tree, const struct cp_name *name,
	uint64_t tag, const struct cp_reading *reading, uint64_t now_ns)
{
	const struct cp_frame *frame;
	enum cp_misuse misuse = CP_MISUSE_NONE;

	if (cp_tree_end_innermost(tree, name, tag, reading, now_ns))
		return CP_MISUSE_NONE;
	frame = cp_tree_find_open(tree, name, tag);
	if (!frame) {
		if (!tag)
			tree->root->item->flags |= CP_REGION_END_WITHOUT_BEGIN;
		return CP_MISUSE_NO_BEGIN;
	}
	while (tree->top != frame) {
		if (!tree->top->tag)
			misuse = CP_MISUSE_WRONG_NAME;
		cp_tree_close_top(tree, reading, now_ns, false,
			tree->top->tag ? 0 : CP_REGION_WRONG_NAME);
	}
	cp_tree_close_top(tree, reading, now_ns, true, 0);
	return misuse;
}

bool cp_tree_end_innermost(struct cp_tree *tree, const struct cp_name *name, uint64_t tag,
	const struct cp_reading *reading, uint64_t now_ns)
{
	struct cp_frame *top = tree->top;

	if (!top || !matches_frame(top, name, tag))
		return false;
	if (cp_tree_ends_plainly(tree, top))
		return tree->one_of_each
			       ? cp_tree_end_one_of_each(tree, top, reading, now_ns)
			       : cp_tree_end_plain(tree, top, reading, now_ns);
	cp_tree_close_top(tree, reading, now_ns, true, 0);
	return true;
}

static inline struct cp_reading *begin_in(
	struct cp_tree *tree, struct cp_node *node, struct cp_name *name, uint64_t tag)
{
	struct cp_frame *frame = tree->spare;

	tree->spare = frame->outer;
	return open_frame(tree, node, frame, name, tag);
}

static __attribute__((noinline)) struct cp_reading *begin_another(
	struct cp_tree *tree, struct cp_node *parent, struct cp_name *name, uint64_t tag)
{
	struct cp_node *node = cp_tree_find_child(tree, parent, name, false);

	if (!node)
		return NULL;
	parent->recent = node;
	return begin_in(tree, node, name, tag);
}

struct cp_reading *cp_tree_begin_again(
	struct cp_tree *tree, struct cp_name *name, uint64_t tag)
{
	struct cp_node *parent = innermost_of(tree), *node = parent->recent;

	if (!tree->spare || tree->depth >= CP_TREE_DEPTH)
		return NULL;
	if (__builtin_expect(!node || node->name != name || !tree->plain, 0))
		return begin_another(tree, parent, name, tag);
	return begin_in(tree, node, name, tag);
}

const struct cp_name *cp_tree_innermost(const struct cp_tree *tree)
{
	return tree->top ? tree->top->name : NULL;
}

uint64_t cp_tree_number(const struct cp_tree *tree)
{
	const struct cp_frame *frame = tree->paused ? NULL : tree->top;

	while (frame && !frame->node)
		frame = frame->outer;
	return frame ? frame->node->offset : 0;
}

void cp_tree_finish(struct cp_tree *tree, const struct cp_reading *reading,
	uint64_t now_ns, bool close_open)
{
	cp_tree_update_root(tree, reading, now_ns);
	tree->root_is_newer = true;
	if (!close_open)
		return;
	cp_tree_end_rest(tree);
	tree->root->item->calls = 1;
	if (tree->paused)
		reading = cp_tree_frozen(tree, &now_ns);
	while (tree->top)
		cp_tree_close_top(tree, reading, now_ns, false,
			tree->top->tag & CP_TAG_UNWRITTEN ? 0 : CP_REGION_LEFT_OPEN);
	cp_tree_close_ranges(tree, reading, now_ns);
}

void cp_frame_give(struct cp_frame *frame)
{
	cp_pool_give(&frames, frame);
}

static void give_frames(struct cp_frame *frame)
{
	while (frame) {
		struct cp_frame *outer = frame->outer;

		cp_pool_give(&frames, frame);
		frame = outer;
	}
}

void cp_tree_drop(struct cp_tree *tree)
{
	struct cp_node *node = tree->nodes;

	while (tree->top)
		pop_frame(tree);
	give_frames(tree->spare);
	give_frames(tree->ranges);
	HASH_CLEAR(hh, tree->table);
	while (node) {
		struct cp_node *next = node->next;

		cp_pool_give(&nodes, node);
		node = next;
	}
	cp_pool_give(&frames, tree->begin);
	cp_pool_give(&frames, tree->paused);
	cp_pool_give(&frames, tree->rest_frame);
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

uint64_t cp_tree_time_enabled(const struct cp_tree *tree)
{
	const struct cp_layout *layout = tree->layout;

	if (!tree->root || !layout->ngroups)
		return 0;
	return cp_region_times(tree->root->item, layout->ncounters, layout->nquantities)
		->enabled;
}
