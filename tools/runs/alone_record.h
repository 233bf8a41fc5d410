/* SPDX-License-Identifier: MIT
 *
 * The run of a program into which nothing can be preloaded, as a run directory like any
 * other: what is to be counted, and a record of what was.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_ALONE_RECORD_H
#define CACHEPEEK_TOOLS_RUNS_ALONE_RECORD_H

#include "tools/runs/alone.h"
#include "tools/runs/launch.h"

/* Can the program be simulated?  false: why it runs uncounted. */
bool cp_alone_possible(const char *program, struct cp_why *why);

/* Runs argv on the simulated PMU, as the variables in the environment and those that are
 * added say, and writes a record, and the profile that is asked for, into the directory.
 * What cannot be as asked is said on stderr.  0, or -errno if it could not be run. */
int cp_alone_record(char **argv, char *const added[], const char *directory,
	struct cp_launch *launch);

#endif
