/* SPDX-License-Identifier: MIT
 *
 * Objects of one size that come and go (threads, region nodes, stack frames):
 * taken from a store that only grows, given back to a free list.
 */
#ifndef CACHEPEEK_BASE_POOL_H
#define CACHEPEEK_BASE_POOL_H

#include <stddef.h>

#include "base/arena.h"
#include "base/lock.h"

struct cp_pool {
	size_t object_size; /* at least a pointer's */
	struct cp_lock lock;
	struct cp_store store;
	void *free;
};

/* A pool with a place of its own, of objects of that type. */
#define CP_POOL(name, type)                                                              \
	static struct cp_pool name = {.object_size = sizeof(type)};                      \
	CP_LOCK_LISTED(name.lock)

/* A zeroed object, or NULL when memory is out.  Thread-safe. */
void *cp_pool_take(struct cp_pool *pool) __attribute__((warn_unused_result));

/* object may be NULL.  Thread-safe. */
void cp_pool_give(struct cp_pool *pool, void *object);

/* A list, linked by the first word of each, of which the last one is written only: in a
 * fork child, a page that is written is copied.  Thread-safe. */
void cp_pool_give_list(struct cp_pool *pool, void *first, void *last);

#endif
