/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Code that is not to be counted: the library that asks.
 */
#include "tool.h"

#define MAX_RANGES 16

/* The library's code, as far as it has been told. */
static struct {
	struct {
		Addr lo, hi;
	} ranges[MAX_RANGES];
	UInt n;
} own;

/* Instructions translated before this call were counted: forget them, so that
 * they are translated again. */
Bool own_code_add(Addr lo, Addr hi)
{
	if (lo >= hi || own.n == MAX_RANGES)
		return False;
	own.ranges[own.n].lo = lo;
	own.ranges[own.n].hi = hi;
	own.n++;
	VG_(discard_translations_safely)(lo, hi - lo, "cachepeek");
	return True;
}

Bool own_code_at(Addr addr)
{
	for (UInt i = 0; i < own.n; i++)
		if (addr >= own.ranges[i].lo && addr < own.ranges[i].hi)
			return True;
	return False;
}
