/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Signals of instructions that are sent (kill, sigqueue), and what else of signals the
 * core lacks.
 */
#ifndef CACHEPEEK_SIM_SENT_H
#define CACHEPEEK_SIM_SENT_H

#include "pub_tool_basics.h"

/* Around a call of the program's: what was sent to it waits in the kernel, and is there
 * when the call returns. */
void sent_before(void);
void sent_ignored(UInt call, const UWord *args, SysRes result);
void sent_after(ThreadId tid);
/* Takes what waits in the kernel, which forgets what is ignored from now on, until
 * sent_before. */
void sent_keep(ThreadId tid);
/* A handler of the program's begins. */
void sent_handled(ThreadId tid);
void sent_fork_child(void);
/* A call that is not there: it fails with EINVAL, and a line says so once. */
Bool sent_refuses(ThreadId tid, UInt number);

#endif
