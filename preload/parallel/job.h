/* SPDX-License-Identifier: MIT
 *
 * One report for all ranks of a job of MPI.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_JOB_H
#define CACHEPEEK_PRELOAD_PARALLEL_JOB_H

/* Before MPI_Finalize, whose function is at `place`: rank 0 writes the report of
 * the job, and no rank one of its own.  Where that fails, each does, as it would
 * have. */
void cp_job_report(const void *place);

/* Before MPI_Abort: the last that is surely heard of this rank. */
void cp_job_aborts(int code);

#endif
