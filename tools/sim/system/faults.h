/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whether the program may look at its registers where an access to memory faults.
 */
#ifndef CACHEPEEK_SIM_FAULTS_H
#define CACHEPEEK_SIM_FAULTS_H

#include "pub_tool_basics.h"

/* It has, or had, a handler of its own for a signal that an instruction raises. */
Bool faults_are_handled(void);

/* Behind a system call. */
void faults_after(UInt number, const UWord *args, SysRes result);

#endif
