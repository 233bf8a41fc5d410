/* SPDX-License-Identifier: MIT
 *
 * Events of the PMUs that the kernel describes in sysfs, in perf's spelling.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_ENCODE_SYSFS_H
#define CACHEPEEK_BASE_COUNTERS_ENCODE_SYSFS_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "base/engine/sysfs.h"

/* The PMUs that sysfs:PATTERN/…/ names, by name; how many there are, also
 * beyond max. */
unsigned cp_sysfs_event_pmus(const char *event, struct cp_sysfs_pmu pmus[], unsigned max);

/*
 * sysfs:PATTERN/SETTINGS/MODES on one of them.  A setting is config, config1 or
 * config2, a field of the PMU's format directory, or the name of an event in its
 * events directory.  0 with everything but the modes, which *modes points to, or
 * -EINVAL with a phrase in *reason, which is static.
 */
int cp_sysfs_encode(const char *event, const struct cp_sysfs_pmu *pmu,
	struct perf_event_attr *attr, const char **modes, const char **reason);

#endif
