/* SPDX-License-Identifier: MIT
 *
 * Reads what the kernel says of its PMUs in /sys/bus/event_source/devices.
 */
#ifndef CACHEPEEK_BASE_ENGINE_SYSFS_H
#define CACHEPEEK_BASE_ENGINE_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef CP_SYSFS_DEVICES /* tests have a tree of their own */
#define CP_SYSFS_DEVICES "/sys/bus/event_source/devices"
#endif

#define CP_SYSFS_NAME 64

/* A PMU of the kernel's. */
struct cp_sysfs_pmu {
	char name[CP_SYSFS_NAME];
	uint32_t type; /* of perf_event_attr */
	bool socket;   /* counts all that some CPUs do, not one thread */
};

/* Finds PMUs whose names match pattern (*, ?, [a-z]), by name; returns how many there
 * are, also beyond max. */
unsigned cp_sysfs_pmus(const char *pattern, struct cp_sysfs_pmu pmus[], unsigned max);

/* The PMU of that type, if it counts sockets. */
bool cp_sysfs_socket_pmu(uint32_t type, struct cp_sysfs_pmu *pmu);

/* The CPUs that stand for the sockets, one each: how many there are, also beyond
 * max. */
unsigned cp_sysfs_cpus(const struct cp_sysfs_pmu *pmu, int cpus[], unsigned max);

/* Finds the PMUs of cores: several where there are several kinds of core. */
unsigned cp_sysfs_core_pmus(struct cp_sysfs_pmu pmus[], unsigned max);

/* The directory of the first core PMU; false where there is none. */
bool cp_sysfs_core_pmu(char *path, size_t size);

enum cp_listed {
	CP_LISTED,
	CP_NOT_LISTED,
	CP_LIST_SILENT, /* the kernel does not list events of this kind */
};

/* Is the raw event among those that the PMU itself says it has? */
enum cp_listed cp_sysfs_lists(uint64_t config);

#endif
