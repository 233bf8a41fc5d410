/* SPDX-License-Identifier: MIT
 *
 * The records of a run directory, by job and rank, as their names say (regions/jobdir.h).
 */
#ifndef CACHEPEEK_REGIONS_JOB_RECORDS_H
#define CACHEPEEK_REGIONS_JOB_RECORDS_H

#include "base/arena.h"
#include "regions/jobdir.h"

/* Finds the jobs of this scope (0: of any), by scope and number; returns how many.
 * arena->out_of_memory is set. */
size_t cp_jobs_in(struct cp_arena *arena, const char *directory, uint64_t scope,
	struct cp_job_id **ids);

/* The records of a rank (-1: of all) of a job; of no job with number 0.  The same. */
size_t cp_jobs_paths(struct cp_arena *arena, const char *directory, struct cp_job_id id,
	int rank, const char *const **paths);

/* All that are no job's: the whole directory, where it has no jobs.  The same. */
size_t cp_jobs_rest(
	struct cp_arena *arena, const char *directory, const char *const **paths);

/* The rank of such a path; -1: it is of no job. */
int cp_jobs_rank(const char *path);

#endif
