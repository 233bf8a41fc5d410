/* SPDX-License-Identifier: MIT
 *
 * A process that has the report written in the place of this one, which is about to
 * forbid itself to open files, or to execute any (landlock, seccomp).  It is forked
 * before, sees the files as this one did, and waits until it is asked; or ends with this
 * one.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_REPORTER_H
#define CACHEPEEK_PRELOAD_PROGRAM_REPORTER_H

#include <stdbool.h>

/* Nothing if there is one already, or cannot be: then the report is not written. */
void cp_reporter_start(void (*report)(void *));
/* The program may open files all the same. */
void cp_reporter_stop(void);
/* It has written the report, now.  False: there is none. */
bool cp_reporter_writes(void);

/* A fork child has none. */
void cp_reporter_after_fork(void);

#endif
