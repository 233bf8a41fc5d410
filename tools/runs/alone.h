/* SPDX-License-Identifier: MIT
 *
 * Programs into which nothing can be preloaded, under the simulated PMU alone.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_ALONE_H
#define CACHEPEEK_TOOLS_RUNS_ALONE_H

#include <stdbool.h>

#include "base/counters/sample.h"
#include "base/counts.h"
#include "base/machine/machine.h"
#include "tools/runs/launch.h"
#include "tools/sim/request.h"

struct cp_counted_alone {
	bool seen; /* the tool has told its counts: it does not if it is killed */
	uint64_t count[CP_MAX_MACHINES][CP_SIM_NCOUNTERS];
	uint64_t parts[CP_MAX_MACHINES][CP_SAMPLE_WORDS]; /* of a sample */
};

/* Where the tool is: the directory beside the library.  0 or -errno. */
int cp_alone_directory(char *to, size_t size);

/* Where its profile goes; sharing, line_use: what else is looked at. */
struct cp_alone_profile {
	const char *directory;
	bool sharing, line_use;
};

/* sample NULL: in full; profile NULL: none. */
struct cp_alone_run {
	const struct cp_machine *machines;
	unsigned nmachines;
	const struct cp_sample_plan *sample;
	const struct cp_alone_profile *profile;
};

/* Runs argv, and counts the whole run on each machine.  0 or -errno. */
int cp_count_alone(char **argv, const struct cp_alone_run *run, struct cp_launch *launch,
	struct cp_counted_alone *counted);

#endif
