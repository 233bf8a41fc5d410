/* SPDX-License-Identifier: MIT */
#include "base/search.h"
#include "tools/profile/samples/memory.h"

#include <stdlib.h>
#include <string.h>

/* Ranges that begin before an address and may reach it. */
#define MAX_OVERLAP 4096

/* Room for that many more behind the elements; the array may move. */
static void *make_room(struct cp_memory *memory, void *array, size_t n, size_t more,
	size_t each, size_t *room)
{
	void *larger;

	if (n + more <= *room)
		return array;
	*room = 2 * (n + more);
	larger = cp_arena_alloc(memory->arena, *room * each);
	if (n)
		memcpy(larger, array, n * each);
	return larger;
}

/* ---- mappings ---- */

/* The first that ends behind the address. */
static size_t first_mapped(const struct cp_memory *memory, uint64_t address)
{
	return CP_IN_FRONT(memory->nmapped, i, memory->mapped[i].end <= address);
}

/* The rest, behind the new range, of the last one that it overlaps. */
static bool rest_behind(const struct cp_mapped *old, uint64_t end, struct cp_mapped *rest)
{
	if (old->end <= end)
		return false;
	*rest = *old;
	rest->offset += end - (old->start < end ? old->start : end);
	rest->start = end;
	return true;
}

void cp_memory_map(struct cp_memory *memory, struct cp_mapped mapped)
{
	size_t first = first_mapped(memory, mapped.start), last = first, n = 0, behind;
	struct cp_mapped parts[3];

	if (mapped.end <= mapped.start)
		return;
	while (last < memory->nmapped && memory->mapped[last].start < mapped.end)
		last++;
	if (last > first && memory->mapped[first].start < mapped.start) {
		parts[n] = memory->mapped[first];
		parts[n++].end = mapped.start;
	}
	parts[n++] = mapped;
	if (last > first && rest_behind(&memory->mapped[last - 1], mapped.end, &parts[n]))
		n++;
	memory->mapped = make_room(memory, memory->mapped, memory->nmapped, n,
		sizeof(mapped), &memory->room_mapped);
	behind = memory->nmapped - last;
	memmove(&memory->mapped[first + n], &memory->mapped[last],
		behind * sizeof(mapped));
	memcpy(&memory->mapped[first], parts, n * sizeof(mapped));
	memory->nmapped = first + n + behind;
}

size_t cp_memory_find(const struct cp_memory *memory, uint64_t address)
{
	size_t i = first_mapped(memory, address);

	return i < memory->nmapped && memory->mapped[i].start <= address
		       ? i
		       : memory->nmapped;
}

const struct cp_mapped *cp_memory_base(const struct cp_memory *memory, uint64_t address)
{
	size_t i = cp_memory_find(memory, address);
	const char *path;

	if (i == memory->nmapped)
		return NULL;
	if (!*memory->mapped[i].path) {
		if (i == 0 || memory->mapped[i - 1].end != memory->mapped[i].start)
			return NULL;
		i--;
	}
	path = memory->mapped[i].path;
	if (*path != '/')
		return NULL;
	while (i > 0 && memory->mapped[i].offset &&
		strcmp(memory->mapped[i - 1].path, path) == 0)
		i--;
	return memory->mapped[i].offset ? NULL : &memory->mapped[i];
}

/* ---- blocks ---- */

/* Before it is there, a block is its own thread's only: others may ask for one at the
 * same time, which comes to be at the same place, while that is still another one's. */
void cp_memory_ask_block(struct cp_memory *memory, const struct cp_samples_block *block)
{
	memory->asked = make_room(memory, memory->asked, memory->nasked, 1,
		sizeof(*memory->asked), &memory->room_asked);
	memory->asked[memory->nasked++] = block;
}

static void forget_asked(struct cp_memory *memory, const struct cp_samples_block *block)
{
	for (size_t i = 0; i < memory->nasked; i++)
		if (memory->asked[i] == block) {
			memory->asked[i] = memory->asked[--memory->nasked];
			return;
		}
}

/* The first that begins behind the address. */
static size_t block_behind(const struct cp_memory *memory, uint64_t address)
{
	return CP_IN_FRONT(memory->nblocks, i, memory->blocks[i]->address <= address);
}

static bool is_inside(const struct cp_samples_block *block, uint64_t address)
{
	return address >= block->address && address - block->address < block->size;
}

void cp_memory_add_block(struct cp_memory *memory, const struct cp_samples_block *block)
{
	size_t first = block_behind(memory, block->address),
	       end = block_behind(memory, block->address + block->size - 1);

	forget_asked(memory, block);
	/* Blocks that it overlaps have gone. */
	if (first && is_inside(memory->blocks[first - 1], block->address))
		first--;
	memory->blocks = make_room(memory, memory->blocks, memory->nblocks, 1,
		sizeof(*memory->blocks), &memory->room_blocks);
	memmove(&memory->blocks[first + 1], &memory->blocks[end],
		(memory->nblocks - end) * sizeof(*memory->blocks));
	memory->blocks[first] = block;
	memory->nblocks = memory->nblocks - end + first + 1;
}

static bool is_in_front(const struct cp_samples_block *block, uint64_t address)
{
	return address < block->address &&
	       block->address - address <= CP_SAMPLES_BLOCK_HEAD;
}

static bool is_there(const struct cp_samples_block *block, uint64_t time)
{
	return !block->end || time < block->end;
}

const struct cp_samples_block *cp_memory_block(
	const struct cp_memory *memory, uint64_t address, int32_t tid, uint64_t time)
{
	size_t behind = block_behind(memory, address);
	const struct cp_samples_block *block;

	for (size_t i = 0; i < memory->nasked; i++) {
		block = memory->asked[i];
		if (block->tid == tid &&
			(is_inside(block, address) || is_in_front(block, address)))
			return block;
	}
	block = behind ? memory->blocks[behind - 1] : NULL;
	if (block && is_inside(block, address) && is_there(block, time))
		return block;
	block = behind < memory->nblocks ? memory->blocks[behind] : NULL;
	return block && is_in_front(block, address) && is_there(block, time) ? block
									     : NULL;
}

/* ---- ranges ---- */

static int by_low(const void *a, const void *b)
{
	const struct cp_samples_range *x = *(const struct cp_samples_range *const *)a,
				      *y = *(const struct cp_samples_range *const *)b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

void cp_memory_sort_ranges(struct cp_memory *memory)
{
	if (memory->nranges)
		qsort(memory->ranges, memory->nranges, sizeof(*memory->ranges), by_low);
}

/* Is a better than b for what happened at that time? */
static bool is_better(
	const struct cp_samples_range *a, const struct cp_samples_range *b, uint64_t time)
{
	if (!b || (a->start <= time) != (b->start <= time))
		return !b || a->start <= time;
	return a->start <= time ? a->start > b->start : a->start < b->start;
}

const struct cp_samples_range *cp_memory_range(const struct cp_memory *memory,
	enum cp_range_kind kind, uint64_t address, uint64_t time, const uint64_t *ends,
	size_t nthreads)
{
	const struct cp_samples_range *best = NULL;
	size_t low = CP_IN_FRONT(memory->nranges, i, memory->ranges[i]->low <= address);

	for (size_t tries = 0; low-- > 0 && tries < MAX_OVERLAP; tries++) {
		const struct cp_samples_range *range = memory->ranges[low];

		if (range->kind != kind || address >= range->high ||
			range->thread >= nthreads ||
			(ends[range->thread] && ends[range->thread] < time))
			continue;
		if (is_better(range, best, time))
			best = range;
	}
	return best;
}
