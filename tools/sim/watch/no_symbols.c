/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Unless lines are regions, nobody asks this tool for a name, but Valgrind's core reads
 * the symbols and debug information of every object that is mapped: half of the time that
 * a short program takes.  The linker puts this function in the place of the one that is
 * told of mappings (--wrap).  Not only in that of the reader: the core keeps objects that
 * could not be read for ever, and stops when one of them is mapped again where it was
 * before (dlopen, dlclose, dlopen).
 */
#include "watch/lines.h"

#include "stop.h"

#include "valgrind/core.h"

#include "pub_tool_libcsetjmp.h"
#include "pub_tool_options.h"

HChar *__real_vgPlain_getenv(const HChar *name);
HChar *__wrap_vgPlain_getenv(const HChar *name);

/* Where DEBUGINFOD_URLS is set, the core runs a program for each object without debug
 * information.  It would be one of the user's, with the library, on this PMU again, and
 * so would be what that one runs. */
HChar *__wrap_vgPlain_getenv(const HChar *name)
{
	return VG_(strcmp)(name, "DEBUGINFOD_URLS") == 0 ? NULL
							 : __real_vgPlain_getenv(name);
}

/* ---- where the reader gives up ---- */

/* The core's reader ends the program where it does not understand an object's debug
 * information: DWARF 5 of clang in 3.19, 64-bit and split DWARF.  The object then has no
 * line numbers (lines_unread), and the program runs. */
static VG_MINIMAL_JMP_BUF(begun);

static void give_up(void)
{
	VG_MINIMAL_LONGJMP(begun);
}

ULong __real_vgPlain_di_notify_mmap(Addr a, Bool allow_SkFileV, Int use_fd);
ULong __wrap_vgPlain_di_notify_mmap(Addr a, Bool allow_SkFileV, Int use_fd);

/* Since 3.21 an object is read when it is first asked about: that is now. */
static void read_now(void)
{
	if (!&VG_(di_load_di))
		return;
	for (const DebugInfo *object = VG_(next_DebugInfo)(NULL); object;
		object = VG_(next_DebugInfo)(object))
		VG_(di_load_di)((DebugInfo *)object);
}

static ULong read_object(Addr a, Bool allow_SkFileV, Int use_fd)
{
	Int verbosity = VG_(clo_verbosity);
	volatile ULong result = 0;

	VG_(clo_verbosity) = 0;
	if (VG_MINIMAL_SETJMP(begun) == 0) {
		stop_spares(give_up);
		result = __real_vgPlain_di_notify_mmap(a, allow_SkFileV, use_fd);
		read_now();
	} else
		lines_unread(a);
	stop_spares(NULL);
	VG_(clo_verbosity) = verbosity;
	return result;
}

ULong __wrap_vgPlain_di_notify_mmap(Addr a, Bool allow_SkFileV, Int use_fd)
{
	return tool_options.lines ? read_object(a, allow_SkFileV, use_fd) : 0;
}
