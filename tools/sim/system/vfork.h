/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Gives the parent what a vfork child, which is a fork here, writes to its memory.
 */
#ifndef CACHEPEEK_SIM_VFORK_H
#define CACHEPEEK_SIM_VFORK_H

#include "pub_tool_basics.h"

void vfork_start(void);

/* Before a clone of the kind: True: the parent will wait for what the child has to tell,
 * and must not wait in the kernel, since that may be more than a pipe holds. only_frames:
 * the kernel writes to memory of the parent's. */
Bool vfork_begin(ThreadId tid, Bool only_frames);

/* Before and after each system call. */
void vfork_before(ThreadId tid, UInt number);
void vfork_after(SysRes result);

/* The parent will go on: by an end of the child, or an exec. */
void vfork_tell(void);

#endif
