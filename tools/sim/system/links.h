/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CACHEPEEK_SIM_LINKS_H
#define CACHEPEEK_SIM_LINKS_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"

/* Tells the core what the program is called. */
void links_start(void);

/* Is the path at this address its link to itself, which for the kernel is the simulator?
 */
Bool links_are_own(UWord path);
Bool links_is_own(const HChar *path);

/* Another link to the program: that of its descriptor. */
enum { LINKS_NAME = 48 };
void links_write(HChar to[LINKS_NAME]);

/* The program's path, as the kernel has it: False if another file or none is there. */
Bool links_name_program(HChar name[VKI_PATH_MAX]);

#endif
