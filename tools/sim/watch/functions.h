/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Functions as regions (CP_SIM_FUNCTIONS): wherever one of them begins, or is left
 * in whatever way, the program's thread makes a detour through a function of the
 * library's, which opens or closes the region, and comes back as if nothing had been.
 *
 * function_names.c knows the functions; functions.c keeps the calls of each thread that
 * have not returned: its shadow stack.
 */
#ifndef CACHEPEEK_SIM_FUNCTIONS_H
#define CACHEPEEK_SIM_FUNCTIONS_H

#include "tool.h"

/* Somebody asks for some, or for lines. */
Bool functions_wanted(void);

/* detour: (number, 0, its first four arguments) a function begins, (_, n) n of them have
 * been left; it does not return, but asks for CP_SIM_FUNCTION_DONE. */
Bool functions_start(Addr detour, const HChar *patterns);
/* name: the library's, of the region that has begun.  Returns what the program's register
 * has in which the answer of a request is. */
Bool functions_done(ThreadId tid, UWord name, UWord *ret);
/* The next region that opens again, outermost first; 1: it has no name; 0: no more. */
UWord functions_again(ThreadId tid);
/* Before anything runs. */
void functions_track(void);
/* VG_INVALID_THREADID: no functions meanwhile. */
void functions_use(ThreadId tid);
void functions_thread_begin(ThreadId tid);

/* Before a superblock that begins there; after one that ends with what is no jump to
 * a constant. */
void functions_watch_entry(IRSB *out, const VexGuestLayout *layout, Addr a);
void functions_watch_return(IRSB *out, const VexGuestLayout *layout);
/* After one that ends with a call of a constant; before a statement of one. */
void functions_watch_call(IRSB *out, const VexGuestLayout *layout);
struct block;
void functions_watch_stack(
	const struct block *b, const IRSB *in, Int at, const VexGuestLayout *layout);
/* Before an instruction of that line; before one of none. */
void functions_watch_line(IRSB *out, const VexGuestLayout *layout, Addr a, Int line);
void functions_watch_elsewhere(IRSB *out, const VexGuestLayout *layout, Addr a);
/* After a superblock whose last instruction is of a line, and what comes behind it:
 * a call, or a return. */
void functions_watch_line_call(IRSB *out, const VexGuestLayout *layout, Addr back);
void functions_watch_line_return(IRSB *out, const VexGuestLayout *layout);

#endif
