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

/* The units that there are fewer of than the core is wide: two that add floats, two that
 * multiply, three of all that compute with vectors: as Golden Cove's are, measured, and
 * most of Intel's (AMD's have four of all). */
enum unit { UNIT_ANY, UNIT_VECTOR, UNIT_ADD, UNIT_MULTIPLY, NUNITS };

/* Uses of each, and of those of the last instruction a bit each. */
struct units {
	UInt used[NUNITS], instruction, uses;
};

/* That instruction computes that, a value of the type: it has a unit once, however many
 * pieces it is of. */
void units_use(struct units *units, UInt instruction, const IRExpr *e, IRType type);

/* What they take at the least, in hundredths of cycles. */
ULong cycles_of_units(const struct units *units);

/* Integers are compared, and flags made, by an instruction of its own, even where VEX has
 * that in the one which asks: cmp and cmov. */
Bool is_comparison(const IRExpr *e);

/* How many instructions may be issued behind the end of a chain, if so many of some of
 * them wait for it: until those have filled the scheduler, or all the window. */
UInt chain_reach(const struct ooo *of, UInt instructions, UInt waiters);

#endif
