/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Mappings that grow downwards (MAP_GROWSDOWN).
 */
#ifndef CACHEPEEK_SIM_GROWS_H
#define CACHEPEEK_SIM_GROWS_H

#include "pub_tool_basics.h"

/* Around a system call. */
void grows_before(UInt number);
void grows_after(UInt number, const UWord *args, SysRes result);

#endif
