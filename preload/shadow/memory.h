/* SPDX-License-Identifier: MIT
 *
 * How much memory a shadow may take.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_MEMORY_H
#define CACHEPEEK_PRELOAD_SHADOW_MEMORY_H

#include <stdint.h>

struct cp_memory_left {
	uint64_t bytes;
	const char *whose; /* the least is left in: the machine, or a cgroup */
};

/* What is read, as stacks of signal handlers are small. */
struct cp_memory_text {
	char text[4096], cgroup[512], path[640];
};

/* What cannot be read is no limit. */
struct cp_memory_left cp_memory_left(struct cp_memory_text *room);

/* Of this process. */
uint64_t cp_resident_pages(struct cp_memory_text *room);

#endif
