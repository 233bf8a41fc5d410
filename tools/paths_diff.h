/* SPDX-License-Identifier: MIT
 *
 * cachepeek diff --call-paths BEFORE AFTER: what changed between the call paths of two
 * runs.
 */
#ifndef CACHEPEEK_TOOLS_PATHS_DIFF_H
#define CACHEPEEK_TOOLS_PATHS_DIFF_H

#include <stdbool.h>

#include "tools/shared/output.h"

struct cp_paths_diff {
	const char *measurement; /* NULL: that of the JSON, else dcache */
	const char *side[2];     /* run directories, or JSON of profiles */
	struct cp_output_list outputs;
	bool all; /* however small the change */
};

/* Returns the exit status, after saying what is wrong. */
int cp_paths_diff(struct cp_paths_diff *request);

#endif
