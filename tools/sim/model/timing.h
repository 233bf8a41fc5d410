/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Time on a simulated core, by a model that can be computed by hand: in order, one
 * instruction a cycle, nothing looked ahead.  An instruction that references only what
 * is in L1 and its TLBs takes its cycle and no more.  Otherwise, in this order:
 *
 * 1. Its page: the instruction waits stlb cycles if a second-level TLB has it, else
 *    walk cycles.  So does a data reference.
 * 2. Its line of code: the instruction waits for as long as the level that has it takes.
 * 3. A line of data takes a fill buffer, from then until the line is there: as long as
 *    the level that has it takes.  The instruction waits while all are in use.
 * 4. Nobody waits for a store's line.  For a load's line waits the first instruction
 *    that uses what was loaded, be it the load itself; at the latest the first one
 *    after the stretch of code without a branch that the load is in.  All others go on.
 * 5. Each line (half line, if those have their dirty bits) that a reference made leave
 *    L1D modified, and each store that L1D passes on, takes an entry of the write buffer,
 *    which is emptied in order, an entry in as many cycles as the next level takes.  The
 *    instruction waits while all are in use.
 *
 * How long a level takes is counted from the look-up in L1; memory of other sockets is
 * farther.  A line that a core had modified takes as long as the machine file says of
 * those, else as the level through which it comes; on another socket, else as memory one
 * hop away.  A line is there for others as soon as it was asked for, as in the
 * caches.  What prefetchers and write buffers move is in nobody's way.
 *
 * Whatever happens on hits is nothing but instructions, so only references that the
 * filters did not admit are looked at: after each of them (batch.h) what the
 * core's counters have grown by tells what it did.
 */
#ifndef CACHEPEEK_SIM_TIMING_H
#define CACHEPEEK_SIM_TIMING_H

#include "model/batch.h"

/* A core's time; NULL: no memory.  The machine has latencies. */
struct timing *timing_new(const struct machine *m);
void timing_free(struct timing *t);

/* As the observer of batch.h. */
void timing_observe(struct core *core, const struct batch_origin *origin);

/* Rounds of an instruction that repeats itself, each of which takes a cycle beside its
 * own. */
void timing_rounds(struct core *core, uint64_t rounds);

/* After core_collect or front_collect: adds the cycles since the last time to the
 * core's counters, which are set to 0 after this. */
void timing_collect(struct core *core);

#endif
