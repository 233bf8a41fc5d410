/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CACHEPEEK_SIM_LINKS_H
#define CACHEPEEK_SIM_LINKS_H

#include "pub_tool_basics.h"

/* Around readlink: bytes of the program's buffer behind the name stay as they were. */
void links_before(UInt number, const UWord *args);
void links_after(UInt number, const UWord *args, SysRes result);

#endif
