/* SPDX-License-Identifier: MIT
 *
 * To which run this process belongs, and to which rank of which job: what its
 * environment says, and what its children's will.
 */
#ifndef CACHEPEEK_PRELOAD_RUN_H
#define CACHEPEEK_PRELOAD_RUN_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/engine/engine.h"
#include "regions/rank.h"
#include "preload/runtime.h"
#include "regions/jobdir.h"
#include "regions/rundir.h"

struct cp_run {
	const struct cp_engine *engine; /* that the root has chosen */
	char why[2 * CP_WHY_SIZE];      /* it has */
	pid_t root_pid;
	bool launched; /* the `cachepeek` command is our parent, and reports */
	bool gathered; /* so it does of all ranks, which do not meet for that */
	/* A rank is the root of its own processes, also where the launcher belongs to a
	 * run: they share its directory. */
	struct cp_rank rank;
	struct cp_job_id job; /* number 0: no rank's; the scope is known all the same */
	bool aborted;         /* by MPI_Abort */
	char directory[CP_RUNDIR_SIZE];
	struct stat made; /* the directory, when counting began; st_ino 0: not known */
	bool shared;      /* the directory: others than our children write there, too */
};

extern struct cp_run cp_run;

/* The first process of the run, or of its rank, which decides and reports. */
static inline bool cp_is_root(void)
{
	return cp_runtime.pid == cp_run.root_pid;
}

/* True: an earlier image, or a parent, has decided for us.  A rank that no process of
 * that run has been so far joins it as the root of its own. */
bool cp_run_inherit(void);

/* In a root: the run's directory, and the number of its job.  0 or -errno. */
int cp_run_found(void);

/* The entries of the environment that children, and our own next image, inherit. */
char *const *cp_run_entries(void);

#endif
