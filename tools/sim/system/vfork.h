/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a vfork child writes to the stack of its parent, for which it is a fork here.
 */
#ifndef CACHEPEEK_SIM_VFORK_H
#define CACHEPEEK_SIM_VFORK_H

#include "pub_tool_basics.h"

void vfork_start(void);

/* Before and after each system call. */
void vfork_before(ThreadId tid, UInt number, const UWord *args);
void vfork_after(SysRes result);

/* The parent will go on: by an end of the child, or an exec. */
void vfork_tell(void);

#endif
