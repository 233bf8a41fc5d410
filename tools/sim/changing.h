/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Code that may change while it is there, though it is of a file.
 */
#ifndef CACHEPEEK_SIM_CHANGING_H
#define CACHEPEEK_SIM_CHANGING_H

#include "tool.h"

/* Has the code that is translated be compared with what it was, where that is needed. */
void changing_check(VexTranslateArgs *args);

Bool changing_at(Addr code);

/* Before the program begins, and behind each system call. */
void changing_start(void);
void changing_after(UInt number, const UWord *args, SysRes result);

#endif
