/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Notes which thread uses which bytes of which line, while several threads live
 * (--sharing): what does not depend on how they took turns.  Goes into the profile's file
 * (cp_profile_sharer) once a line is used by two threads and written by one.
 *
 * Valgrind runs threads one after the other, for long: how often a line would move is
 * worked out afterwards (--quantum=N).  Time is a thread's own data references, which
 * do not depend on the schedule either; it starts where its creator is, which has
 * waited for those that ended before if it is the only one.  Each turn is N long.  For
 * each line and thread there is a list of the turns in which the thread read or wrote it,
 * and in the end the turns are gone through in their order, each thread on a core of its
 * own.
 */
#ifndef CACHEPEEK_SIM_SHARING_H
#define CACHEPEEK_SIM_SHARING_H

#include "tool.h"

void sharing_start(void);
/* The references that come are this thread's (of the profile); -1: nobody's. */
void sharing_use(Int thread);
/* One more thread lives, one less. */
void sharing_thread_begin(ThreadId tid);
void sharing_thread_end(void);
void sharing_fork_child(void);
/* The memory there is new: earlier users shared other data. */
void sharing_renew(Addr a, SizeT size);
/* Nothing comes any more. */
void sharing_finish(void);

#endif
