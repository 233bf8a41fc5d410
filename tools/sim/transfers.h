/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines that would go from core to core if the threads ran at the same time.
 *
 * Valgrind runs threads one after the other, for long, so that a line that two of them
 * write all the time moves once in such a turn: hitm counts that.  What it would be is
 * estimated from windows of the references, one in each period of all threads',
 * somewhere in it.  Time goes by slots of SLOT references, about what a processor
 * executes while a line comes from another core; within a slot a thread has the line or
 * has not.
 *
 * Of each line that a window has met, and of each thread, there are the slots in which
 * the thread used it and in which it wrote it, of those lately that it ran in: they fade
 * with what it runs.  If a thread uses a line again, in the part u of its slots, and
 * others that are in no system call write it in w of theirs, in all or one of them in the
 * part q, they have taken it since with the chance w / (w + u * (1 - q)): that is exact
 * of threads that use it at random, and 1 if somebody writes it in each slot.  The sum of
 * these chances, by the part of the references that windows are, is contended_transfers,
 * in the thread and the region that would wait.  The first use of a line is none of them:
 * hitm has it.  Nor is what a thread does before the others have had their first turns,
 * or behind their end: of threads that live for a few turns only, many are missing.
 */
#ifndef CACHEPEEK_SIM_TRANSFERS_H
#define CACHEPEEK_SIM_TRANSFERS_H

#include "tool.h"

struct seat;

void transfers_start(void);
/* The references that come are this thread's, and count on the cores that it has, one of
 * each machine; NULL: nobody's.  Lines are those of the first machine. */
void transfers_use(ThreadId tid, struct seat **seats);
/* It does not run until it is used again; of sched_yield it does. */
void transfers_before_call(ThreadId tid, UInt number);
/* A program has its second thread: until then nothing is looked at.  In a system call. */
void transfers_thread_comes(void);
void transfers_thread_begin(ThreadId tid);
void transfers_thread_end(ThreadId tid);
/* It is the only one. */
void transfers_fork_child(ThreadId tid);

#endif
