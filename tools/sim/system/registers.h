/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where the guest has a system call: its number, result and arguments.
 */
#ifndef CACHEPEEK_SIM_REGISTERS_H
#define CACHEPEEK_SIM_REGISTERS_H

#include "pub_tool_machine.h"
#include "valgrind/guest.h"

enum {
	CALL_NUMBER = GUEST_EITHER(RAX, X8),
	CALL_RESULT = GUEST_RESULT,
	CALL_ARG1 = GUEST_EITHER(RDI, X0),
	CALL_ARG2 = GUEST_EITHER(RSI, X1),
	CALL_ARG3 = GUEST_EITHER(RDX, X2),
	CALL_ARG4 = GUEST_EITHER(R10, X3),
	CALL_ARG5 = GUEST_EITHER(R8, X4),
	CALL_ARG6 = GUEST_EITHER(R9, X5),
};

static inline UWord call_take(ThreadId tid, PtrdiffT at)
{
	UWord value;

	VG_(get_shadow_regs_area)(tid, (UChar *)&value, 0, at, sizeof(value));
	return value;
}

static inline void call_put(ThreadId tid, PtrdiffT at, UWord value)
{
	VG_(set_shadow_regs_area)(tid, 0, at, sizeof(value), (const UChar *)&value);
}

#endif
