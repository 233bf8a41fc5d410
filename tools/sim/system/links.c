/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * readlink("/proc/self/exe"), and by the link's other names.  The core knows two of them,
 * and its answer hangs on its version: 3.24 reads its own link into the program's buffer,
 * and then writes the program's name over that, so that a program that has cleared its
 * buffer, instead of looking at the length, finds the end of our name behind its
 * own; 3.27 follows one link of the path that was executed, and takes a relative one to
 * be in the working directory, so that $ORIGIN was /etc/alternatives.  What the file is
 * called that the core has open is right in all of them.
 */
#include "system/links.h"

#include "base/syscall.h"
#include "pointers.h"
#include "system/registers.h"
#include "valgrind/core.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

static const HChar prefix[] = "/proc/";

/* Nothing runs between before and after: these links are read without waiting. */
static struct {
	UChar saved[4096];
	SizeT size;
	Bool own;
} reading;

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

/* ---- the program's name ---- */

static void write_link(HChar to[48])
{
	VG_(snprintf)(to, 48, "/proc/self/fd/%d", VG_(cl_exec_fd));
}

/* Returns how long it is; 0: it has none. */
static SizeT read_name(HChar name[VKI_PATH_MAX])
{
	HChar path[48];
	SSizeT length;

	write_link(path);
	length = VG_(readlink)(path, name, VKI_PATH_MAX - 1);
	name[length > 0 ? length : 0] = '\0';
	return length > 0 ? (SizeT)length : 0;
}

Bool links_name_program(HChar name[VKI_PATH_MAX])
{
	struct vg_stat named, running;

	return read_name(name) > 0 && !sr_isError(VG_(stat)(name, &named)) &&
	       VG_(fstat)(VG_(cl_exec_fd), &running) == 0 && named.dev == running.dev &&
	       named.ino == running.ino;
}

/* What a core from 3.24 on opens where the program opens its own link: as 3.19 has none
 * of it, it is asked for where it is there. */
void links_start(void)
{
	HChar name[VKI_PATH_MAX];

	if (!&VG_(resolved_exename))
		return;
	if (!links_name_program(name))
		write_link(name);
	VG_(resolved_exename) = VG_(strdup)("links.name", name);
}

/* ---- its links ---- */

static const HChar *pass(const HChar *at, const HChar *part)
{
	SizeT length = VG_(strlen)(part);

	return VG_(strncmp)(at, part, length) == 0 ? at + length : NULL;
}

/* Behind /proc/: self/exe, or 12/task/13/exe. */
static Bool is_own_there(const HChar *path)
{
	HChar self[16], *end;
	const HChar *at, *task;

	VG_(sprintf)(self, "%d/", (Int)cp_syscall(SYS_getpid));
	if ((at = pass(path, "thread-self/")))
		return VG_(strcmp)(at, "exe") == 0;
	if (!(at = pass(path, "self/")) && !(at = pass(path, self)))
		return False;
	if ((task = pass(at, "task/"))) {
		VG_(strtoll10)(task, &end);
		at = end > task && *end == '/' ? end + 1 : end;
	}
	return VG_(strcmp)(at, "exe") == 0;
}

static Bool is_in_proc(UWord path)
{
	SizeT length = sizeof(prefix) - 1;

	return VG_(am_is_valid_for_client)(path, length, VKI_PROT_READ) &&
	       VG_(strncmp)((const HChar *)path, prefix, length) == 0;
}

Bool links_are_own(UWord path)
{
	return is_in_proc(path) && can_read_text(path) &&
	       is_own_there((const HChar *)path + sizeof(prefix) - 1);
}

void links_before(UInt number, const UWord *args)
{
	SizeT wanted;

	reading.size = 0;
	if (!is_readlink(number))
		return;
	args = find_arguments(number, args);
	wanted = args[2] < sizeof(reading.saved) ? args[2] : sizeof(reading.saved);
	if (!is_in_proc(args[0]) || !VG_(am_is_valid_for_client)(args[1], wanted,
					    VKI_PROT_READ | VKI_PROT_WRITE))
		return;
	VG_(memcpy)(reading.saved, (const void *)args[1], wanted);
	reading.size = wanted;
	reading.own = links_are_own(args[0]);
}

/* Returns how long it is there. */
static SizeT put_name(ThreadId tid, UChar *to, SizeT cores)
{
	HChar name[VKI_PATH_MAX];
	SizeT length = read_name(name);

	if (!length)
		return cores;
	if (length > reading.size)
		length = reading.size;
	VG_(memcpy)(to, name, length);
	call_put(tid, CALL_RESULT, length);
	return length;
}

void links_after(ThreadId tid, UInt number, const UWord *args, SysRes result)
{
	SizeT length;
	UChar *to;

	if (!reading.size || !is_readlink(number) || sr_isError(result))
		return;
	length = sr_Res(result);
	to = (UChar *)find_arguments(number, args)[1];
	if (reading.own)
		length = put_name(tid, to, length);
	if (length < reading.size)
		VG_(memcpy)(to + length, reading.saved + length, reading.size - length);
	reading.size = 0;
}
