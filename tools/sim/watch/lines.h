/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines of source as regions (CP_SIM_FUNCTIONS, "line:FILE:LINE"): which instructions
 * they are.  functions.c knows when a thread is in them.
 */
#ifndef CACHEPEEK_SIM_LINES_H
#define CACHEPEEK_SIM_LINES_H

#include "tool.h"

/* Somebody asks for some. */
Bool lines_wanted(void);

void lines_choose(const HChar *patterns);
/* The region (of function_name) whose line the instruction belongs to; -1: none. */
Int line_at(Addr a);
/* The nth one that was asked for, and why it has not been seen: "" if it was, or only was
 * not executed; False: there are not so many. */
Bool lines_check(UInt n, HChar *name, HChar *why, UInt size);

/* The core could not read the line numbers of the object that is mapped there. */
void lines_unread(Addr a);

/* Where the function of that instruction begins; 0: in none, ANY_FUNCTION: in the part
 * of one that is seldom run. */
#define ANY_FUNCTION 1
Addr line_function(Addr a);

/* While a block is instrumented: it has something in its midst for which the registers
 * have to be where they belong. */
void lines_need_registers(void);
/* Behind that: had it? */
Bool lines_needed_registers(void);

#endif
