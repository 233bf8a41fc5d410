/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core's descriptors and the library's, of which the program's system calls know
 * nothing.
 */
#ifndef CACHEPEEK_SIM_HIDDEN_H
#define CACHEPEEK_SIM_HIDDEN_H

#include "pub_tool_basics.h"

enum { HIDDEN_ARGS = 6 };

/* The kernel finds this in the place of one: it is beyond what it can have. */
enum { HIDDEN_NOWHERE = 0x7fffffff };

struct hidden_word {
	Int *at, given;
};

struct hidden_call {
	Bool librarys;
	UInt changed; /* arguments, a bit each */
	UWord given[HIDDEN_ARGS];
	UInt n_words, room; /* in memory */
	struct hidden_word *words;
};

/* CP_SIM_DESCRIPTORS; CP_SIM_CALL */
void hidden_start(UWord slots, UWord lowest, UWord highest, UWord pid);
void hidden_call_is_programs(ThreadId tid);

/* Before and behind a call. */
struct hidden_call hidden_before(ThreadId tid, Int number);
void hidden_behind(ThreadId tid, Int number, struct hidden_call *call);

/* True: there is nothing to call for, and the program has its answer. */
Bool hidden_answers(ThreadId tid, Int number, const struct hidden_call *call);

/* In the place of the simulator's link of /proc, the program's. */
void hidden_links(ThreadId tid, Int number, struct hidden_call *call);

/* After a call that succeeded: what the kernel and the program have in common. */
void hidden_after(UInt number, const UWord *args, SysRes result);

#endif
