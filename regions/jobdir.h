/* SPDX-License-Identifier: MIT
 *
 * Jobs in a run directory: which records are of which rank of which job, by their
 * names, so that a rank need not open those of all others.
 *
 *     PID-IMAGE.SCOPE-NUMBER.rRANK.rec   a record of this rank, or of its children
 *     SCOPE-pPASS-NUMBER.job             symlink to the job's key: it has the number
 *     SCOPE-NUMBER.lock                  held by whoever writes the job's report
 *     KEY-rRANK-NUMBER.job               a spawned rank is of the job of that number
 *     SCOPE-NUMBER-LINE.told             a line that was said
 *     PID-SCOPE.above                    this process is above a launcher of jobs
 *
 * SCOPE is what started all jobs of a run: a command line, seen from outside.
 */
#ifndef CACHEPEEK_REGIONS_JOBDIR_H
#define CACHEPEEK_REGIONS_JOBDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cp_job_id {
	uint64_t scope;
	unsigned number; /* from 1 on; 0: no job */
};

#define CP_JOB_ENDING 64

/* The key of what is in no job, where there are jobs. */
#define CP_JOB_OUTSIDE UINT64_MAX

/* The ending of the names of a rank's records, without the point in front. */
void cp_job_ending(struct cp_job_id id, int rank, char to[CP_JOB_ENDING]);

/* False: the name is of no job's record. */
bool cp_job_parse(const char *name, struct cp_job_id *id, int *rank);

/* The number of the job with this key, given to it if it has none; 0: there is no
 * place for that. */
unsigned cp_job_claim(const char *directory, uint64_t scope, unsigned pass, uint64_t key);

/* The key of the job of a spawned rank: all that are spawned by one launcher have the
 * same key, and those that come later with the same rank are of the next job. */
uint64_t cp_job_spawned(const char *directory, uint64_t key, int rank);

/* A process that is there only to start the launcher is in no report. */
void cp_job_set_above(const char *directory, uint64_t scope, pid_t pid);
bool cp_job_is_above(const char *directory, uint64_t scope, pid_t pid);

/* True for one caller of all; for each kind of line that is to be said once. */
enum cp_job_line { CP_JOB_FAILED, CP_JOB_NUMBERED };
bool cp_job_tells(const char *directory, struct cp_job_id id, enum cp_job_line line);

bool cp_job_is_told(const char *directory, struct cp_job_id id, enum cp_job_line line);

/* Waits for the lock, not forever.  A descriptor for cp_job_unlock; -1: it was not to
 * be had, go on all the same. */
int cp_job_lock(const char *directory, struct cp_job_id id);
void cp_job_unlock(int lock);

#endif
