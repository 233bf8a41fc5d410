/* SPDX-License-Identifier: MIT
 *
 * The kinds of core of this machine, and which PMU each of them has.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_CORES_H
#define CACHEPEEK_BASE_COUNTERS_CORES_H

#include "base/arena.h"
#include "base/engine/sysfs.h"

#define CP_MAX_CORES 4 /* kinds of */

struct cp_core {
	const char *pmu; /* of the presets; NULL: not known */
	/* The kernel's PMU; only where there are several kinds of core. */
	struct cp_sysfs_pmu device;
};

struct cp_cores {
	unsigned count;
	bool hybrid; /* several kinds, with a PMU each */
	struct cp_core core[CP_MAX_CORES];
};

void cp_cores_find(struct cp_cores *cores, struct cp_arena *arena);

#endif
