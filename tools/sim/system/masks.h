/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The signals that are blocked while a handler runs.
 */
#ifndef CACHEPEEK_SIM_MASKS_H
#define CACHEPEEK_SIM_MASKS_H

#include "pub_tool_basics.h"

void masks_before(ThreadId tid, UInt number, const UWord *args);
void masks_after(ThreadId tid, SysRes result);

#endif
