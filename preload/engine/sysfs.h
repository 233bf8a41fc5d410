/* SPDX-License-Identifier: MIT
 *
 * What the kernel says of its PMUs in /sys/bus/event_source/devices.
 */
#ifndef CACHEPEEK_PRELOAD_ENGINE_SYSFS_H
#define CACHEPEEK_PRELOAD_ENGINE_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
