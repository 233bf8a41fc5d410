/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core's way to VEX, in the place of which this is linked: what has come out may have
 * to be made again, otherwise.
 */
#include "native/native.h"
#include "profile/lines.h"

/* of the core's, that no header of it for tools has */
extern VexControl vex_control;
VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *args);
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args);

/* A superblock that has to end before an instruction is made again with less of them. */
static VexTranslateResult translate(VexTranslateArgs *args)
{
	Int most = vex_control.guest_max_insns;
	VexTranslateResult result;

	native_begin_translation(False);
	result = __real_LibVEX_Translate(args);
	if (!native_most_instructions())
		return result;
	vex_control.guest_max_insns = (Int)native_most_instructions();
	native_begin_translation(True);
	result = __real_LibVEX_Translate(args);
	vex_control.guest_max_insns = most;
	return result;
}

/* The optimiser puts registers that are not looked at before the end of the block where
 * they belong only there.  A block in which lines are watched is made again, and slower.
 */
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args)
{
	VexRegisterUpdates kept = vex_control.iropt_register_updates_default;
	VexTranslateResult result;

	result = translate(args);
	if (lines_needed_registers()) {
		vex_control.iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
		result = translate(args);
		lines_needed_registers();
		vex_control.iropt_register_updates_default = kept;
	}
	native_end_translation(args->guest_extents);
	return result;
}
