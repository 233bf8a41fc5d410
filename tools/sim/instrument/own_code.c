/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Code that is not to be counted: the library that asks.
 */
#include "tool.h"

#define MAX_RANGES 16

static struct {
	Addr lo, hi;
} ranges[MAX_RANGES];
static UInt nranges;

/* Instructions translated before this call were counted: forget them, so that
 * they are translated again. */
Bool own_code_add(Addr lo, Addr hi)
{
	if (lo >= hi || nranges == MAX_RANGES)
		return False;
	ranges[nranges].lo = lo;
	ranges[nranges].hi = hi;
	nranges++;
	VG_(discard_translations_safely)(lo, hi - lo, "cachepeek");
	return True;
}

Bool own_code_at(Addr addr)
{
	for (UInt i = 0; i < nranges; i++)
		if (addr >= ranges[i].lo && addr < ranges[i].hi)
			return True;
	return False;
}
