/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The program's limit of open files, given back to what it executes.
 */
#ifndef CACHEPEEK_SIM_LIMITS_H
#define CACHEPEEK_SIM_LIMITS_H

#include "pub_tool_basics.h"

void limits_start(void);
/* Then: the program's soft limit of files, where the simulator has begun with a higher
 * one because the program has some open above its own. */
void limits_set_soft(Int files);
void limits_before(UInt number);
void limits_after(ThreadId tid, UInt number, const UWord *args, SysRes result);
/* The kernel's limit of descriptors is the program's, for a call that does not wait. */
void limits_lower(void);
void limits_raise(void);

#endif
