/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * readlink("/proc/self/exe").  Valgrind reads its own link into the program's buffer,
 * and then writes the program's name over that (seen in 3.24): a program that has
 * cleared its buffer, instead of looking at the length, finds the end of our name
 * behind its own.
 */
#include "system/links.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

static const HChar prefix[] = "/proc/";

/* Nothing runs between before and after: these links are read without waiting. */
static struct {
	UChar saved[4096];
	SizeT size;
} link;

static Bool is_readlink(UInt number)
{
#ifdef __NR_readlink
	if (number == __NR_readlink)
		return True;
#endif
	return number == __NR_readlinkat;
}

/* Its path, buffer and size are the last three arguments. */
static const UWord *find_arguments(UInt number, const UWord *args)
{
	return number == __NR_readlinkat ? args + 1 : args;
}

static Bool is_ours(const UWord *args)
{
	SizeT length = sizeof(prefix) - 1;

	return VG_(am_is_valid_for_client)(args[0], length, VKI_PROT_READ) &&
	       VG_(strncmp)((const HChar *)args[0], prefix, length) == 0;
}

void links_before(UInt number, const UWord *args)
{
	SizeT wanted;

	link.size = 0;
	if (!is_readlink(number))
		return;
	args = find_arguments(number, args);
	wanted = args[2] < sizeof(link.saved) ? args[2] : sizeof(link.saved);
	if (!is_ours(args) || !VG_(am_is_valid_for_client)(
				      args[1], wanted, VKI_PROT_READ | VKI_PROT_WRITE))
		return;
	VG_(memcpy)(link.saved, (const void *)args[1], wanted);
	link.size = wanted;
}

void links_after(UInt number, const UWord *args, SysRes result)
{
	SizeT length;
	UChar *to;

	if (!link.size || !is_readlink(number) || sr_isError(result))
		return;
	length = sr_Res(result);
	to = (UChar *)find_arguments(number, args)[1];
	if (length < link.size)
		VG_(memcpy)(to + length, link.saved + length, link.size - length);
	link.size = 0;
}
