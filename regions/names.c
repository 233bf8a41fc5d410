/* SPDX-License-Identifier: MIT */
#include "regions/names.h"

#include <string.h>

#include "base/arena.h"
#include "base/lock.h"
#include "regions/filter.h"

static struct cp_store store; /* of names, under the lock */

/* uthash's memory is ours, too: no malloc in hooks.  Its growth is geometric,
 * so what free leaves behind is bounded by what is in use. */
#define uthash_malloc(size) cp_store_take(&store, size)
#define uthash_free(memory, size) ((void)(memory))
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct entry {
	struct cp_name name;
	struct entry *older;
	UT_hash_handle hh;
};

static struct entry *table;  /* under the lock */
static struct entry *newest; /* of all, each complete; under the lock */
static struct cp_lock lock;  /* taken before the record's */
CP_LOCK_LISTED(lock);

static const char *filter;

static struct entry *add_name(const char *text, size_t length)
{
	struct entry *entry = cp_store_take(&store, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->name.text = cp_store_copy(&store, text, length);
	entry->name.length = length;
	entry->name.left_out = !cp_filter_allows(filter, text, length);
	if (!entry->name.text)
		return NULL;
	entry->older = newest;
	__atomic_store_n(&newest, entry, __ATOMIC_RELEASE);
	HASH_ADD_KEYPTR(hh, table, entry->name.text, length, entry);
	return entry;
}

struct cp_name *cp_name_intern(const char *text, size_t length)
{
	struct entry *entry;

	if (length > CP_MAX_REGION_NAME)
		length = CP_MAX_REGION_NAME;
	cp_lock(&lock);
	HASH_FIND(hh, table, text, length, entry);
	if (!entry)
		entry = add_name(text, length);
	cp_unlock(&lock);
	return entry ? &entry->name : NULL;
}

/* Another thread, which does not exist here, was changing the table. */
static void build_again(void)
{
	struct entry *entry;

	table = NULL;
	for (entry = newest; entry; entry = entry->older)
		HASH_ADD_KEYPTR(hh, table, entry->name.text, entry->name.length, entry);
}

void cp_names_filter(const char *patterns)
{
	filter = patterns;
}

void cp_names_after_fork(void)
{
	if (cp_lock_was_torn(&lock))
		build_again();
	for (struct entry *entry = newest; entry; entry = entry->older)
		entry->name.record_offset = 0;
}
