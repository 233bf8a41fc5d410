/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Mappings that the core has no room for, and the kernel has: the core gives programs
 * about 60 GiB of addresses, wherever they do not say which they want.  And those at a
 * place that the program insists on.
 */
#ifndef CACHEPEEK_SIM_SPACE_H
#define CACHEPEEK_SIM_SPACE_H

#include "pub_tool_basics.h"

/* Before a system call: would it make more mappings than the core can tell apart (30,000,
 * with the gaps between them)?  The kernel's answer is ENOMEM, too, at 65,530.  Says one
 * line. */
Bool space_is_full(Int number);

/* A call's arguments, as the program gave them. */
struct space_call {
	Int number;
	Bool is_mapping;
	UWord hint, length, flags;
};

/* Is nothing there of the simulator's?  If not, one line says so.  It is left to the
 * kernel to refuse what no program can have. */
Bool space_is_of_program(Addr start, SizeT size);

/* Before a system call. */
struct space_call space_look(ThreadId tid, Int number);
/* MAP_FIXED_NOREPLACE, which not every core knows: is something there?  Then the kernel
 * has refused it.  If not, the core finds MAP_FIXED. */
Bool space_refuses(ThreadId tid, const struct space_call *call);
/* Behind it: did it fail for lack of room?  Then it is changed to be made again, at a
 * place that the kernel has free. */
Bool space_change(ThreadId tid, const struct space_call *call);
/* Behind all: the program's registers are as they were. */
void space_restore(ThreadId tid, const struct space_call *call);

#endif
