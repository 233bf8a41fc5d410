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

static struct cp_arena_block *add_block(struct cp_arena *arena, size_t need)
{
	size_t header = round_up(sizeof(struct cp_arena_block), ALIGN);
	size_t size =
		need > BLOCK_SIZE - header ? round_up(need + header, 4096) : BLOCK_SIZE;
	struct cp_arena_block *block = arena->spare;

	if (block && size == BLOCK_SIZE)
		arena->spare = block->next;
	else
		block = cp_map(size, -1, 0);
	if (!block)
		return NULL;
	block->next = arena->blocks;
	block->size = size;
	block->used = header;
	arena->blocks = block;
	return block;
}

void *cp_arena_alloc(struct cp_arena *arena, size_t size)
{
	struct cp_arena_block *block = arena->blocks;
	void *memory = NULL;

	if (size < SIZE_MAX / 2) {
		size = round_up(size ? size : 1, ALIGN);
		if (!block || block->size - block->used < size)
			block = add_block(arena, size);
		if (block) {
			memory = (char *)block + block->used;
			block->used += size;
		}
	}
	if (!memory && arena->out_of_memory)
		longjmp(*arena->out_of_memory, 1);
	return memory;
}

char *cp_arena_copy(struct cp_arena *arena, const char *text, size_t length)
{
	char *copy = cp_arena_alloc(arena, length + 1);

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

static void unmap(struct cp_arena_block *block)
{
	while (block) {
		struct cp_arena_block *next = block->next;

		munmap(block, block->size);
		block = next;
	}
}

void cp_arena_reuse(struct cp_arena *arena)
{
	struct cp_arena_block *block = arena->blocks;

	arena->blocks = NULL;
	while (block) {
		struct cp_arena_block *next = block->next;

		if (block->size == BLOCK_SIZE) {
			memset(block, 0, block->used);
			block->size = BLOCK_SIZE;
			block->next = arena->spare;
			arena->spare = block;
		} else {
			munmap(block, block->size);
		}
		block = next;
	}
}

void cp_arena_free(struct cp_arena *arena)
{
	unmap(arena->blocks);
	unmap(arena->spare);
	arena->blocks = arena->spare = NULL;
}
