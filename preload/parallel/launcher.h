/* SPDX-License-Identifier: MIT
 *
 * A launcher of jobs (mpirun), or one of its helpers: it is not counted.  Of a job of
 * which every rank was killed it says where the records are, since no rank could: MPICH's
 * launcher kills all that are left when one is lost.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_LAUNCHER_H
#define CACHEPEEK_PRELOAD_PARALLEL_LAUNCHER_H

#include <stdbool.h>

/* Is this image one, which is there only to start others?  It is watched, then. */
bool cp_launcher_is_here(void);

#endif
