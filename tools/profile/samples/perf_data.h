/* SPDX-License-Identifier: MIT
 *
 * Samples that perf took: what `perf mem record`, `perf c2c record` or `perf record -d`
 * left in a file, as perf's own commands print it, becomes a profile like those of
 * samples of ours.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_SAMPLES_PERF_DATA_H
#define CACHEPEEK_TOOLS_PROFILE_SAMPLES_PERF_DATA_H

#include "tools/profile/model/profile.h"

/* For a measurement of that name.  NULL with one line in error. */
struct cp_profile *cp_perf_data_read(struct cp_arena *arena, const char *path,
	const char *measurement, char *error, size_t error_size);

#endif
