/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a piece of memory begins and ends that the program has asked for at once, or has
 * given a thread as its stack.  The core's segments do not show that: neighbours that may
 * be used alike are one.
 */
#ifndef CACHEPEEK_SIM_BOUNDS_H
#define CACHEPEEK_SIM_BOUNDS_H

#include "pub_tool_basics.h"

/* Why a piece begins or ends at a place: bits. */
enum { BOUNDS_MAPPED = 1, BOUNDS_STACK = 2 };

/* Mapped in one call; and gone. */
void bounds_mapped(Addr a, SizeT size);
void bounds_unmapped(Addr a, SizeT size);
/* A stack that the program has made for a thread. */
void bounds_stack(Addr low, Addr high);

/* [*start, *end) around a; False: nothing is there. */
Bool bounds_of(Addr a, Addr *start, Addr *end);
/* Why one begins or ends there; 0: none does, as far as is known. */
UInt bounds_why(Addr a);
/* Are both in one? */
Bool bounds_same(Addr a, Addr b);

#endif
