/* SPDX-License-Identifier: MIT
 *
 * FNV-1a, whose bits are then mixed: a table may take the low ones, and hashes may be
 * added up in any order.
 */
#ifndef CACHEPEEK_BASE_HASH_H
#define CACHEPEEK_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* seed: 0, or the hash of what stands in front. */
static inline uint64_t cp_hash(uint64_t seed, const void *memory, size_t length)
{
	const unsigned char *byte = memory;
	uint64_t hash = 0xcbf29ce484222325u ^ seed;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3u;
	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

/* With its end, so that "ab" and "c" differ from "a" and "bc". */
static inline uint64_t cp_hash_text(uint64_t seed, const char *text)
{
	return cp_hash(seed, text, strlen(text) + 1);
}

#endif
