/* SPDX-License-Identifier: MIT
 *
 * The jobs that a run directory has records of (regions/jobdir.h), and reports of
 * them.  What is of no rank, such as the processes that started a launcher, is in
 * none.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_JOBS_H
#define CACHEPEEK_OUTPUT_REPORT_JOBS_H

#include "output/report/report.h"
#include "regions/job_records.h"

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
