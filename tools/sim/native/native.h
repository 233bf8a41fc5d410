/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions that VEX does not decode, or executes slowly or wrongly, are executed by
 * the host, one at a time.  A superblock that ends before one goes on: instrument.c asks
 * for one after the other, and each is a call of a stub (stub.h).
 *
 * absent.c has all this for a tool that was built without the table of encodings, or for
 * another architecture.
 */
#ifndef CACHEPEEK_SIM_NATIVE_H
#define CACHEPEEK_SIM_NATIVE_H

#include "model/orders.h"
#include "tool.h"

struct native;

struct native_step {
	const struct native *instruction;
	Addr pc;
	UInt length;
	Bool may_change;  /* see changing.h */
	Bool loads_mxcsr; /* rounding_look() comes behind it */
	/* References to memory.  Sparse: a mask or a vector of indices says where.
	 * Vector: a vector is loaded. */
	Bool loads, stores, is_sparse, is_vector;
	Bool gives_order; /* and no reference */
	enum cache_order order;
	UInt size;
	IRExpr *address;
};

/* False: without the table of encodings (absent.c). */
Bool native_is_built(void);
void native_start(void);

/* Returns how many statements of the superblock are VEX's. */
Int native_split(const IRSB *in);
/* Has the superblock to end sooner?  Then it is made again, and is of no use now. */
Bool native_is_cut(void);

/* Finds the next instruction; False: it is not the host's. */
Bool native_next(IRSB *out, struct native_step *step);
/* The superblock ends where nobody can go on: at code of which VEX does not look whether
 * it is still the same. */
Bool native_refused(const IRSB *out, struct native_step *step);
/* The superblock is left here, and made again, if the code is not what it was. */
void native_compare(IRSB *out, const struct native_step *step);
void native_find_address(IRSB *out, struct native_step *step);
void native_execute(IRSB *out, const struct native_step *step);
/* The superblock is left if MXCSR has bits now that VEX's code cannot do, and that no
 * program has set before. */
void rounding_look(IRSB *out);
/* code.c: the call of the instruction's stub. */
void native_call(IRSB *out, const struct native *n, IRExpr *address);
Bool native_is_call(const IRStmt *s);
/* If the statement is that of the instruction there: what it refers to. */
Bool native_early(const IRStmt *s, Addr pc, struct native_step *step);

/* A translation begins, or begins again with fewer instructions, and ends: `extents` is
 * to have what was executed natively. */
void native_begin_translation(Bool again);
void native_end_translation(VexGuestExtents *extents);
/* The most instructions of the superblock being made, if it has to end sooner; else 0. */
UInt native_most_instructions(void);

/* frame.c: the program uses masks, or registers that only AVX-512 has. */
void native_frame_note(void);
/* Below the top of a stack, where registers are to be kept for a handler, and
 * what is written there once the core has made the handler's frame. */
Addr native_frame_room(Addr top);
void native_frame_fill(ThreadId tid, Addr room);

/* sparse.c: makes the references of a sparse one. */
void native_refer_sparse(IRSB *out, const struct native_step *step);

#endif
