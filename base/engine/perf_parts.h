/* SPDX-License-Identifier: MIT
 *
 * Shared by the parts of the perf engine: perf.c (a thread's counters), perf_probe.c
 * (what the kernel takes), perf_groups.c (what it takes together).
 */
#ifndef CACHEPEEK_BASE_ENGINE_PERF_PARTS_H
#define CACHEPEEK_BASE_ENGINE_PERF_PARTS_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "base/engine/engine.h"

/* The layout that read(2) gives for a group: all counters are opened with that format. */
struct cp_group_values {
	uint64_t nr, enabled, running;
	uint64_t value[CP_MAX_COUNTERS];
};

/* A counter for thread tid (0: the caller) in the group of leader, or, disabled,
 * one that leads (-1); one of a part of a socket.  A descriptor, or -errno. */
int cp_perf_open(const struct perf_event_attr *wanted, pid_t tid, int leader);
int cp_perf_open_part(const struct cp_part *part);

#endif
