/* SPDX-License-Identifier: MIT
 *
 * What tree.c and fold.c share; nobody else's business.
 */
#ifndef CACHEPEEK_REGIONS_TREE_PARTS_H
#define CACHEPEEK_REGIONS_TREE_PARTS_H

#include "regions/tree.h"

/* tree_memory.c: what the hash tables are made of. */
void *cp_hash_take(size_t size);
void cp_hash_give(void *memory, size_t size);
void cp_hash_after_fork(void);

#define uthash_malloc(size) cp_hash_take(size)
#define uthash_free(memory, size) cp_hash_give(memory, size)
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* One path of one thread. */
struct cp_node {
	struct cp_region_item *item;
	uint64_t offset; /* of the item, in the record */
	struct cp_node *parent;
	struct cp_name *name;     /* NULL: the root */
	struct cp_node *children; /* hash by name */
	struct cp_node *recent;   /* the child used last: loops find it at once */
	struct cp_node *next;     /* of the tree */
	UT_hash_handle hh;
};

/* One open execution. */
struct cp_frame {
	struct cp_frame *outer;
	struct cp_node *node;
	uint64_t begin_ns;
	struct cp_reading start;
};

/* The child of that name, made if need be; NULL: out of memory. */
struct cp_node *cp_tree_child(
	struct cp_tree *tree, struct cp_node *parent, struct cp_name *name);

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
	for (; count > 0; count--) {
		*to++ = *from++;
		__asm__ volatile("" : : : "memory");
	}
	return to;
}

static inline void save(struct change *change, const struct cp_node *node,
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
	__atomic_store_n(&item->version, (item->version | 1) + 1, __ATOMIC_RELEASE);
}

#endif
