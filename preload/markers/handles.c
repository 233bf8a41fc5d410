/* SPDX-License-Identifier: MIT */
#include "preload/markers/handles.h"

#include "base/arena.h"
#include "base/lock.h"
#include "preload/markers/markers_parts.h"

#define uthash_malloc(size) cp_store_take(&handles.store, size)
#define uthash_free(memory, size) ((void)(memory))
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct key {
	uint64_t tag, value;
};

struct entry {
	struct cp_handle handle;
	struct key key;
	struct entry *older;
	UT_hash_handle hh;
};

/* All handles that the program was given. */
static struct {
	struct cp_store store; /* under the lock */
	struct entry *table;   /* under the lock */
	struct entry *newest;  /* of all, each complete; under the lock */
	struct cp_lock lock;
} handles;
CP_LOCK_LISTED(handles.lock);

static struct entry *find_handle(uint64_t tag, uint64_t value)
{
	struct key key = {tag, value};
	struct entry *entry;

	/* NOLINTNEXTLINE(clang-analyzer-core.*): uthash's bytes of an integer */
	HASH_FIND(hh, handles.table, &key, sizeof(key), entry);
	return entry;
}

static struct entry *add_handle(uint64_t tag, uint64_t value)
{
	struct entry *entry = cp_store_take(&handles.store, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->handle.tag = tag;
	entry->handle.value = value ? value : (uint64_t)(uintptr_t)entry;
	entry->key = (struct key){tag, entry->handle.value};
	entry->older = handles.newest;
	__atomic_store_n(&handles.newest, entry, __ATOMIC_RELEASE);
	HASH_ADD(hh, handles.table, key, sizeof(entry->key), entry);
	return entry;
}

const struct cp_handle *cp_handle_set(uint64_t tag, uint64_t value, struct cp_name *name)
{
	struct entry *entry;

	if (!cp_marker_lock(&handles.lock))
		return NULL;
	entry = value ? find_handle(tag, value) : NULL;
	if (!entry)
		entry = add_handle(tag, value);
	if (entry)
		entry->handle.name = name;
	cp_marker_unlock(&handles.lock);
	return entry ? &entry->handle : NULL;
}

struct cp_name *cp_handle_name(uint64_t tag, uint64_t value)
{
	struct entry *entry;
	struct cp_name *name;

	if (!cp_marker_lock(&handles.lock))
		return NULL;
	entry = find_handle(tag, value);
	name = entry ? entry->handle.name : NULL;
	cp_marker_unlock(&handles.lock);
	return name;
}

/* If another thread, which does not exist here, was changing the table. */
void cp_handles_after_fork(void)
{
	struct entry *entry;

	if (!cp_lock_was_torn(&handles.lock))
		return;
	handles.table = NULL;
	for (entry = handles.newest; entry; entry = entry->older)
		HASH_ADD(hh, handles.table, key, sizeof(entry->key), entry);
}
