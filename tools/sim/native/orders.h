/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions that order something of the caches (model/orders.h), as the program has
 * them.  VEX makes nothing of them that tells which line they are of: a mark among its
 * statements does, from when an instruction is decoded until it is instrumented.
 */
#ifndef CACHEPEEK_SIM_NATIVE_ORDERS_H
#define CACHEPEEK_SIM_NATIVE_ORDERS_H

#include "block.h"

/* Does the instruction of these bytes give one? */
Bool orders_decode(const UChar *code, const UChar *end, enum cache_order *order);

/* Are its stores non-temporal?  Masked: MASKMOVDQU and its like. */
enum streams orders_streams(const UChar *code, const UChar *end);

/* Adds the mark, if the instruction gives an order. */
void orders_mark(IRSB *out, Addr pc);

/* The mark is a hint of VEX's kind; hints of other lengths are others'. */
enum { ORDERS_FIRST = -1000 };

static inline Bool orders_is_mark(const IRStmt *s)
{
	return s->Ist.AbiHint.len <= ORDERS_FIRST;
}

static inline enum cache_order orders_marked(const IRStmt *s)
{
	return (enum cache_order)(ORDERS_FIRST - s->Ist.AbiHint.len);
}

#endif
