/* SPDX-License-Identifier: MIT
 *
 * The run directory: where the records of one process tree are, mode 0700.
 */
#ifndef CACHEPEEK_REGIONS_RUNDIR_H
#define CACHEPEEK_REGIONS_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CP_RUNDIR_SIZE 512
/* How many runs stay in the base directory, for `cachepeek report` and diff, and among
 * temporary files. */
#define CP_KEPT_RUNS 20u

/* Looks up an environment variable: the library and the command have
 * different means. */
typedef const char *cp_lookup(const char *name);

/*
 * The directory that holds the user's runs: $XDG_CACHE_HOME/cachepeek or
 * $HOME/.cache/cachepeek.  Its entry "last" is a symlink to the newest run.
 * Returns false if there is neither variable.
 */
bool cp_run_base(cp_lookup *get, char *to, size_t size);

/*
 * Makes a new run directory: at `wanted` if not NULL (created with its parents
 * if need be, taken as it is otherwise), else in the base directory, else,
 * with an unpredictable name, in $TMPDIR, /tmp or /dev/shm.  Old runs there
 * are removed.  *made tells whether it was created, so that it
 * may be removed after the report.  0, or -errno of the last thing tried, with
 * the path that failed in `to`.
 */
int cp_run_make(cp_lookup *get, const char *wanted, char *to, size_t size);

/* Did cp_run_make make this one among temporary files, where there was none of the user's
 * before? */
bool cp_run_is_first_temporary(const char *path);

/* The same directory for all that ask with this number, at the same time or later;
 * where the user's runs are, or among temporary files. */
int cp_run_share(cp_lookup *get, uint64_t scope, char *to, size_t size);

/* The same, if somebody has asked before: nothing is made. */
bool cp_run_find_shared(cp_lookup *get, uint64_t scope, char *to, size_t size);

/* After the report: removes a directory that cp_run_make made in $TMPDIR, /tmp or
 * /dev/shm, unless another process still records there.  Others stay. */
void cp_run_remove_temporary(const char *path);

/* Removes all runs of the base directory in which no process lives: how many. */
unsigned cp_run_forget(cp_lookup *get);

/* Removes a run directory with the records in it, nothing else. */
void cp_run_remove(const char *path);

#endif
