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

#include <stddef.h>

#include "base/escape.h"

/* Memory that may fail: each caller looks. */
struct cp_store {
	struct cp_arena_block *blocks, *spare;
};

/* size bytes, zeroed, aligned to 16; NULL: there is no memory.  Not thread-safe: one
 * owner per store. */
void *cp_store_take(struct cp_store *store, size_t size)
	__attribute__((warn_unused_result));

/* A NUL-terminated copy of the first length bytes of text, or NULL. */
char *cp_store_copy(struct cp_store *store, const char *text, size_t length)
	__attribute__((warn_unused_result));

/* Unmaps everything; the store is empty and usable again. */
void cp_store_free(struct cp_store *store);

/*
 * Memory that must not fail: where there is none it is left by the arena's exit, so
 * callers need not look.  An arena has one of the two exits while it is allocated
 * from; without, the first allocation is a trap, memory or not.
 */
struct cp_arena {
	struct cp_store store;
	struct cp_escape *out_of_memory;
	void (*give_up)(void); /* does not return */
};

/* As cp_store_take; never NULL. */
void *cp_arena_alloc(struct cp_arena *arena, size_t size)
	__attribute__((returns_nonnull, warn_unused_result));

char *cp_arena_copy(struct cp_arena *arena, const char *text, size_t length)
	__attribute__((returns_nonnull, warn_unused_result));

/* As cp_arena_free, but most of the memory stays with the arena for what comes. */
void cp_arena_reuse(struct cp_arena *arena);

/* Unmaps everything; the arena is empty and usable again. */
void cp_arena_free(struct cp_arena *arena);

#endif
