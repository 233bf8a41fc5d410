/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * MXCSR: the program's flags of floating-point exceptions, rounding mode, FTZ and DAZ,
 * and which exceptions end in SIGFPE.  VEX keeps the rounding mode only, and rounds sums,
 * products, quotients and roots to nearest all the same.
 *
 * VEX's code computes with the host's own instructions, so that flags are raised in the
 * host's MXCSR; they are gathered from there, and FTZ and DAZ are set there.  Once a
 * program sets another rounding mode, or unmasks an exception, all that was translated is
 * made again, and what computes in floating point is executed natively.
 */
#ifndef CACHEPEEK_SIM_NATIVE_MXCSR_H
#define CACHEPEEK_SIM_NATIVE_MXCSR_H

#include "native/state.h"

enum {
	MXCSR_USUAL = 0x1f80,
	MXCSR_FLAGS = 0x3f,
	MXCSR_FLUSH = 0x8040, /* FTZ and DAZ */
	MXCSR_ROUNDING = 0x6000,
};

void mxcsr_start(void);

extern struct mxcsr {
	/* Where VEX's code begins, and what is loaded before: in assembly, too. */
	Addr code;
	UInt to_load;
	/* The bits in which the host's has what the program wants, in VEX's code too. */
	UInt hosted;
	Bool is_other; /* another rounding mode, or an exception, was ever asked for */
} mxcsr;

/* The side state's, as the program sees it, with what its thread has raised. */
UInt mxcsr_read(guest_state *g);
void mxcsr_write(guest_state *g, UInt value);

/* The one of the table that loads it, and the one that stores it. */
Bool mxcsr_is_load(const UChar *code, UInt length);
Bool mxcsr_is_store(const UChar *code, UInt length);

/* rounding.c: the opcode of the map 0F, or of 0F 38 or 0F 3A, in which case *map is 2 or
 * 3; NULL: of none. */
const UChar *native_opcode(const UChar *code, const UChar *end, UInt *map);
/* Does VEX execute it in another way than the program's MXCSR says?  Most are known not
 * to be by their opcode alone. */
Bool rounding_may_look_wrong(UInt map, UInt opcode);
Bool rounding_looks_wrong(const UChar *code, UInt length);

static inline Bool begins_opcode(UChar byte)
{
	return byte == 0x0f || byte == 0xc4 || byte == 0xc5 || byte == 0x66 ||
	       byte == 0xf2 || byte == 0xf3;
}

/* False: native_opcode() is NULL.  Translation asks this of each instruction. */
static inline Bool native_may_have_opcode(const UChar *code)
{
	return begins_opcode(code[0]) ||
	       ((code[0] & 0xf0) == 0x40 &&
		       (begins_opcode(code[1]) || (code[1] & 0xf0) == 0x40));
}

#endif
