/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/map.h"

/* Large enough for the report of a small run, small enough to cost one fault a page. */
#define BLOCK_SIZE ((size_t)256 << 10)
#define ALIGN 16

struct cp_arena_block {
	struct cp_arena_block *next;
	size_t size;
	size_t used;
};

static size_t round_up(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

static struct cp_arena_block *add_block(struct cp_store *store, size_t need)
{
	size_t header = round_up(sizeof(struct cp_arena_block), ALIGN);
	size_t size =
		need > BLOCK_SIZE - header ? round_up(need + header, 4096) : BLOCK_SIZE;
	struct cp_arena_block *block = store->spare;

	if (block && size == BLOCK_SIZE)
		store->spare = block->next;
	else
		block = cp_map(size, -1, 0);
	if (!block)
		return NULL;
	block->next = store->blocks;
	block->size = size;
	block->used = header;
	store->blocks = block;
	return block;
}

void *cp_store_take(struct cp_store *store, size_t size)
{
	struct cp_arena_block *block = store->blocks;
	void *memory;

	if (size >= SIZE_MAX / 2)
		return NULL;
	size = round_up(size ? size : 1, ALIGN);
	if (!block || block->size - block->used < size)
		block = add_block(store, size);
	if (!block)
		return NULL;
	memory = (char *)block + block->used;
	block->used += size;
	return memory;
}

char *cp_store_copy(struct cp_store *store, const char *text, size_t length)
{
	char *copy = cp_store_take(store, length + 1);

	return copy ? memcpy(copy, text, length) : NULL;
}

void *cp_arena_alloc(struct cp_arena *arena, size_t size)
{
	void *memory;

	if (!arena->out_of_memory && !arena->give_up)
		__builtin_trap();
	memory = cp_store_take(&arena->store, size);
	if (memory)
		return memory;
	if (arena->out_of_memory)
		cp_escape_take(arena->out_of_memory);
	arena->give_up();
	__builtin_trap();
}

char *cp_arena_copy(struct cp_arena *arena, const char *text, size_t length)
{
	return memcpy(cp_arena_alloc(arena, length + 1), text, length);
}

static void unmap_blocks(struct cp_arena_block *block)
{
	while (block) {
		struct cp_arena_block *next = block->next;

		munmap(block, block->size);
		block = next;
	}
}

void cp_arena_reuse(struct cp_arena *arena)
{
	struct cp_arena_block *block = arena->store.blocks;

	arena->store.blocks = NULL;
	while (block) {
		struct cp_arena_block *next = block->next;

		if (block->size == BLOCK_SIZE) {
			memset(block, 0, block->used);
			block->size = BLOCK_SIZE;
			block->next = arena->store.spare;
			arena->store.spare = block;
		} else {
			munmap(block, block->size);
		}
		block = next;
	}
}

void cp_store_free(struct cp_store *store)
{
	unmap_blocks(store->blocks);
	unmap_blocks(store->spare);
	store->blocks = store->spare = NULL;
}

void cp_arena_free(struct cp_arena *arena)
{
	cp_store_free(&arena->store);
}
