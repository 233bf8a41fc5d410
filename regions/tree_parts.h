/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the region tree; nobody else's business.
 */
#ifndef CACHEPEEK_REGIONS_TREE_PARTS_H
#define CACHEPEEK_REGIONS_TREE_PARTS_H

#include "base/random.h"
#include "regions/tree.h"

/* Handles of uthash, which only tree.c includes. */
struct cp_node_key {
	const struct cp_node *parent;
	const struct cp_name *name;
	uint64_t range; /* 0 or 1 */
};

/* One path of one thread. */
struct cp_node {
	struct cp_region_item *item;
	uint64_t offset; /* of the item, in the record */
	struct cp_node *parent;
	struct cp_name *name;   /* NULL: the root */
	struct cp_node *recent; /* the child used last: loops find it at once */
	struct cp_node *next;   /* of the tree */
	bool range;             /* has nothing inside */
	/* Sparse: of `every` executions one is counted.  So many are still to come
	 * of these, and so many after that one. */
	uint32_t every, ahead, pick;
	double usual_ns; /* of late */
	bool begun;      /* rotation: not for the first time */
	uint64_t left;   /* rotation: groups that its block still has */
};

/* One open execution.  One that is nested too deeply to be recorded ends
 * before begin_ns. */
struct cp_frame {
	struct cp_frame *outer;
	struct cp_node *node; /* NULL: not recorded */
	const struct cp_name *name;
	uint64_t tag;
	uint64_t weight;         /* executions that it stands for; 0: it is not counted */
	uint64_t pairs, skipped; /* of the thread when this one began */
	uint64_t draws;          /* the same */
	bool again;              /* a further part of an execution */
	uint64_t begin_ns;
	uint64_t rests;
	struct cp_reading start;
};

/* tree_memory.c: what the hash tables are made of. */
void *cp_hash_take(size_t size);
void cp_hash_give(void *memory, size_t size);

/* tree.c: the child of that name, made if need be; NULL: out of memory. */
struct cp_node *cp_tree_child(
	struct cp_tree *tree, struct cp_node *parent, struct cp_name *name, bool range);

static inline struct cp_sampled *cp_sampled_of(
	const struct cp_layout *layout, const struct cp_region_item *item)
{
	return cp_region_sampled(
		item, layout->ncounters, layout->nquantities, layout->ngroups);
}

/* tree_sparse.c: the weight of the execution that begins, 0: not counted. */
uint64_t cp_sparse_begin(struct cp_tree *tree, struct cp_node *node);

/* Adds an execution of these counts, or one tree's to another's. */
void cp_sparse_add(const struct cp_tree *tree, struct cp_node *node, uint64_t weight,
	const uint64_t delta[], uint64_t time_ns);
void cp_sparse_move(const struct cp_layout *layout, struct cp_region_item *to,
	struct cp_region_item *from);

/* Executions that the sums of a region stand for. */
static inline uint64_t cp_sparse_executions(
	const struct cp_layout *layout, const struct cp_region_item *item)
{
	const struct cp_sampled *sampled;

	if (__builtin_expect(!layout->sparse, 1))
		return item->calls;
	sampled = cp_sampled_of(layout, item);
	return sampled->counted - sampled->chosen + sampled->weight;
}

/* tree.c: a new frame of that node, on top; NULL: out of memory. */
struct cp_frame *cp_tree_open(struct cp_tree *tree, struct cp_node *node,
	const struct cp_name *name, uint64_t tag);

/* tree.c: closes the innermost region. */
void cp_tree_close_top(struct cp_tree *tree, const struct cp_reading *reading,
	uint64_t now_ns, bool with_root, uint32_t flags);

/* tree.c: the child of that name; NULL: there is none. */
struct cp_node *cp_tree_find_child(const struct cp_tree *tree,
	const struct cp_node *parent, const struct cp_name *name, bool range);

/* tree_range.c: moves the starts from frame outwards, until end, by what was counted
 * from `from` to now, as if it had not been. */
void cp_tree_shift(const struct cp_tree *tree, struct cp_frame *frame,
	const struct cp_frame *end, const struct cp_frame *from,
	const struct cp_reading *now, uint64_t now_ns);

/* tree.c: the innermost that is open of that name (NULL: any) and tag, or NULL. */
struct cp_frame *cp_tree_find_open(
	const struct cp_tree *tree, const struct cp_name *name, uint64_t tag);

/* tree_range.c: closes those that were left open. */
void cp_tree_close_ranges(
	struct cp_tree *tree, const struct cp_reading *reading, uint64_t now_ns);

/* tree.c: a frame, of those that the tree has to spare or new; NULL: out of
 * memory. */
struct cp_frame *cp_frame_new(struct cp_tree *tree);
static inline void cp_frame_spare(struct cp_tree *tree, struct cp_frame *frame)
{
	frame->outer = tree->spare;
	tree->spare = frame;
}

/* It begins: what its counts are measured from, but for its start and time. */
static inline void cp_frame_set_out(
	const struct cp_tree *tree, struct cp_frame *frame, struct cp_node *node)
{
	frame->node = node;
	frame->weight = 1;
	frame->pairs = tree->npairs;
	frame->skipped = tree->nskipped;
	frame->draws = tree->draws;
	frame->rests = 0;
}

/* One to keep a reading in; NULL: out of memory. */
struct cp_frame *cp_frame_take(const struct cp_reading *reading, uint64_t now_ns);
void cp_frame_give(struct cp_frame *frame);

/* tree_change.c */

/* Is what lies between them a count? */
bool cp_tree_is_countable(const struct cp_layout *layout, const struct cp_reading *from,
	const struct cp_reading *to);

/* Its terms, of counters that lie `step` words apart, but never less than 0. */
static inline uint64_t cp_quantity_sum(const struct cp_quantity_terms *quantity,
	const uint64_t counters[], uint32_t step)
{
	int64_t sum = 0;

	if (quantity->nterms == 1 && quantity->terms->sign > 0)
		return counters[quantity->terms->counter * step];
	for (uint32_t t = 0; t < quantity->nterms; t++)
		sum += quantity->terms[t].sign *
		       (int64_t)counters[quantity->terms[t].counter * step];
	return sum < 0 ? 0 : (uint64_t)sum;
}

/* Each of these is one transaction. */

/* The execution, and with_root the root up to date: all of it or nothing. */
void cp_tree_add_execution(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, uint64_t now_ns, bool with_root);

/* Is each execution counted, and every quantity one counter at most? */
bool cp_layout_is_plain(const struct cp_layout *layout);

static inline bool cp_tree_ends_plainly(
	const struct cp_tree *tree, const struct cp_frame *top)
{
	return tree->plain && top->node && !top->again &&
	       top->node->parent == (top->outer ? top->outer->node : tree->root);
}

/* tree_plain.c: closes the innermost region, which ends plainly, with the root; in the
 * second one counter, quantity and group are all there is.  True. */
bool cp_tree_end_plain(struct cp_tree *tree, struct cp_frame *top,
	const struct cp_reading *now, uint64_t now_ns);
bool cp_tree_end_one_of_each(struct cp_tree *tree, struct cp_frame *top,
	const struct cp_reading *now, uint64_t now_ns);

/* The same for a range, which is no part of what it overlaps with. */
void cp_tree_add_range(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, uint64_t now_ns);

void cp_tree_update_root(
	struct cp_tree *tree, const struct cp_reading *now, uint64_t now_ns);

/* An execution that ended, as a sample; its item is open for writing
 * and its calls do not count it yet. */
void cp_tree_add_sample(struct cp_tree *tree, const struct cp_frame *frame,
	const struct cp_reading *now, const uint64_t delta[]);

/* The samples of `from` move to those of `to`; both are open for writing. */
void cp_rotated_move(const struct cp_layout *layout, struct cp_region_item *to,
	struct cp_region_item *from);

/* fold.c: adds `from`, of `more` threads, to `to`, and leaves nothing there. */
void cp_region_move(const struct cp_layout *layout, struct cp_region_item *to,
	struct cp_folded *folded, struct cp_region_item *from,
	const struct cp_folded *more);

/* How much a region takes, without what a fold adds to it. */
static inline uint64_t cp_region_size(const struct cp_layout *layout)
{
	return cp_region_item_size(
		       layout->ncounters, layout->nquantities, layout->ngroups) +
	       cp_rotated_size(layout->nrotated, layout->ncounters, layout->ngroups) +
	       cp_sampled_size(layout->sparse, layout->nquantities);
}

static inline void *cp_region_end(
	const struct cp_tree *tree, const struct cp_region_item *item)
{
	return (char *)(uintptr_t)item + tree->region_size;
}

/* ---- changes of the record ---- */

/*
 * Every change of the record is one transaction: save what it is going to
 * overwrite, open, change, close.  No call of libc: on the simulated PMU that
 * would be the program's.  The order of the stores matters to nobody but the
 * compiler, since the dead write no more; the living are read again until the
 * version is even.
 */

struct change {
	struct cp_journal_item *journal;
	uint64_t *to;
};

/* The value without the part, but never less than 0. */
static inline __attribute__((always_inline)) uint64_t subtract_part(
	uint64_t value, uint64_t part)
{
	uint64_t rest;

	return __builtin_sub_overflow(value, part, &rest) ? 0 : rest;
}

/* Two at a time; the compiler is kept from making a memcpy of it. */
static inline uint64_t *copy_words(uint64_t *to, const uint64_t *from, uint64_t count)
{
	typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));

	for (; count >= 4; count -= 4, to += 4, from += 4) {
		pair low = *(const pair *)from, high = *(const pair *)(from + 2);

		*(pair *)to = low;
		*(pair *)(to + 2) = high;
		__asm__ volatile("" : : : "memory");
	}
	if (count >= 2) {
		*(pair *)to = *(const pair *)from;
		to += 2, from += 2, count -= 2;
	}
	if (count > 0)
		*to++ = *from;
	return to;
}

static inline void save_range(struct change *change, const struct cp_node *node,
	const void *first, const void *end)
{
	struct cp_journal_item *journal = change->journal;
	struct cp_journal_range *range;

	if (!journal)
		return;
	range = &journal->ranges[journal->nranges++];
	range->offset =
		node->offset + (uint64_t)((const char *)first - (const char *)node->item);
	range->size = (uint64_t)((const char *)end - (const char *)first);
	change->to = copy_words(change->to, first, range->size / 8);
}

static inline struct change change_begin(struct cp_tree *tree)
{
	if (tree->journal)
		tree->journal->nranges = 0;
	return (struct change){
		tree->journal, tree->journal ? tree->journal->bytes : NULL};
}

static inline void change_open(const struct change *change)
{
	if (change->journal)
		__atomic_store_n(&change->journal->active, 1, __ATOMIC_RELEASE);
}

static inline void change_close(const struct change *change)
{
	if (change->journal)
		__atomic_store_n(&change->journal->active, 0, __ATOMIC_RELEASE);
}

/* Readers see an odd version while the region changes, or its writer died. */
static inline void write_begin(struct cp_region_item *item)
{
	__atomic_store_n(&item->version, item->version | 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void write_end(struct cp_region_item *item)
{
	__atomic_store_n(&item->version, item->version + 1, __ATOMIC_RELEASE);
}

#endif
