/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Strands: what a program runs on a stack of its own, as a coroutine.  Each has the calls
 * that were made on it.  A thread is on one at a time; the others are known by where they
 * were left, whichever thread that was in.
 *
 * A function that is called on another stack (as of a runtime's system calls) is a strand
 * that ends when its caller goes on, and is inside of it until then.
 */
#ifndef CACHEPEEK_SIM_STRANDS_H
#define CACHEPEEK_SIM_STRANDS_H

#include "tool.h"

#define MAX_SIGNALS 16

/* The kind of a call: of a function, or of a line (lines.h), which is where it is, or
 * waits for what it called or jumped to, or for a signal's handler. */
enum call_kind { FUNCTION, HERE, CALLS, TAIL, SIGNAL };

struct call {
	Addr sp, ret; /* ret: where it returns to, where that is known */
	UInt function;
	enum call_kind kind;
	Addr begin; /* of a line: its function's */
	UWord name; /* the library's, of its region */
};

/* A handler on a stack of its own: what is below is not looked at. */
struct barrier {
	UInt base;
	Addr sp;
};

struct strand {
	UWord order; /* of those that were left: ~left */
	struct call *calls;
	UInt depth, room;
	struct barrier *barriers;
	UInt nbarriers;
	Addr base; /* no stack pointer of it is above; ~0: it is a thread's own */
	Addr left; /* the stack pointer where it was left; 0: a thread is on it */
	struct strand *caller, *callee;
};

void strands_start(void);

/* base ~0: a thread's own. */
struct strand *strand_new(Addr base);
/* A thread's own, and the one that it was on when it ended. */
void strand_drop_thread(struct strand *own, struct strand *at);
/* Strands that were left in there are no more. */
void strands_unmapped(Addr a, SizeT size);

/* It waits at that stack pointer to go on; or does so.  A strand that waits for what it
 * called is left, too. */
void strand_leave(struct strand *s, Addr sp);
void strand_take(struct strand *s);
/* The one that was left there, or not far below; NULL: none was. */
struct strand *strand_at(Addr sp);
/* The same, or else the one that may have come back there by a jump to an earlier
 * place. */
struct strand *strand_find(Addr sp);

void strand_push(struct strand *s, struct call call);
void strand_add_barrier(struct strand *s, Addr sp);
/* How many calls are open in it and its callers, and the nth of these, outermost
 * first. */
UInt strand_all(const struct strand *s);
struct call *strand_nth(struct strand *s, UInt n);

/* As far as mappings, and what the program has said, tell: near, or in one. */
Bool same_stack(Addr a, Addr b);
/* In one. */
Bool stack_has_both(Addr a, Addr b);
/* The program makes [low, end) a stack, inside of whatever that is. */
void stack_made(Addr low, Addr end);

#endif
