/* SPDX-License-Identifier: MIT
 *
 * The report of a job whose ranks have not met in MPI_Finalize: ranks without MPI,
 * jobs that failed.  Each rank that ends writes what all have so far, so that the
 * last one's file has everything.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_REPORT_JOB_H
#define CACHEPEEK_PRELOAD_PARALLEL_REPORT_JOB_H

struct cp_arena;

/* At the end of a rank; arena->out_of_memory is set. */
void cp_report_of_job(struct cp_arena *arena);

/* The rank has asked for the end of its job: whatever its status is. */
void cp_report_aborted(void);

#endif
