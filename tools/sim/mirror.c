/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mirror.h"

void mirror_write(ULong *to, const ULong *from)
{
	if (!to)
		return;
	for (UInt i = 0; i < CP_SIM_NALL; i++)
		to[i] = from[i];
}

Bool mirror_overlaps(const ULong *mirror, UInt words, Addr a, SizeT len)
{
	Addr m = (Addr)mirror;

	return mirror && m < a + len && m + words * sizeof(ULong) > a;
}

Bool mirror_fits(UWord to, UInt words)
{
	return to % sizeof(ULong) == 0 &&
	       VG_(am_is_valid_for_client)(to, words * sizeof(ULong), VKI_PROT_WRITE);
}

static void say_others(const HChar *who, UInt number, const ULong *count)
{
	for (UInt i = 0; i < tool_options.sweep.npoints; i++)
		VG_(umsg)
	("%s %u sweep_%u %llu\n", who, number, i, count[CP_SIM_SWEEP + i]);
	for (UInt i = CP_SIM_WINDOWS; tool_options.window && i < CP_SIM_NALL; i++)
		VG_(umsg)
	("%s %u window_%u %llu\n", who, number, i - CP_SIM_WINDOWS, count[i]);
}

void mirror_say(const HChar *who, UInt number, const ULong *count)
{
#define X(name, meaning)                                                                 \
	VG_(umsg)("%s %u %s %llu\n", who, number, #name, count[CP_SIM_##name]);
	CP_SIM_COUNTERS (X)
#undef X
		say_others(who, number, count);
}
