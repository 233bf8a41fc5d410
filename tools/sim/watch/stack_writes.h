/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions that give the stack pointer a value that is not the one it had, plus or
 * minus a constant: a frame that is left, a jump to an outer function, a change of
 * stacks.
 */
#ifndef CACHEPEEK_SIM_STACK_WRITES_H
#define CACHEPEEK_SIM_STACK_WRITES_H

#include "block.h"

/* Where the value is from.  Of the frame pointer's only those are looked at that are
 * below the old one or above the stack. */
#define STACK_DELAY 64

enum stack_source { STACK_FROM_FRAME, STACK_FROM_SUM, STACK_FROM_ANYWHERE };

/* Read by generated code: the highest stack pointer of the stack that the thread is on;
 * has it left it, as far as is known yet? */
struct stack_now {
	Addr top;
	ULong moves;
};

void stack_writes_begin(void);
/* Before the statement: has helper(from, to, enum stack_source) called.  from is that of
 * a sum; otherwise the last that was written to the register, up to STACK_DELAY above. */
void stack_writes_watch(const struct block *b, const IRSB *in, Int at, Int offset_sp,
	const struct stack_now *now, void *helper);

#endif
