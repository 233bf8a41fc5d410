/* SPDX-License-Identifier: MIT
 *
 * A job of which every rank was killed: none of them could say where its records are.
 * MPICH's launcher kills all that are left when one is lost.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_LOST_JOB_H
#define CACHEPEEK_PRELOAD_PARALLEL_LOST_JOB_H

/* In a launcher, which is not counted: says so when it fails and nobody else has. */
void cp_lost_job_watch(void);

#endif
