/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which functions, and lines of source, are regions, by number and by name.
 */
#ifndef CACHEPEEK_SIM_FUNCTION_NAMES_H
#define CACHEPEEK_SIM_FUNCTION_NAMES_H

#include "tool.h"

/* The number that a region of that name has. */
UInt function_number(const HChar *name);
/* Functions whose name one of the patterns "func:PATTERN" of the list matches. */
void functions_choose(const HChar *patterns);
/* The nth of these patterns: 1: a file whose code was executed has such a function, 2:
 * none has, 0: there are fewer. */
UInt functions_check(UInt n, HChar *to, UInt size);
/* The number of the one that begins there; -1: none. */
Int function_at(Addr a);
/* Does makecontext(3) begin there?  After function_at(). */
Bool makes_context_at(Addr a);
const HChar *function_name(UInt number); /* NULL: no such number */
void functions_unmapped(Addr a, SizeT len);

#endif
