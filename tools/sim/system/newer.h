/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * System calls that are newer than Valgrind's core.
 */
#ifndef CACHEPEEK_SIM_NEWER_H
#define CACHEPEEK_SIM_NEWER_H

#include "pub_tool_basics.h"

/* True: it is answered, and there is nothing to call for. */
Bool newer_answers(ThreadId tid, UInt number, long *result);

/* Before a system call: one line about each that is not there. */
void newer_tell(UInt number, const UWord *args);
void newer_after(ThreadId tid, UInt number, const UWord *args, SysRes result);

#endif
