/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory of Valgrind's core, whichever Valgrind it is: VG_(am_shadow_alloc) returned
 * a pointer up to 3.19 at least, and by 3.24 a result that may be an error.
 */
#ifndef CACHEPEEK_SIM_MEMORY_H
#define CACHEPEEK_SIM_MEMORY_H

#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"

static inline void *memory_of_pointer(void *p)
{
	return p;
}

static inline void *memory_of_result(SysRes result)
{
	return sr_isError(result) ? NULL : (void *)sr_Res(result);
}

/* Zeroed whole pages; NULL if there is no memory. */
static inline void *valgrind_alloc(SizeT size)
{
	/* clang-format off */
	return _Generic(VG_(am_shadow_alloc)(size),
		void *: memory_of_pointer,
		SysRes: memory_of_result)(VG_(am_shadow_alloc)(size));
	/* clang-format on */
}

#endif
