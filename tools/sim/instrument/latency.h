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

/* Integers are compared, and flags made, by an instruction of its own, even where VEX has
 * that in the one which asks: cmp and cmov. */
Bool is_comparison(const IRExpr *e);

/* How many instructions may be issued behind the end of a chain, if so many of some of
 * them wait for it: until those have filled the scheduler, or all the window. */
UInt chain_reach(const struct ooo *of, UInt instructions, UInt waiters);

#endif
