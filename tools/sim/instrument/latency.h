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

/* An instruction that repeats itself (rep movs) takes so long beside its rounds, and
 * nothing else is issued meanwhile: by the clock of Golden Cove rep stosq of 8, 25 and
 * 100 words takes 32.8, 32.8 and 49.7 cycles, and 33 more than alone with 300 other
 * instructions. */
#define CYCLES_OF_ROUNDS 30
/* And each, of a block or of an element, if its references take no longer, in ticks of
 * ahead.h. */
#define TICKS_OF_ROUND (AHEAD_TICKS * 3 / 2)

/* From general registers to those of vectors, and back (Golden Cove, measured). */
#define CROSSING 2
#define MERGING 1 /* a byte or two with the rest of a register */

/* The ports that compute, a bit each, and those that an operation may go to: as Golden
 * Cove's are, measured, and most of Intel's; of all others that is assumed. */
#define PORTS 5
#define PORT_SETS (1 << PORTS)
enum { P0 = 1, P1 = 2, P5 = 4, P6 = 8, P10 = 16, OF_VECTORS = P0 | P1 | P5, ANY = 31 };

/* By the ports that they may go to: how many instructions have been computed.  Of the
 * last one: the sets that its pieces for vectors take, a bit each, and the one that those
 * for integers take. */
struct units {
	UInt used[PORT_SETS], instruction, vectors;
	UChar integers;
};

/* That instruction computes that, a value of the type: it has a set of ports once,
 * however many pieces it is of. */
void units_use(struct units *units, UInt instruction, const IRExpr *e, IRType type);

/* The integers that it has computed so far are where it loads from, or stores to. */
void units_address(struct units *units, UInt instruction);

/* It takes a value from general registers to those of vectors, or back. */
void units_cross(struct units *units, UInt instruction, Bool to_vectors);

/* How long it keeps a divider busy; 0: it does not (Golden Cove, measured; assumed of
 * roots and of vectors, of 256 bits twice as long as of 128). */
UInt cycles_of_divider(const IRExpr *e);

/* The least that they take, in hundredths of cycles: any set of ports has all to compute
 * that may go to no other port. */
ULong cycles_of_units(const struct units *units);

/* Integers are compared, and flags made, by an instruction of its own, even where VEX has
 * that in the one which asks: cmp and cmov. */
Bool is_comparison(const IRExpr *e);

/* Ticks that so many instructions take at the least, as all that wait for operands have
 * entries of the scheduler: these are ready that many ticks after the first is issued,
 * in sum. */
ULong ticks_by_scheduler(UInt instructions, ULong ready);

/* The time of both together, as those that wait for a port have an entry for longer: by
 * the clock of Golden Cove as the sides of a right angle do (16 additions and
 * multiplications of floats of which each needs the one before: 5.7 by ports, 5.3 by the
 * scheduler, 7.9 cycles). */
ULong ticks_together(ULong ports, ULong scheduler);

/* How many instructions may be issued behind the end of a chain, if so many of some of
 * them wait for it: until those have filled the scheduler, or all the window. */
UInt chain_reach(const struct ooo *of, UInt instructions, UInt waiters);

#endif
