/* SPDX-License-Identifier: MIT
 *
 * The run of a program into which nothing can be preloaded, as a run directory like any
 * other: what is to be counted, and a record of what was.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_ALONE_RECORD_H
#define CACHEPEEK_TOOLS_RUNS_ALONE_RECORD_H

#include "tools/runs/alone.h"
#include "tools/runs/launch.h"

/* NULL, false: as the environment says. */
struct cp_alone_asked {
	const char *machine, *changes, *groups, *events, *reproducible;
	const char *profile; /* a measurement's name */
	bool line_use;
};

/* Says on stderr that a setting that takes the library in the program is ignored; value
 * NULL: it is not set. */
void cp_alone_ignores(const char *name, const char *value);

/* Runs argv on the simulated PMU, and writes a record, and the profile, into the
 * directory.  What cannot be as asked is said on stderr.  0, or -errno if it could not be
 * run. */
int cp_alone_record(char **argv, const char *directory,
	const struct cp_alone_asked *asked, struct cp_launch *launch);

#endif
