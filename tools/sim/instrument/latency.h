/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How long operations take, in cycles: as on most cores of the last ten years, but for
 * additions and multiplications of floats, which a machine file may say.
 */
#ifndef CACHEPEEK_SIM_LATENCY_H
#define CACHEPEEK_SIM_LATENCY_H

#include "model/model.h"
#include "tool.h"

#define LATENCY_OF_HELPER 10 /* instructions that the core emulates in C */

/* The latency of an expression that computes; 0: it only moves. */
UInt latency_of(const IRExpr *e, const struct ooo *of);

/* How much longer an addition of floats takes of a value that none made: cores that add
 * in two cycles (Golden Cove, measured) have its own results one earlier than others. */
UInt latency_beside_adder(const IRExpr *e, const struct ooo *of);

Bool adds_floats(const IRExpr *e);
Bool only_moves(const IRExpr *e);

/* Zeros in front of a byte or two: which loads put there themselves. */
Bool widens(const IRExpr *e);

/* A register times a power of two, and a sum: both in one instruction are a lea, which
 * takes a cycle more (Golden Cove, measured; assumed of all others of x86-64). */
Bool scales(const IRExpr *e);
Bool is_sum(const IRExpr *e);
#if defined(VGA_amd64)
#define SCALED_SUM 2
#else
#define SCALED_SUM 1
#endif

/* What an instruction that repeats itself (rep movs) takes beside its rounds, in which
 * nothing else is issued: by the clock of Golden Cove rep stosq of 8, 25 and 100 words
 * takes 32.8, 32.8 and 49.7 cycles, and 33 more than alone with 300 other instructions.
 */
#define CYCLES_OF_ROUNDS 30

/* From general registers to those of vectors, and back (Golden Cove, measured). */
#define CROSSING 2
#define MERGING 1 /* a byte or two with the rest of a register */

/* The units that there are fewer of than the core is wide: two that add floats, two that
 * multiply, two that shuffle, two that compare, three of all that compute with vectors;
 * and one that multiplies integers: as Golden Cove's are, measured, and most of Intel's
 * (AMD's have four of all). */
enum unit {
	UNIT_VECTOR,
	UNIT_ADD,
	UNIT_MULTIPLY,
	UNIT_SHUFFLE,
	UNIT_COMPARE,
	UNIT_INTEGERS,
	NUNITS
};

/* Three hundredths of cycles that each is used, and a bit for each that the last
 * instruction uses. */
struct units {
	UInt used[NUNITS], instruction, uses;
};

/* That instruction computes that, a value of the type: it has a unit once, however many
 * pieces it is of. */
void units_use(struct units *units, UInt instruction, const IRExpr *e, IRType type);

/* How long it keeps a divider busy; 0: it does not (Golden Cove, measured; assumed of
 * roots and of vectors, of 256 bits twice as long as of 128). */
UInt cycles_of_divider(const IRExpr *e);

/* What they take at the least, in hundredths of cycles. */
ULong cycles_of_units(const struct units *units);

/* Integers are compared, and flags made, by an instruction of its own, even where VEX has
 * that in the one which asks: cmp and cmov. */
Bool is_comparison(const IRExpr *e);

/* Ticks that so many instructions take at the least, as all that wait for operands have
 * entries of the scheduler: these are ready that many ticks after the first is issued,
 * in sum. */
ULong ticks_by_scheduler(UInt instructions, ULong ready);

/* How many instructions may be issued behind the end of a chain, if so many of some of
 * them wait for it: until those have filled the scheduler, or all the window. */
UInt chain_reach(const struct ooo *of, UInt instructions, UInt waiters);

#endif
