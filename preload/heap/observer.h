/* SPDX-License-Identifier: MIT
 *
 * The interface between the program's malloc and its relatives (heap.so, which is
 * preloaded for a sampled profile) and the library that notes their blocks.
 */
#ifndef CACHEPEEK_PRELOAD_HEAP_OBSERVER_H
#define CACHEPEEK_PRELOAD_HEAP_OBSERVER_H

#include <stddef.h>
#include <stdint.h>

struct cp_heap_observer {
	/* Before memory is asked for: what allocated takes as began. */
	uint64_t (*now)(void);
	/* site: where the program's call returns to. */
	void (*allocated)(void *block, size_t size, const void *site, uint64_t began);
	/* Before the block is given back. */
	void (*freed)(const void *block);
};

/* heap.so has this variable, and the library sets it. */
#define CP_HEAP_OBSERVER "cachepeek_heap_observer"

#endif
