/* SPDX-License-Identifier: MIT
 *
 * Ranges that are open: any thread may end one, by its tool's own key.
 */
#include <string.h>

#include "base/pool.h"
#include "preload/markers.h"
#include "preload/markers_parts.h"
#include "preload/runtime.h"

static struct cp_arena arena; /* of the hash, under the lock */

#define uthash_malloc(size) cp_arena_alloc(&arena, size)
#define uthash_free(memory, size) ((void)(memory))
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct range {
	struct cp_range_key key;
	uint64_t id; /* in the thread's tree */
	pid_t tid;   /* who started it, and counts it */
	UT_hash_handle hh;
};

static struct cp_pool pool = {.object_size = sizeof(struct range)};
static struct range *table; /* under the lock */
static struct cp_lock lock; /* taken before the pool's */

static uint64_t new_id(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* A key that is begun again while it is open stands for the newest. */
static void remember(const struct cp_range_key *key, uint64_t id, pid_t tid)
{
	struct range *range = cp_pool_take(&pool);

	if (!range)
		return;
	range->key = *key;
	range->id = id;
	range->tid = tid;
	HASH_ADD(hh, table, key, sizeof(range->key), range);
}

static bool take(const struct cp_range_key *key, uint64_t *id, pid_t *tid)
{
	struct range *range;

	HASH_FIND(hh, table, key, sizeof(*key), range);
	if (!range)
		return false;
	*id = range->id;
	*tid = range->tid;
	HASH_DEL(table, range);
	cp_pool_give(&pool, range);
	return true;
}

void cp_range_begin(struct cp_name *name, const struct cp_range_key *key)
{
	uint64_t id = new_id();
	pid_t tid;

	if (!name || name->left_out || !cp_marker_range_begin(name, id, &tid))
		return;
	if (!cp_marker_lock(&lock))
		return;
	remember(key, id, tid);
	cp_marker_unlock(&lock);
}

void cp_range_end(const struct cp_range_key *key)
{
	bool found;
	uint64_t id;
	pid_t tid;

	if (!cp_marker_lock(&lock))
		return;
	found = take(key, &id, &tid);
	cp_marker_unlock(&lock);
	if (found)
		cp_marker_range_end(tid, id);
}

/* The caller is the only thread that is left, under a new name. */
void cp_ranges_after_fork(void)
{
	cp_lock_reset(&lock);
	cp_lock_reset(&pool.lock);
	for (struct range *range = table; range; range = range->hh.next)
		range->tid = cp_runtime.pid;
}
