/* SPDX-License-Identifier: MIT
 *
 * Tells what was at an address of a process, as time goes on.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_SAMPLES_MEMORY_H
#define CACHEPEEK_TOOLS_PROFILE_SAMPLES_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "regions/samples.h"

/* A mapping; what it is called is in struct cp_profiled_module number id. */
struct cp_mapped {
	uint64_t start, end, offset;
	const char *path; /* "": no file */
	size_t id;
	bool code, writable;
};

/* Mappings and blocks by address; of what overlaps the later one. */
struct cp_memory {
	struct cp_arena *arena;
	size_t nmapped, nblocks, nasked, nranges, room_mapped, room_blocks, room_asked;
	struct cp_mapped *mapped;
	const struct cp_samples_block **blocks; /* that were given out; none overlaps */
	const struct cp_samples_block **asked;  /* that are asked for, in no order */
	const struct cp_samples_range **ranges; /* sorted by cp_memory_sort_ranges */
};

void cp_memory_map(struct cp_memory *memory, struct cp_mapped mapped);
/* From then on a block is asked for; and from then on it is there, with or without that.
 */
void cp_memory_ask_block(struct cp_memory *memory, const struct cp_samples_block *block);
void cp_memory_add_block(struct cp_memory *memory, const struct cp_samples_block *block);
void cp_memory_sort_ranges(struct cp_memory *memory);

/* The mapping at an address, as an index; nmapped: there is none. */
size_t cp_memory_find(const struct cp_memory *memory, uint64_t address);

/* The block that an address is in when that thread touches it, or in malloc's own words
 * in front of. */
const struct cp_samples_block *cp_memory_block(
	const struct cp_memory *memory, uint64_t address, int32_t tid, uint64_t time);

/* The thread's range that an address is in; before one begins (whoever creates a
 * thread fills in its variables) the next.  ends: by thread, 0: not yet. */
const struct cp_samples_range *cp_memory_range(const struct cp_memory *memory,
	enum cp_range_kind kind, uint64_t address, uint64_t time, const uint64_t *ends,
	size_t nthreads);

/* The beginning of the mapped file that an address belongs to, its .bss included;
 * NULL: none. */
const struct cp_mapped *cp_memory_base(const struct cp_memory *memory, uint64_t address);

#endif
