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

#define uthash_malloc(size) cp_store_take(&ranges.store, size)
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

/* All ranges, those that have ended too. */
static struct {
	struct cp_store store; /* of the hash, under the lock */
	/* All under the lock. */
	struct range *table;
	struct range *spare;  /* ranges that have ended */
	struct range *newest; /* of all */
	struct cp_lock lock;  /* innermost */
} ranges;
CP_LOCK_LISTED(ranges.lock);

static uint64_t new_id(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static struct range *new_range(void)
{
	struct range *range = ranges.spare;

	if (range) {
		ranges.spare = range->next_spare;
		return range;
	}
	range = cp_store_take(&ranges.store, sizeof(*range));
	if (range) {
		range->older = ranges.newest;
		__atomic_store_n(&ranges.newest, range, __ATOMIC_RELEASE);
	}
	return range;
}

static void put_aside(struct range *range)
{
	range->next_spare = ranges.spare;
	ranges.spare = range;
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
	HASH_ADD(hh, ranges.table, key, sizeof(range->key), range);
}

static bool take_range(const struct cp_range_key *key, uint64_t *id, pid_t *tid)
{
	struct range *range;

	HASH_FIND(hh, ranges.table, key, sizeof(*key), range);
	if (!range)
		return false;
	*id = range->id;
	*tid = range->tid;
	__atomic_store_n(&range->open, 0, __ATOMIC_RELEASE);
	HASH_DEL(ranges.table, range);
	put_aside(range);
	return true;
}

void cp_range_begin(struct cp_name *name, const struct cp_range_key *key)
{
	uint64_t id = new_id();
	pid_t tid;

	if (!name || name->left_out) {
		cp_marker_begin_now(NULL, key->tag);
		return;
	}
	if (!cp_marker_range_begin(name, id, &tid))
		return;
	if (!cp_marker_lock(&ranges.lock))
		return;
	remember_range(key, id, tid);
	cp_marker_unlock(&ranges.lock);
}

void cp_range_end(const struct cp_range_key *key)
{
	bool found;
	uint64_t id;
	pid_t tid;

	if (!cp_marker_lock(&ranges.lock))
		return;
	found = take_range(key, &id, &tid);
	cp_marker_unlock(&ranges.lock);
	if (found)
		cp_marker_range_end(tid, id);
	else
		cp_marker_note_no_range(key->tag);
}

/* Another thread, which does not exist here, was changing the table. */
static void build_again(void)
{
	struct range *range;

	ranges.table = ranges.spare = NULL;
	for (range = ranges.newest; range; range = range->older)
		if (range->open)
			HASH_ADD(hh, ranges.table, key, sizeof(range->key), range);
		else
			put_aside(range);
}

/* The caller is the only thread that is left, under a new name. */
void cp_ranges_after_fork(void)
{
	if (cp_lock_was_torn(&ranges.lock))
		build_again();
	for (struct range *range = ranges.table; range; range = range->hh.next)
		range->tid = cp_runtime.pid;
}
