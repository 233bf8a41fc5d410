/* SPDX-License-Identifier: MIT
 *
 * Ranges that are open: any thread may end one, by its tool's own key.
 */
#include <string.h>

#include "base/arena.h"
#include "base/lock.h"
#include "preload/markers/markers.h"
#include "preload/markers/markers_parts.h"
#include "preload/runtime.h"

static struct cp_store store; /* of the hash, under the lock */

#define uthash_malloc(size) cp_store_take(&store, size)
#define uthash_free(memory, size) ((void)(memory))
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct range {
	struct cp_range_key key;
	uint64_t id; /* in the thread's tree */
	pid_t tid;   /* the thread that started it, and counts it */
	int open;    /* written last, cleared first */
	struct range *older, *next_spare;
	UT_hash_handle hh;
};

/* All under the lock. */
static struct range *table;
static struct range *spare;  /* ranges that have ended */
static struct range *newest; /* of all */
static struct cp_lock lock;  /* innermost */
CP_LOCK_LISTED(lock);

static uint64_t new_id(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static struct range *new_range(void)
{
	struct range *range = spare;

	if (range) {
		spare = range->next_spare;
		return range;
	}
	range = cp_store_take(&store, sizeof(*range));
	if (range) {
		range->older = newest;
		__atomic_store_n(&newest, range, __ATOMIC_RELEASE);
	}
	return range;
}

static void put_aside(struct range *range)
{
	range->next_spare = spare;
	spare = range;
}

/* A key that is begun again while it is open stands for the newest. */
static void remember_range(const struct cp_range_key *key, uint64_t id, pid_t tid)
{
	struct range *range = new_range();

	if (!range)
		return;
	range->key = *key;
	range->id = id;
	range->tid = tid;
	__atomic_store_n(&range->open, 1, __ATOMIC_RELEASE);
	HASH_ADD(hh, table, key, sizeof(range->key), range);
}

static bool take_range(const struct cp_range_key *key, uint64_t *id, pid_t *tid)
{
	struct range *range;

	HASH_FIND(hh, table, key, sizeof(*key), range);
	if (!range)
		return false;
	*id = range->id;
	*tid = range->tid;
	__atomic_store_n(&range->open, 0, __ATOMIC_RELEASE);
	HASH_DEL(table, range);
	put_aside(range);
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
	remember_range(key, id, tid);
	cp_marker_unlock(&lock);
}

void cp_range_end(const struct cp_range_key *key)
{
	bool found;
	uint64_t id;
	pid_t tid;

	if (!cp_marker_lock(&lock))
		return;
	found = take_range(key, &id, &tid);
	cp_marker_unlock(&lock);
	if (found)
		cp_marker_range_end(tid, id);
}

/* Another thread, which does not exist here, was changing the table. */
static void build_again(void)
{
	struct range *range;

	table = spare = NULL;
	for (range = newest; range; range = range->older)
		if (range->open)
			HASH_ADD(hh, table, key, sizeof(range->key), range);
		else
			put_aside(range);
}

/* The caller is the only thread that is left, under a new name. */
void cp_ranges_after_fork(void)
{
	if (cp_lock_was_torn(&lock))
		build_again();
	for (struct range *range = table; range; range = range->hh.next)
		range->tid = cp_runtime.pid;
}
