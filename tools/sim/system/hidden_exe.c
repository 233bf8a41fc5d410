/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * /proc/PID/exe is the simulator, of this process and of another simulated one.  A call
 * that follows or reads that link finds the program's there: of the descriptor by which
 * the core has it open.
 */
#include "base/syscall.h"
#include "system/hidden_parts.h"
#include "system/links.h"
#include "tool.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"

enum { NAME = LINKS_NAME, NOT_THE_LINK = 0x100 /* AT_SYMLINK_NOFOLLOW */ };

/* ---- whose program? ---- */

/* "/proc/12/exe" and "/proc/12/task/13/exe": 12; 0: it is no such path. */
static long process_of(const HChar *path)
{
	static const HChar proc[] = "/proc/", task[] = "/task/";
	HChar *end;
	long pid;

	if (VG_(strncmp)(path, proc, sizeof(proc) - 1) != 0)
		return 0;
	pid = (long)VG_(strtoll10)(path + sizeof(proc) - 1, &end);
	if (VG_(strncmp)(end, task, sizeof(task) - 1) == 0)
		VG_(strtoll10)(end + sizeof(task) - 1, &end);
	return VG_(strcmp)(end, "/exe") == 0 ? pid : 0;
}

static Bool is_simulated(long pid)
{
	struct vg_stat own, other;
	HChar path[NAME];

	VG_(sprintf)(path, "/proc/%ld/exe", pid);
	return !sr_isError(VG_(stat)("/proc/self/exe", &own)) &&
	       !sr_isError(VG_(stat)(path, &other)) && own.dev == other.dev &&
	       own.ino == other.ino;
}

/* The core has a copy of the auxiliary vector that may be executed, too. */
static Bool is_program(const HChar *path)
{
	static const HChar cores[] = "/memfd:proc_";
	HChar name[sizeof(cores)] = "";
	struct vg_stat file;

	VG_(readlink)(path, name, sizeof(name) - 1);
	return VG_(strcmp)(name, cores) != 0 && !sr_isError(VG_(stat)(path, &file)) &&
	       VKI_S_ISREG(file.mode) && file.mode & 0111;
}

/* The core's descriptors are the highest, and of those one is a program. */
static Bool find_program(long pid, HChar found[NAME])
{
	UChar list[1024];
	HChar path[NAME];
	SysRes directory;
	long length;

	VG_(sprintf)(path, "/proc/%ld/fd", pid);
	directory = VG_(open)(path, VKI_O_RDONLY, 0);
	if (sr_isError(directory))
		return False;
	found[0] = '\0';
	while ((length = cp_syscall(
			SYS_getdents64, sr_Res(directory), list, sizeof(list))) > 0)
		for (long at = 0; at < length; at += *(UShort *)(list + at + 16)) {
			VG_(sprintf)
			(path, "/proc/%ld/fd/%.20s", pid, (const HChar *)list + at + 19);
			if (is_program(path))
				VG_(strcpy)(found, path);
		}
	VG_(close)((Int)sr_Res(directory));
	return found[0] != '\0';
}

/* ---- calls ---- */

static Bool reads_link(Int number)
{
#ifdef SYS_readlink
	if (number == SYS_readlink)
		return True;
#endif
	return number == SYS_readlinkat;
}

static Bool follows(ThreadId tid, Int number)
{
	switch (number) {
#ifdef SYS_stat
	case SYS_stat:
	case SYS_open:
	case SYS_access:
#endif
	case SYS_openat:
	case SYS_faccessat:
	case SYS_getxattr:
		return True;
	case SYS_newfstatat:
	case FACCESSAT2:
		return !(hidden_argument(tid, 3) & NOT_THE_LINK);
	case SYS_statx:
		return !(hidden_argument(tid, 2) & NOT_THE_LINK);
	}
	return False;
}

static Bool find_link(Int dir, UWord path, HChar found[NAME])
{
	HChar text[HIDDEN_LONGEST];
	long pid;

	hidden_path(dir, path, "exe", text);
	if (links_is_own(text)) {
		links_write(found);
		return True;
	}
	pid = process_of(text);
	return pid > 0 && is_simulated(pid) && find_program(pid, found);
}

void hidden_links(ThreadId tid, Int number, struct hidden_call *call)
{
	static HChar(*found)[NAME];
	UInt i = hidden_paths_of(number) == SECOND;

	if (!reads_link(number) && !follows(tid, number))
		return;
	if (!found)
		found = VG_(calloc)("hidden.links", most_threads(), sizeof(*found));
	if (find_link(i ? (Int)hidden_argument(tid, 0) : HIDDEN_HERE,
		    hidden_argument(tid, i), found[tid]))
		hidden_change(tid, i, (UWord)found[tid], call);
}
