/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Time on a simulated core that executes out of order, to the first order: instructions
 * are issued as if nothing missed, and what misses brings is late for three who wait.
 *
 * 1. An instruction is issued as many cycles after the first one as there are
 *    instructions in between, divided by the width, and as ports for loads and stores
 *    take longer than that.  To that come the delays so far.
 * 2. A load that misses starts when it is issued and its address is ready, and there is
 *    room: in each 64 cycles, fill buffers give 64 times their number of cycles, a level
 *    64 cycles of lines, and walkers 64 times their number.  Its value is ready as much
 *    later as the level and the translation take; a value made of others when all are.
 *    Loads of lines that come take their ports twice (ahead_internal.h), and a walk takes
 *    longer if what it loads has left L1D (lines/walked.h).
 * 3. Retirement is in order: the instruction that is a window behind a load is issued
 *    when the load, and each before it, has its value.  So it is behind a chain: what a
 *    register of a superblock needs of itself, at the latencies of hits, if that takes
 *    longer than the superblock's instructions.  It goes on from where the register's
 *    chain has got to, until the register gets something else.  Loads and branches that
 *    hang on it wait for it, too.  And so is one for which the scheduler has no entry:
 * those that compute something of what is late have theirs until that is there
 * (lines/held.h).
 * 4. A mispredicted branch is known when what it compares is ready, and no earlier than
 *    that takes if nothing is late; the next instruction is issued a penalty later.
 * 5. A line that a store misses takes the same room.  Only stores that miss hold an entry
 *    of the store buffer, until they, and each before them, have their lines; one that
 *    finds all entries taken waits for the first to leave.
 * 6. Code that misses is waited for at once, but for what the second level takes at the
 *    most and has been since a branch went otherwise than foreseen: so much earlier it is
 *    asked for.
 *
 * Delays are whole cycles, and each is of one kind: what was waited for at its end; of a
 * value, that is its line until that came, and then what operations make of it.
 * Without misses there is nothing but what instructions and branches take.  Values are
 * followed through registers, and only while any is late.
 */
#ifndef CACHEPEEK_SIM_AHEAD_H
#define CACHEPEEK_SIM_AHEAD_H

#include "model/batch.h"
#include "model/flow.h"

/* Parts of a cycle in which instructions and chains are counted: of common widths each
 * instruction takes a whole number of them. */
#define AHEAD_TICKS 24

#define AHEAD_STEPS 128 /* that are noted until somebody looks at them */

/* A core's time; NULL: no memory.  The machine has latencies and a window. */
struct ahead *ahead_new(struct core *core, const struct machine *m);
void ahead_free(struct ahead *a);

/* Shares what the cores of a machine know together; -1: no memory. */
int ahead_share(struct uncore *u, const struct machine *m);
void ahead_unshare(struct uncore *u);

/* As the observer of batch.h. */
void ahead_observe(struct core *core, const struct batch_origin *origin);

/* Like timing_collect. */
void ahead_collect(struct core *core);

/* The core's counts have been collected: what follows is of that region, which nobody
 * else has now; NULL: of none (units/learnt.h). */
struct learnt;
void ahead_region(struct core *core, struct learnt *region);

/* Some machine executes out of order: told before any code is instrumented. */
void ahead_want(uint32_t wanted);
uint32_t ahead_wanted(void);

/* A batch begins, with places there. */
void ahead_begin(struct core *core, const struct batch *b, uint64_t line);

/* All batches that have begun are looked at; time does that itself. */
void ahead_follow(struct core *core);

/* The same where there is no room for more, or none is wanted. */
void ahead_step(struct core *core);

#endif
