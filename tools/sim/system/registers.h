/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where the guest has a system call.
 */
#ifndef CACHEPEEK_SIM_REGISTERS_H
#define CACHEPEEK_SIM_REGISTERS_H

#include "pub_tool_basics.h"
#include "pub_tool_machine.h"

#if defined(VGA_amd64)
#include "libvex_guest_amd64.h"
#define CALL_REGISTER(name) __builtin_offsetof(VexGuestAMD64State, guest_##name)
enum {
	CALL_NUMBER = CALL_REGISTER(RAX),
	CALL_RESULT = CALL_REGISTER(RAX),
	CALL_ARG1 = CALL_REGISTER(RDI),
	CALL_ARG2 = CALL_REGISTER(RSI),
	CALL_ARG3 = CALL_REGISTER(RDX),
	CALL_ARG4 = CALL_REGISTER(R10),
	CALL_ARG5 = CALL_REGISTER(R8),
};
#else
#include "libvex_guest_arm64.h"
#define CALL_REGISTER(name) __builtin_offsetof(VexGuestARM64State, guest_##name)
enum {
	CALL_NUMBER = CALL_REGISTER(X8),
	CALL_RESULT = CALL_REGISTER(X0),
	CALL_ARG1 = CALL_REGISTER(X0),
	CALL_ARG2 = CALL_REGISTER(X1),
	CALL_ARG3 = CALL_REGISTER(X2),
	CALL_ARG4 = CALL_REGISTER(X3),
	CALL_ARG5 = CALL_REGISTER(X4),
};
#endif

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
