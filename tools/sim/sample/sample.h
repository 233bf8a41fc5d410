/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sampled simulation: the first levels are simulated in bursts only, which each thread's
 * count of its instructions places at random, one in each period; in between, what
 * sampled sets (sample/sets.h) ask for, and nothing else.
 *
 * The code of a superblock is the same for both.  It writes a log (sample/log.h) of what
 * is to be simulated: in a burst everything, in between lines of sampled sets, and while
 * a thread is paused nothing.  Instructions are counted by code in line.
 *
 * A burst begins with instructions that only make caches and TLBs warm: they are emptied,
 * since what they held since the burst before is old.  Full ways tell what a full
 * simulation has in them, and empty ones do not: a miss that fills such a one while
 * counts are taken may be none, and is counted as unsure, too, so that the interval of
 * an estimate can reach from none of those to all of them.  The beginning of a thread is
 * like nothing else in it, and is counted in full: of the first thread, which begins with
 * the dynamic linker, a period.
 */
#ifndef CACHEPEEK_SIM_SAMPLE_H
#define CACHEPEEK_SIM_SAMPLE_H

#include "block.h"
#include "model/sets.h"

static inline Bool sample_wanted(void)
{
	return tool_options.sample.sets != 0;
}

/* Into how many groups the lines of all machines and of what is swept can be divided; 0:
 * they cannot.  After the options are read. */
UInt sample_all_groups(void);
void sample_start(void);

/* Whoever wants to know: before a phase ends, and which part the next one counts for. */
void sample_tell(void (*ends)(void), void (*part)(UInt part));

/* threads.c: each thread has one.  again: of a thread that has ended, or NULL. */
struct sample_thread *sample_thread_begin(struct sample_thread *again);
void sample_core_begin(struct core *core);

/* Which part it counts for now. */
#define SAMPLE_NO_PART (~0u) /* it is not counted */
UInt sample_part(const struct sample_thread *t);

/* The running thread, on the cores of the team, from now on; NULL: what it does is not
 * counted. */
void sample_use(struct sample_thread *t);

/* Moves the counts of its core of a machine to the thread, and leaves the core with the
 * exact number of instructions; then, when all its cores are done with: they were. */
void sample_collect(struct sample_thread *t, UInt machine, struct core *core);
void sample_collected(struct sample_thread *t);
void sample_forget(struct sample_thread *t);
/* Copies the samples of the thread; of the process on a machine, threads that have ended
 * too.  to NULL: nobody wants it. */
void sample_copy(const struct sample_thread *t, ULong *to);
void sample_copy_machine(UInt machine, ULong *to);
void sample_report(const struct sample_thread *t, UInt tid);
void sample_machine_report(UInt machine);

/* For instrument.c: at the beginning of a superblock. */
void sample_watch(IRSB *out);

#endif
