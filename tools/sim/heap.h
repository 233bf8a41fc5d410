/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The program's heap by brk(2).  The core keeps 8 MiB for it, between what it has mapped
 * already; it has much more behind the simulator.
 */
#ifndef CACHEPEEK_SIM_HEAP_H
#define CACHEPEEK_SIM_HEAP_H

#include "pub_tool_basics.h"

/* Before anything of the program is there. */
void heap_start(void);
/* Before a system call: a brk(2) that gives some of it back is done here, and one that
 * the program's own limit forbids is refused, as the kernel does: with the heap's end.
 * Says one line where it is the simulator that has no more room. */
Bool heap_changes(ThreadId tid, Int number, UWord *end);

#endif
