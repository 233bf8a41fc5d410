/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The references of one instruction, as the architecture has them.
 *
 * The core emulates some instructions of x86-64 piece by piece: a fused multiply-add
 * loads lane by lane, a masked move asks each lane's mask, a bit test of a register goes
 * through the program's stack.  Pieces that follow one another in memory are one
 * reference; those that only the emulation makes are none.  On AArch64 every reference
 * is as the core has it: a pair of registers is two.
 */
#ifndef CACHEPEEK_SIM_PIECES_H
#define CACHEPEEK_SIM_PIECES_H

#include "block.h"

/* Finds the references of the instruction whose statements begin there (its IMark).
 * The roots of the block's temporaries are known. */
void pieces_begin(const struct block *b, const IRSB *in, Int imark);

/* The size of the reference that the statement, a load or store, begins; 0: it is a
 * piece of one that has begun, or of none. */
UInt pieces_size(Int at, UInt size);

/* Is the statement the last of a masked reference?  Then the lanes' guards are all
 * known, and `first` is the address of the first lane. */
#define PIECES_LANES 16
struct masked {
	IRExpr *first, *guard[PIECES_LANES];
	UInt lanes, size; /* of one lane */
};

enum masked_part { MASKED_NOT, MASKED_MIDDLE, MASKED_LAST };
enum masked_part pieces_masked(Int at, struct masked *masked);

#endif
