/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core's way to VEX, in the place of which this is linked: what has come out may have
 * to be made again, otherwise.
 */
#include "changing.h"
#include "native/native.h"
#include "pin/pin.h"
#include "stop.h"
#include "system/faults.h"
#include "watch/lines.h"
#include "valgrind/core.h"

#include "pub_tool_libcsetjmp.h"

VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *args);
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args);
void __attribute__((noreturn)) __real_vex_assert_fail(
	const HChar *expression, const HChar *file, Int line, const HChar *function);
void __wrap_vex_assert_fail(
	const HChar *expression, const HChar *file, Int line, const HChar *function);
void __attribute__((noreturn)) __real_vpanic(const HChar *why);
void __wrap_vpanic(const HChar *why);
UInt __wrap_vex_printf(const HChar *format, ...);
void __real_sanityCheckIRSB(
	const IRSB *block, const HChar *caller, Bool is_flat, IRType word);
void __wrap_sanityCheckIRSB(
	const IRSB *block, const HChar *caller, Bool is_flat, IRType word);

/* --- Where VEX gives up --- */

/* Some instructions make VEX's decoder doubt itself, and end the process. */
static struct {
	Bool possible;
	VG_MINIMAL_JMP_BUF(to);
} escape;

static void leave_translation(void)
{
	if (escape.possible)
		VG_MINIMAL_LONGJMP(escape.to);
}

void __wrap_vex_assert_fail(
	const HChar *expression, const HChar *file, Int line, const HChar *function)
{
	leave_translation();
	stop_because(expression);
	__real_vex_assert_fail(expression, file, line, function);
}

void __wrap_vpanic(const HChar *why)
{
	leave_translation();
	stop_because(why);
	__real_vpanic(why);
}

/* VEX's own messages before that, and about what it does not decode. */
UInt __wrap_vex_printf(const HChar *format, ...)
{
	va_list arguments;
	UInt size;

	if (escape.possible)
		return 0;
	va_start(arguments, format);
	size = VG_(vprintf)(format, arguments);
	va_end(arguments);
	return size;
}

/* The decoder's output is checked always: that is among what VEX gives up at.  VEX checks
 * again what has come of that and of what we added, which is a good part of all that it
 * does: only for tests. */
void __wrap_sanityCheckIRSB(
	const IRSB *block, const HChar *caller, Bool is_flat, IRType word)
{
	if (tool_options.check_blocks ||
		VG_(strcmp)(caller, "after post-instrumentation cleanup") != 0)
		__real_sanityCheckIRSB(block, caller, is_flat, word);
}

static Bool try_to_translate(VexTranslateArgs *args, VexTranslateResult *result)
{
	if (VG_MINIMAL_SETJMP(escape.to)) {
		escape.possible = False;
		return False;
	}
	escape.possible = tool_options.native;
	*result = __real_LibVEX_Translate(args);
	escape.possible = False;
	return True;
}

/* At bytes that no decoder knows: our own looks at the program's. */
static VexTranslateResult translate_unknown(VexTranslateArgs *args)
{
	static const UChar unknown[] = {
		0x62, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	const UChar *bytes = args->guest_bytes;
	VexTranslateResult result;

	args->guest_bytes = unknown;
	result = __real_LibVEX_Translate(args);
	args->guest_bytes = bytes;
	return result;
}

/* The superblock ends before the instruction that VEX gives up at, which begins the next
 * one. */
static VexTranslateResult translate_any(VexTranslateArgs *args)
{
	Int most = vex_control.guest_max_insns, good = 0, bad = most;
	VexTranslateResult result;

	if (try_to_translate(args, &result))
		return result;
	while (bad - good > 1) {
		vex_control.guest_max_insns = (good + bad) / 2;
		native_begin_translation(True);
		if (try_to_translate(args, &result))
			good = vex_control.guest_max_insns;
		else
			bad = vex_control.guest_max_insns;
	}
	native_begin_translation(True);
	vex_control.guest_max_insns = good ? good : most;
	if (!good || !try_to_translate(args, &result))
		result = translate_unknown(args);
	vex_control.guest_max_insns = most;
	return result;
}

/* --- What has to be made again --- */

/* A superblock that has to end before an instruction, with less of them. */
static VexTranslateResult translate_block(VexTranslateArgs *args)
{
	Int most = vex_control.guest_max_insns;
	VexTranslateResult result;

	native_begin_translation(False);
	result = translate_any(args);
	if (!native_most_instructions())
		return result;
	vex_control.guest_max_insns = (Int)native_most_instructions();
	native_begin_translation(True);
	result = translate_any(args);
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

	pin_capabilities(&args->archinfo_guest.hwcaps, &args->archinfo_host.hwcaps);
	changing_check(args);
	faults_check(args);
	result = translate_block(args);
	if (lines_needed_registers()) {
		vex_control.iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
		result = translate_block(args);
		lines_needed_registers();
		vex_control.iropt_register_updates_default = kept;
	}
	native_end_translation(args->guest_extents);
	return result;
}
