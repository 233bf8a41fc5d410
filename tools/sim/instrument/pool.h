/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A pool of what is made of code and kept for as long as the process lives: room for it,
 * and how it is found.  Most entries are small, and there is one of each superblock or
 * two.
 */
#ifndef CACHEPEEK_SIM_POOL_H
#define CACHEPEEK_SIM_POOL_H

#include "tool.h"

#define POOL_CHUNK (1u << 16)

struct pool {
	UChar *next;
	SizeT left;
};

/* At an address of the alignment, a power of two. */
static inline void *pool_take(struct pool *pool, SizeT size, SizeT alignment)
{
	SizeT gap = -(UWord)pool->next & (alignment - 1);
	UChar *at;

	if (gap + size > pool->left) {
		pool->left =
			size + alignment > POOL_CHUNK ? size + alignment : POOL_CHUNK;
		pool->next = VG_(malloc)("cachepeek.pool", pool->left);
		gap = -(UWord)pool->next & (alignment - 1);
	}
	at = pool->next + gap;
	pool->next = at + size;
	pool->left -= gap + size;
	return at;
}

static inline UInt pool_hash(const ULong *word, SizeT words)
{
	ULong hash = 0;

	for (SizeT i = 0; i < words; i++) {
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	return (UInt)hash;
}

/* Compares words; VG_(memcmp) compares them by bytes. */
static inline Bool pool_same(const ULong *a, const ULong *b, SizeT words)
{
	for (SizeT i = 0; i < words; i++)
		if (a[i] != b[i])
			return False;
	return True;
}

#endif
