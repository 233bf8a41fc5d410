/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Shadows that were built without the table of encodings: what VEX does not decode ends a
 * window, and what VEX has no place for is not taken over.
 */
#include "tools/shadow/parts.h"

enum { USUAL_MXCSR = 0x1f80 };

void extended_start(void)
{
}

Bool extended_take(struct shadow_thread *t, const UChar *image, ULong saved, UInt mxcsr)
{
	(void)t, (void)image, (void)saved, (void)mxcsr;
	return False;
}

UInt extended_mxcsr(const struct shadow_thread *t)
{
	(void)t;
	return USUAL_MXCSR;
}
