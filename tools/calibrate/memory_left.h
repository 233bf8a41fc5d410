/* SPDX-License-Identifier: MIT
 *
 * How much memory this process may still take.
 */
#ifndef CACHEPEEK_TOOLS_CALIBRATE_MEMORY_LEFT_H
#define CACHEPEEK_TOOLS_CALIBRATE_MEMORY_LEFT_H

#include <stdint.h>

/* Bytes that the machine has available, and those that the control groups of the process
 * leave it: whoever takes more is killed, with no error before.  UINT64_MAX: that is not
 * known, or there is no limit. */
struct cp_memory_left {
	uint64_t machine, groups;
};

/* Room for what is read. */
struct cp_memory_text {
	char text[8192], group[1024], path[1216];
};

/* root: what is before the paths of /proc and /sys; "" but in tests. */
struct cp_memory_left cp_memory_left(struct cp_memory_text *room, const char *root);

#endif
