/* SPDX-License-Identifier: MIT
 *
 * A job as bytes, to be sent to a process of the same cachepeek and the same kind
 * of machine.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_JOB_PACK_H
#define CACHEPEEK_OUTPUT_REPORT_JOB_PACK_H

#include "output/report/job.h"

/* Not yet finished; its bytes live in its arena. */
const void *cp_job_pack(struct cp_job *job, size_t *size);

/* Adds all that is in the bytes, which are not trusted.  false: they are no job
 * of this version, or something is wrong with them; then nothing was added.
 * Works in memory of its own. */
bool cp_job_unpack(struct cp_job *job, const void *bytes, size_t size);

#endif
