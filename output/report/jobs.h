/* SPDX-License-Identifier: MIT
 *
 * The jobs that a run directory has records of (regions/jobdir.h), and reports of
 * them.  What is of no rank, such as the processes that started a launcher, is in
 * none.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_JOBS_H
#define CACHEPEEK_OUTPUT_REPORT_JOBS_H

#include "output/report/report.h"
#include "regions/jobdir.h"

/* Those of this scope (0: of any), by scope and number; returns how many.
 * arena->out_of_memory is set. */
size_t cp_jobs_in(struct cp_arena *arena, const char *directory, uint64_t scope,
	struct cp_job_id **ids);

/* The records of a rank (-1: of all) of a job; of no job with number 0.  The same. */
size_t cp_jobs_paths(struct cp_arena *arena, const char *directory, struct cp_job_id id,
	int rank, const char *const **paths);

/* All that are no job's: the whole directory, where it has no jobs.  The same. */
size_t cp_jobs_rest(
	struct cp_arena *arena, const char *directory, const char *const **paths);

/* How far it has come. */
struct cp_job_state {
	int32_t wanted;   /* ranks; 0: not known */
	size_t recorded;  /* ranks that have records */
	size_t running;   /* of them */
	size_t reported;  /* of them, in a report that was written at the end */
	bool is_reported; /* each of them is */
};

/* A job's report from the records of all its ranks; of one that has one rank, as of
 * any run.  NULL, with one line in error, if there is none. */
const struct cp_report *cp_jobs_report(struct cp_arena *arena, const char *directory,
	struct cp_job_id id, struct cp_job_state *state, char *error, size_t error_size);

/* The records of no job, of the run whose first process was root (0: any run): NULL if
 * there is nothing, or nothing but what started the launchers of the scope's jobs. */
const struct cp_report *cp_jobs_outside(
	struct cp_arena *arena, const char *directory, uint64_t scope, int32_t root);

#endif
