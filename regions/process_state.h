/* SPDX-License-Identifier: MIT
 *
 * The state of a process that a record tells of.
 */
#ifndef CACHEPEEK_REGIONS_PROCESS_STATE_H
#define CACHEPEEK_REGIONS_PROCESS_STATE_H

#include <stdint.h>

/* How a process that never said goodbye ended: "running", or "unknown" if it is gone or
 * on another host: a signal may have ended it, or a system call of its own.  realtime_ns:
 * when it began. */
const char *cp_process_state(int32_t pid, uint64_t realtime_ns, const char *host);

#endif
