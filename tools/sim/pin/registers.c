/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The registers of a system call that a thread is about to make, or has made.
 */
#include "pin/pin.h"

#if defined(VGA_amd64)
#include "libvex_guest_amd64.h"
#define REGISTER(amd64, arm64) offsetof(VexGuestAMD64State, guest_##amd64)
#else
#include "libvex_guest_arm64.h"
#define REGISTER(amd64, arm64) offsetof(VexGuestARM64State, guest_##arm64)
#endif

static const PtrdiffT place_of[] = {
	[PIN_FIRST] = REGISTER(RDI, X0),
	[PIN_SECOND] = REGISTER(RSI, X1),
	[PIN_THIRD] = REGISTER(RDX, X2),
	[PIN_FOURTH] = REGISTER(R10, X3),
	[PIN_FIFTH] = REGISTER(R8, X4),
	[PIN_NUMBER] = REGISTER(RAX, X8),
	[PIN_RESULT] = REGISTER(RAX, X0),
};

UWord pin_take(ThreadId tid, enum pin_register which)
{
	UWord value;

	VG_(get_shadow_regs_area)
	(tid, (UChar *)&value, 0, place_of[which], sizeof(value));
	return value;
}

void pin_put(ThreadId tid, enum pin_register which, UWord value)
{
	VG_(set_shadow_regs_area)
	(tid, 0, place_of[which], sizeof(value), (const UChar *)&value);
}

void pin_put_back(ThreadId tid, enum pin_register which, UWord value)
{
	if (place_of[which] != place_of[PIN_RESULT])
		pin_put(tid, which, value);
}
