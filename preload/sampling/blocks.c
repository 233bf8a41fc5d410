/* SPDX-License-Identifier: MIT
 *
 * The blocks of the program's heap that are large enough, by the call that
 * allocated them, and from when to when they were there.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#include "base/map.h"
#include "base/probe.h"
#include "preload/heap/observer.h"
#include "base/counters/clock.h"
#include "base/syscall.h"
#include "preload/runtime.h"
#include "preload/sampling/sampling_parts.h"
#include "preload/self.h"

/* address 0: nothing; item NULL: it has gone. */
struct slot {
	uint64_t address;
	struct cp_samples_block *item;
	/* A fork child states these anew: the item is in its parent's file. */
	uint64_t size, site, start;
};

#define SIEVE ((size_t)1 << 14)

/* Blocks of the heap that samples may be in. */
static struct {
	/* Blocks by address: open addressing. */
	struct {
		struct cp_lock lock; /* only the file's is taken with it held */
		size_t size, used;   /* used: also by what has gone */
		struct slot *slots;
	} table;
	/* How many there may be whose address falls there: most of what is freed was
	 * never noted, and takes no lock.  Atomic. */
	int sieve[SIEVE];
	const char *nameless; /* why blocks have no names; NULL: they have */
} blocks;
CP_LOCK_LISTED(blocks.table.lock);

static uint64_t hash_address(uint64_t address)
{
	return cp_hash_word(address) >> 20;
}

static int *sieve_of(uint64_t address)
{
	return &blocks.sieve[hash_address(address) % SIEVE];
}

static struct slot *find_slot(uint64_t address)
{
	struct slot *slots = blocks.table.slots;

	return &slots[CP_PROBE(blocks.table.size, hash_address(address), i,
		!slots[i].address || slots[i].address == address)];
}

/* Twice as large, without what has gone. */
static bool grow_table(void)
{
	struct slot *old = blocks.table.slots, *slots;
	size_t size = blocks.table.size, larger = size ? 2 * size : 1024;

	slots = cp_map(larger * sizeof(*slots), -1, 0);
	if (!slots)
		return false;
	blocks.table.slots = slots;
	blocks.table.size = larger;
	blocks.table.used = 0;
	for (size_t i = 0; i < size; i++) {
		if (!old[i].item)
			continue;
		*find_slot(old[i].address) = old[i];
		blocks.table.used++;
	}
	if (old)
		munmap(old, size * sizeof(*old));
	return true;
}

static struct cp_samples_block *note_block(
	uint64_t address, uint64_t size, uint64_t site, uint64_t start)
{
	struct cp_samples_block *item = cp_record_reserve(&cp_samples, sizeof(*item));

	if (!item)
		return NULL;
	item->address = address;
	item->size = size;
	item->site = site;
	item->start = start;
	item->there = cp_clock_of_kernel();
	item->tid = (int32_t)cp_syscall(SYS_gettid);
	cp_item_publish(item, CP_SAMPLES_BLOCK);
	return item;
}

static void end_block(struct slot *slot, uint64_t now)
{
	__atomic_store_n(&slot->item->end, now, __ATOMIC_RELAXED);
	slot->item = NULL;
	__atomic_fetch_sub(sieve_of(slot->address), 1, __ATOMIC_RELAXED);
}

static void add_locked(uint64_t address, struct cp_samples_block *item)
{
	struct slot *slot;

	if (!item || (blocks.table.used >= blocks.table.size / 2 && !grow_table()))
		return;
	slot = find_slot(address);
	/* Given back where we could not see it. */
	if (slot->address && slot->item)
		end_block(slot, item->start);
	blocks.table.used += !slot->address;
	*slot = (struct slot){address, item, item->size, item->site, item->start};
	__atomic_fetch_add(sieve_of(address), 1, __ATOMIC_RELAXED);
}

/* ---- what heap.so calls ---- */

static uint64_t read_clock(void)
{
	return cp_counting() ? cp_clock_of_kernel() : 0;
}

static void on_allocated(void *block, size_t size, const void *site, uint64_t began)
{
	uint64_t address = (uint64_t)(uintptr_t)block;

	if (size < CP_SAMPLES_BLOCK_SIZE || !began || !cp_counting() || cp_confined() ||
		!cp_enter())
		return;
	cp_lock(&blocks.table.lock);
	add_locked(address, note_block(address, size, (uint64_t)(uintptr_t)site, began));
	cp_unlock(&blocks.table.lock);
	cp_leave();
}

static void on_freed(const void *block)
{
	uint64_t address = (uint64_t)(uintptr_t)block;
	struct slot *slot;

	if (!__atomic_load_n(sieve_of(address), __ATOMIC_RELAXED) || !cp_counting() ||
		!cp_enter())
		return;
	cp_lock(&blocks.table.lock);
	slot = find_slot(address);
	if (slot->address && slot->item)
		end_block(slot, cp_clock_of_kernel());
	cp_unlock(&blocks.table.lock);
	cp_leave();
}

void cp_sampling_watch_heap(void)
{
	static const struct cp_heap_observer observer = {
		read_clock, on_allocated, on_freed};
	const struct cp_heap_observer **theirs = dlsym(RTLD_DEFAULT, CP_HEAP_OBSERVER);
	const void *allocator = dlsym(RTLD_DEFAULT, "malloc");
	Dl_info watch, called;

	blocks.nameless =
		"`cachepeek dcache|dtlb|icache` preloads what watches malloc (heap.so)";
	if (!theirs || !grow_table())
		return;
	blocks.nameless = NULL;
	/* Calls that ask libc nevertheless are seen. */
	if (allocator && dladdr(allocator, &called) && dladdr(theirs, &watch) &&
		called.dli_fbase != watch.dli_fbase)
		blocks.nameless = "the program has a malloc of its own, or a sanitizer's";
	__atomic_store_n(theirs, &observer, __ATOMIC_RELEASE);
}

const char *cp_sampling_blocks_nameless(void)
{
	return blocks.nameless;
}

/* The items of before are in the parent's file, which is mapped no more. */
void cp_sampling_note_blocks(void)
{
	for (size_t i = 0; i < blocks.table.size; i++) {
		struct slot *slot = &blocks.table.slots[i];

		if (slot->item)
			slot->item = note_block(
				slot->address, slot->size, slot->site, slot->start);
	}
}
