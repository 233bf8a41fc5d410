/* SPDX-License-Identifier: MIT
 *
 * Memory that is not malloc's.
 *
 * The library runs inside programs whose malloc may be theirs, may be broken,
 * or may be what called us, so nothing of ours uses it: memory comes from
 * anonymous mappings and is given back all at once.
 */
#ifndef CACHEPEEK_BASE_ARENA_H
#define CACHEPEEK_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>

struct cp_arena {
	struct cp_arena_block *blocks, *spare;
	/* Where to go when memory runs out; NULL: cp_arena_alloc returns NULL. */
	jmp_buf *out_of_memory;
};

/* size bytes, zeroed, aligned to 16.  Not thread-safe: one owner per arena. */
void *cp_arena_alloc(struct cp_arena *arena, size_t size);

/* A NUL-terminated copy of the first length bytes of text. */
char *cp_arena_copy(struct cp_arena *arena, const char *text, size_t length);

/* As cp_arena_free, but most of the memory stays with the arena for what comes. */
void cp_arena_reuse(struct cp_arena *arena);

/* Unmaps everything; the arena is empty and usable again. */
void cp_arena_free(struct cp_arena *arena);

#endif
