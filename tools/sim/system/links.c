/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The program, where it is the simulator to the kernel.  The core knows two names of
 * /proc/self/exe, and its answer hangs on its version: 3.24 writes the program's name
 * over its own link in the program's buffer; 3.27 follows one link of the path that was
 * executed, and takes a relative one to be in the working directory, so that $ORIGIN was
 * /etc/alternatives.  What the file is called that the core has open is right in all of
 * them.
 */
#include "system/links.h"

#include "base/syscall.h"
#include "pointers.h"
#include "valgrind/core.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"

static const HChar prefix[] = "/proc/";

/* ---- the program's name ---- */

void links_write(HChar to[LINKS_NAME])
{
	VG_(snprintf)(to, LINKS_NAME, "/proc/self/fd/%d", VG_(cl_exec_fd));
}

/* Returns how long it is; 0: it has none. */
static SizeT read_name(HChar name[VKI_PATH_MAX])
{
	HChar path[LINKS_NAME];
	SSizeT length;

	links_write(path);
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

/* A core from 3.24 on opens this where the program opens its own link: 3.19 has none of
 * it, so it is asked for where it is there. */
void links_start(void)
{
	HChar name[VKI_PATH_MAX];

	if (!&VG_(resolved_exename))
		return;
	if (!links_name_program(name))
		links_write(name);
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

Bool links_is_own(const HChar *path)
{
	return (path = pass(path, prefix)) && is_own_there(path);
}

Bool links_are_own(UWord path)
{
	return is_in_proc(path) && can_read_text(path) &&
	       links_is_own((const HChar *)path);
}
