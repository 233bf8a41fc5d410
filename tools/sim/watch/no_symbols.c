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

ULong __real_vgPlain_di_notify_mmap(Addr a, Bool allow_SkFileV, Int use_fd);
ULong __wrap_vgPlain_di_notify_mmap(Addr a, Bool allow_SkFileV, Int use_fd);

ULong __wrap_vgPlain_di_notify_mmap(Addr a, Bool allow_SkFileV, Int use_fd)
{
	return tool_options.lines
		       ? __real_vgPlain_di_notify_mmap(a, allow_SkFileV, use_fd)
		       : 0;
}
