/* SPDX-License-Identifier: MIT */
#include "preload/patch/refusals.h"

#include <string.h>

#include "base/format.h"

static const char *const texts[CP_PATCH_WHYS] = {
	[CP_PATCH_SHORT] = "shorter than a jump, with no room behind",
	[CP_PATCH_TARGET] = "something jumps into the bytes that the patch takes",
	[CP_PATCH_FIXED] = "an instruction at the beginning works only where it is",
	[CP_PATCH_UNKNOWN] = "an instruction at the beginning is not known",
	[CP_PATCH_SPECIAL] = "it returns twice, or needs to know who called it",
	[CP_PATCH_DIFFERENT] = "in memory it is not what the file has",
	[CP_PATCH_FAR] = "no free memory is within reach of a jump",
	[CP_PATCH_FORBIDDEN] = "the kernel lets nobody change the code",
	[CP_PATCH_SHADOW] = "the CPU checks return addresses (shadow stack)",
	[CP_PATCH_UNWINDER] =
		"exceptions do not pass through it with LLVM's unwinder (libunwind.so.1)",
	[CP_PATCH_REGISTERS] = "the CPU's registers cannot be saved here",
	[CP_PATCH_MEMORY] = "no memory",
	[CP_PATCH_STOPPED] = "at a breakpoint of the CPU",
};

static struct cp_patch_refused refusals[CP_PATCH_WHYS];

void cp_refuse(enum cp_patch_why why, const char *name)
{
	struct cp_patch_refused *r = &refusals[why];
	size_t length = strlen(r->names), room = sizeof(r->names) - length;

	r->why = texts[why];
	r->count++;
	if (strlen(name) + 3 > room)
		return;
	cp_format(r->names + length, room, "%s%s", length ? ", " : "", name);
	r->named++;
}

void cp_refusals(enum cp_patch_why why, struct cp_patch_refused *refused)
{
	*refused = refusals[why];
}
