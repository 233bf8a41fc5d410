/* SPDX-License-Identifier: MIT
 *
 * The arena of base/arena.h with one malloc per allocation, for the sanitizer.
 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct cp_arena_block {
	struct cp_arena_block *next;
	void *memory;
};

void *cp_arena_alloc(struct cp_arena *arena, size_t size)
{
	struct cp_arena_block *block = malloc(sizeof(*block));

	if (!block)
		abort();
	block->memory = calloc(1, size ? size : 1);
	if (!block->memory)
		abort();
	block->next = arena->blocks;
	arena->blocks = block;
	return block->memory;
}

char *cp_arena_copy(struct cp_arena *arena, const char *text, size_t length)
{
	char *copy = cp_arena_alloc(arena, length + 1);

	memcpy(copy, text, length);
	return copy;
}

void cp_arena_free(struct cp_arena *arena)
{
	while (arena->blocks) {
		struct cp_arena_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block->memory);
		free(block);
	}
}

void cp_arena_reuse(struct cp_arena *arena)
{
	cp_arena_free(arena);
}
