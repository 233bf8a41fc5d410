/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One line for the user, once in a process, when the simulator cannot give the program
 * what it asked the kernel for.
 */
#ifndef CACHEPEEK_SIM_SAY_H
#define CACHEPEEK_SIM_SAY_H

#include "base/syscall.h"

#include "pub_tool_basics.h"
#include "pub_tool_libcbase.h"

/* line ends with a newline; said is the caller's, and false before the first call. */
static inline void say_once(Bool *said, const HChar *line)
{
	if (!*said)
		cp_syscall(SYS_write, 2, line, VG_(strlen)(line));
	*said = True;
}

#endif
