/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Descriptors that the program's system calls make.
 */
#ifndef CACHEPEEK_SIM_DESCRIPTORS_H
#define CACHEPEEK_SIM_DESCRIPTORS_H

#include "pub_tool_basics.h"

/* Before a call is made: is there no number for what it makes?  It is answered then. */
Bool descriptors_refuse(ThreadId tid, Int number);
/* Looks at descriptors that came with messages. */
void descriptors_after(UInt number, const UWord *args, SysRes result);

#endif
