/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Compilers at run time (Erlang's, .NET's) map a memfd twice: to write code, and to
 * execute it.  The core looks whether code has changed where it is of no file, and takes
 * a memfd for one: the program went on with code that was not there any more.
 */
#include "instrument/aliased.h"

#include "tool.h"

typedef UInt needs_self_check(
	void *opaque, VexRegisterUpdates *control, const VexGuestExtents *extents);

static needs_self_check *cores;

static Bool ends_with(const HChar *text, const HChar *end)
{
	SizeT length = VG_(strlen)(text), wanted = VG_(strlen)(end);

	return length >= wanted && VG_(strcmp)(text + length - wanted, end) == 0;
}

/* A file in name only. */
static Bool is_memory(const NSegment *segment)
{
	const HChar *name = segment && segment->kind == SkFileC
				    ? VG_(am_get_filename)(segment)
				    : NULL;

	return name && (VG_(strncmp)(name, "/memfd:", 7) == 0 ||
			       VG_(strncmp)(name, "/dev/shm/", 9) == 0 ||
			       ends_with(name, " (deleted)"));
}

/* A bit for each stretch of code. */
static UInt check_mappings(
	void *opaque, VexRegisterUpdates *control, const VexGuestExtents *extents)
{
	UInt checked = cores(opaque, control, extents);

	for (UInt i = 0; i < extents->n_used; i++)
		if (is_memory(VG_(am_find_nsegment)((Addr)extents->base[i])))
			checked |= 1u << i;
	return checked;
}

void aliased_check(VexTranslateArgs *args)
{
	cores = args->needs_self_check;
	args->needs_self_check = check_mappings;
}
