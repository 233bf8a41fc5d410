/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Programs that forbid themselves system calls that the simulator needs.
 */
#ifndef CACHEPEEK_SIM_CONFINE_H
#define CACHEPEEK_SIM_CONFINE_H

#include "pub_tool_basics.h"

void confine_start(void);

/* A new thread may do what its creator may. */
void confine_thread(ThreadId parent, ThreadId child);

/* Another program is to find what the kernel would have kept of this one. */
void confine_exec(ThreadId tid);

#endif
