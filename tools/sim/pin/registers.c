/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The registers of a system call that a thread is about to make, or has made.
 */
#include "pin/pin.h"
#include "valgrind/guest.h"

static const PtrdiffT place_of[] = {
	[PIN_FIRST] = GUEST_EITHER(RDI, X0),
	[PIN_SECOND] = GUEST_EITHER(RSI, X1),
	[PIN_THIRD] = GUEST_EITHER(RDX, X2),
	[PIN_FOURTH] = GUEST_EITHER(R10, X3),
	[PIN_FIFTH] = GUEST_EITHER(R8, X4),
	[PIN_NUMBER] = GUEST_EITHER(RAX, X8),
	[PIN_RESULT] = GUEST_RESULT,
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
