/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An instruction that the host executes, taken apart.
 */
#ifndef CACHEPEEK_SIM_NATIVE_DECODE_H
#define CACHEPEEK_SIM_NATIVE_DECODE_H

#include "native/shape.h"
#include "tool.h"

enum { NATIVE_LONGEST = 15 };

/* An operand in memory: base + index << scale + displacement; -1: none. */
struct native_address {
	Bool used, fs, gs, is_short, from_ip;
	Int base, index; /* of a gather or scatter: the index is a vector */
	UInt scale;
	Long displacement;
};

struct native {
	const struct native_shape *shape;
	enum native_form form;
	Addr pc;
	UInt length;
	UInt reg, vvvv, rm, mask; /* numbers of registers */
	struct native_address address;
	/* The same, where the operand in memory is at (%rsi), general registers are %rcx
	 * (ModRM.reg) and %rax (ModRM.rm), and vectors and masks are where they were. */
	UChar code[NATIVE_LONGEST + 1];
	UInt ncode;
};

/* Copies up to `size` bytes of code; returns how many there are before the end of what
 * may be executed. */
UInt native_fetch(Addr pc, UChar *bytes, UInt size);

/* Is the instruction there one of the table's, or XGETBV? */
Bool native_decode(Addr pc, struct native *n);
Bool native_is_xgetbv(const struct native *n);

/* No more than the length, the address and ModRM.reg of one that has a byte of opcode,
 * perhaps behind an escape, an operand in memory and nothing behind it. */
Bool native_decode_address(Addr pc, struct native *n);

/* code.c: where its operand lies, but for a vector of indices; and the call of its stub
 * in a superblock of VEX's that is still to be optimised. */
IRExpr *native_address(IRSB *out, const struct native *n);
void native_call_early(IRSB *out, const struct native *n);

#endif
