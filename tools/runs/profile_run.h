/* SPDX-License-Identifier: MIT
 *
 * Where the commands that show profiles have them from: a run that they make, or
 * one that was kept.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_PROFILE_RUN_H
#define CACHEPEEK_TOOLS_RUNS_PROFILE_RUN_H

#include <stdbool.h>

#include "base/out.h"
#include "base/text/table.h"

struct cp_profile_source {
	const char *name;                /* of the measurement */
	const char *machine, *directory; /* NULL: as set elsewhere */
	const char *engine;              /* NULL: the simulated PMU */
	bool call_paths, line_use;       /* of the run that is made */
	const char *reproducible;        /* the same; NULL: as set elsewhere */
	bool debuginfod;                 /* libdw may ask servers */
};

/* Has the profile in a directory (NULL: elsewhere) written, with memory that is there
 * only meanwhile.  Returns the exit status. */
typedef int cp_profile_write(
	struct cp_arena *arena, const char *directory, const void *context);
int cp_profile_show_with(cp_profile_write *write, const char *directory,
	const void *context, bool debuginfod);

/* Runs the program on the simulated PMU, and has its profile written; without one
 * (argv[0] is NULL) that of the run in the directory, or of the last that was kept.
 * Returns the exit status, the program's if there is one. */
int cp_profile_of(const struct cp_profile_source *from, char **argv,
	cp_profile_write *write, const void *context);

#endif
