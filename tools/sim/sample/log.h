/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The log that generated code writes of what is to be simulated, while a sample is taken.
 *
 * Each word of references (words.h) is written behind the end of the log, and the end
 * then moves by what a table says for the groups of its lines: a word, or nothing.  So
 * the code has no branch and no call, and is the same in bursts and between them.  A word
 * is the address of loads, the complement of that of stores, or a line of code.  In a
 * burst each superblock begins with a call, which writes what batches it has; those
 * behind something else that is called, or where the program may have left, begin with a
 * word that says which they are.
 */
#ifndef CACHEPEEK_SIM_SAMPLE_LOG_H
#define CACHEPEEK_SIM_SAMPLE_LOG_H

#include "emit.h"
#include "block.h"
#include "model/sets.h"

/* The log is emptied after so many instructions, at the next superblock: in a burst the
 * host's caches should hold it, between bursts it has a few words only. */
#define SAMPLE_LOG_BURST 2048
#define SAMPLE_LOG_MOST 16384

#define SAMPLE_DUE_WORDS 8 /* for each group */
#define SAMPLE_DUE_ALL (SAMPLE_MOST_GROUPS * SAMPLE_DUE_WORDS)

enum sample_mode { SAMPLE_NOTHING, SAMPLE_SETS, SAMPLE_ALL };

/* The running thread's log, which generated code writes. */
extern struct sample_now {
	ULong instructions, next; /* next: sample.c is called from then on */
	ULong *end;
	/* By how many bytes the end moves: for a batch's first word, for a line of code,
	 * and for a reference, by its address, and so far from that on either side. */
	ULong header, code;
	ULong due[2 * SAMPLE_DUE_ALL];
	struct sample_sets chosen; /* not for generated code */
} sample_now;

/* Where generated code finds it: a register of each thread that it alone has. */
IRExpr *sample_now_at(IRSB *out);

/* One of its words. */
IRExpr *sample_word(IRSB *out, IRExpr *now, const void *word);

static inline IRExpr *sample_load(IRSB *out, IRExpr *now, const void *word)
{
	return emit_kept(
		out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, sample_word(out, now, word)));
}

static inline void sample_store(IRSB *out, IRExpr *now, const void *word, IRExpr *value)
{
	addStmtToIRSB(out, IRStmt_Store(Iend_LE, sample_word(out, now, word), value));
}

/* From now on; the log is empty. */
void sample_log_use(enum sample_mode mode);

/* threads.c: it runs. */
void sample_show(ThreadId tid);

/* For instrument.c: first, of each superblock.  faults: the program may go on after one.
 */
void sample_find(Bool faults);

/* The log of the superblock: does the address lie in it, or is it about it?  Is the
 * statement a call of sample_call's? */
Bool sample_is_log(const IRExpr *address);
Bool sample_is_call(const IRStmt *s);

/* A call of the function once `next` has come, which calls sample_begin, in the end; adds
 * instructions. */
void sample_call(IRSB *out, void (*function)(UWord batches));
void sample_begin(UWord batches);
void sample_count(IRSB *out, UInt instructions);

/* For settle.c: in the place of a call of the model's function, of which sample_model is
 * told.  at: of the places. */
void sample_write(IRSB *out, const struct batch *b, ULong line, const struct address *at,
	UInt places);
void sample_model(batch_function *model, UInt places, UInt lines);

/* Now simulates what was written, which has to be before the running thread's counts are
 * looked at, or another one runs. */
void sample_drain(void);

/* Caches are about to be ordered something of the line there; returns whether they are
 * not simulated now. */
Bool sample_order(Addr a);

/* A non-temporal store is coming; returns whether it is done with. */
Bool sample_stream(Addr a, UWord size);

/* One reference that is not in a batch; returns whether it is done with. */
Bool sample_direct(Addr a, UWord size, enum access kind);

#endif
