/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Programs that the program executes: the kernel decides whether it may.
 */
#ifndef CACHEPEEK_SIM_EXEC_H
#define CACHEPEEK_SIM_EXEC_H

#include "pub_tool_basics.h"

/* Before a system call: an exec that succeeds does not return. */
void exec_before(ThreadId tid, UInt number, const UWord *args);
void exec_after(ThreadId tid, UInt number, const UWord *args);

#endif
