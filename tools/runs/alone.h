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
#include "tools/sim/request.h"

struct cp_counted_alone {
	int status; /* of wait(2) */
	bool seen;  /* the tool has told its counts: it does not if it is killed */
	uint64_t count[CP_MAX_MACHINES][CP_SIM_NCOUNTERS];
	uint64_t parts[CP_MAX_MACHINES][CP_SAMPLE_WORDS]; /* of a sample */
};

/* Runs argv, and counts the whole run on each machine (sample NULL: in full).  0 or
 * -errno. */
int cp_count_alone(char **argv, const struct cp_machine *machines, unsigned nmachines,
	const struct cp_sample_plan *sample, struct cp_counted_alone *counted);

/* Runs argv and prints the counts on stderr.  0 and the status of wait(2), or
 * -errno. */
int cp_run_alone(char **argv, const struct cp_machine *machine, int *status);

#endif
