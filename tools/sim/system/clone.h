/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * clone(2).  The core has threads, forks and vforks, ends the program at other ways to
 * share with a child, and refuses pointers that the kernel does not look at.
 */
#ifndef CACHEPEEK_SIM_CLONE_H
#define CACHEPEEK_SIM_CLONE_H

#include "pub_tool_basics.h"

/* A call of clone, as the program made it. */
struct clone_call {
	Bool changed;
	UWord flags;
};

/* Before a system call: leaves out what the kernel would not do.  What the core cannot do
 * becomes an error of the call (EINVAL), after one line on standard error. */
struct clone_call clone_before(ThreadId tid, Int number);
/* Behind it, in both processes: the program's registers are as they were. */
void clone_behind(ThreadId tid, const struct clone_call *call);

#endif
