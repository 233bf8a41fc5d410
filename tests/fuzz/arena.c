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

void *cp_store_take(struct cp_store *store, size_t size)
{
	struct cp_arena_block *block = malloc(sizeof(*block));

	if (!block)
		abort();
	block->memory = calloc(1, size ? size : 1);
	if (!block->memory)
		abort();
	block->next = store->blocks;
	store->blocks = block;
	return block->memory;
}

char *cp_store_copy(struct cp_store *store, const char *text, size_t length)
{
	return memcpy(cp_store_take(store, length + 1), text, length);
}

void *cp_arena_alloc(struct cp_arena *arena, size_t size)
{
	if (!arena->out_of_memory && !arena->give_up)
		abort();
	return cp_store_take(&arena->store, size);
}

char *cp_arena_copy(struct cp_arena *arena, const char *text, size_t length)
{
	return cp_store_copy(&arena->store, text, length);
}

void cp_store_free(struct cp_store *store)
{
	while (store->blocks) {
		struct cp_arena_block *block = store->blocks;

		store->blocks = block->next;
		free(block->memory);
		free(block);
	}
}

void cp_arena_free(struct cp_arena *arena)
{
	cp_store_free(&arena->store);
}

void cp_arena_reuse(struct cp_arena *arena)
{
	cp_arena_free(arena);
}
