/* SPDX-License-Identifier: MIT
 *
 * Memory of the trees' hash tables.  Threads come and go, and their tables with
 * them: blocks of a few sizes, kept in a list per power of two.
 */
#include "base/arena.h"
#include "base/lock.h"
#include "regions/tree_parts.h"

#define NSIZES 32

static struct cp_store store; /* under the lock, as the lists are */
static void *unused[NSIZES];  /* linked by their first word */
static struct cp_lock lock;
CP_LOCK_LISTED(lock);

static unsigned index_of(size_t size)
{
	unsigned index = 4;

	while (((size_t)1 << index) < size)
		index++;
	return index;
}

void *cp_hash_take(size_t size)
{
	unsigned index = index_of(size);
	void *memory;

	if (index >= NSIZES)
		return NULL;
	cp_lock(&lock);
	memory = unused[index];
	if (memory)
		unused[index] = *(void **)memory;
	else
		memory = cp_store_take(&store, (size_t)1 << index);
	cp_unlock(&lock);
	return memory;
}

void cp_hash_give(void *memory, size_t size)
{
	unsigned index = index_of(size);

	if (!memory || index >= NSIZES)
		return;
	cp_lock(&lock);
	*(void **)memory = unused[index];
	unused[index] = memory;
	cp_unlock(&lock);
}
