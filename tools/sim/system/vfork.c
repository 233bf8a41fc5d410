/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * vfork.  The core makes a fork of it, because it cannot share its own memory with a
 * child.  But the child may have something to tell: posix_spawn(3) learns in a local
 * variable of the parent why a program was not started, and so do many who call vfork
 * themselves.  The child looks what has changed in the frames of its parent before it
 * ends or executes a program, and writes that to a pipe; the parent waits for it, as it
 * does in vfork, and puts it there.
 */
#include "system/vfork.h"

#include "base/syscall.h"
#include "tool.h"
#include "valgrind/core.h"

#include "pub_tool_vki.h"

#define WORDS 2048 /* of the stack above the call; libc's frames are smaller */

struct change {
	UWord *at;
	UWord value;
};

/* The vfork that is under way: there is one at a time, because the parent waits. */
static struct {
	UWord *window;
	UWord before[WORDS];
	SizeT nwords;
	int from_child, to_parent;
	enum { NOBODY, PARENT, CHILD } role;
} vforked = {.from_child = -1, .to_parent = -1};

static Bool is_vfork(UInt number, const UWord *args)
{
	UWord shared = VKI_CLONE_VM | VKI_CLONE_VFORK;

#ifdef __NR_vfork
	if (number == __NR_vfork)
		return True;
#endif
	return number == __NR_clone && (args[0] & shared) == shared;
}

static void close_end(int *end)
{
	if (*end >= 0)
		cp_syscall(SYS_close, *end);
	*end = -1;
}

/* To where the program does not see it. */
static Bool move_away(int *end)
{
	long moved = cp_syscall(
		SYS_fcntl, *end, (long)VKI_F_DUPFD_CLOEXEC, VG_(fd_hard_limit));

	close_end(end);
	*end = moved < 0 ? -1 : (int)moved;
	return moved >= 0;
}

static Bool open_pipe(void)
{
	int ends[2];

	if (cp_syscall(SYS_pipe2, ends, 0L) < 0)
		return False;
	vforked.from_child = ends[0];
	vforked.to_parent = ends[1];
	if (move_away(&vforked.from_child) & move_away(&vforked.to_parent))
		return True;
	close_end(&vforked.from_child);
	close_end(&vforked.to_parent);
	return False;
}

static void take_window(ThreadId tid)
{
	Addr sp = VG_ROUNDUP(VG_(get_SP)(tid), sizeof(UWord));
	const NSegment *stack = VG_(am_find_nsegment)(sp);

	vforked.nwords = 0;
	if (!stack || !stack->hasR || !stack->hasW)
		return;
	vforked.window = (UWord *)sp;
	vforked.nwords = (stack->end + 1 - sp) / sizeof(UWord);
	if (vforked.nwords > WORDS)
		vforked.nwords = WORDS;
	VG_(memcpy)(vforked.before, vforked.window, vforked.nwords * sizeof(UWord));
}

void vfork_tell(void)
{
	if (vforked.role != CHILD)
		return;
	for (SizeT i = 0; i < vforked.nwords; i++) {
		struct change change = {&vforked.window[i], vforked.window[i]};

		if (change.value == vforked.before[i])
			continue;
		vforked.before[i] = change.value;
		cp_syscall(SYS_write, vforked.to_parent, &change, sizeof(change));
	}
}

static Bool is_end(UInt number)
{
	return number == __NR_exit || number == __NR_exit_group;
}

void vfork_before(ThreadId tid, UInt number, const UWord *args)
{
	if (is_end(number))
		vfork_tell();
	if (!is_vfork(number, args) || vforked.role == CHILD)
		return;
	take_window(tid);
	if (vforked.nwords && open_pipe())
		vforked.role = PARENT;
}

static void take_changes(void)
{
	struct change change;

	/* Until nobody can write any more. */
	while (cp_syscall(SYS_read, vforked.from_child, &change, sizeof(change)) ==
		sizeof(change))
		if (change.at >= vforked.window &&
			change.at < vforked.window + vforked.nwords)
			*change.at = change.value;
}

void vfork_after(SysRes result)
{
	if (vforked.role != PARENT)
		return;
	vforked.role = NOBODY;
	close_end(&vforked.to_parent);
	if (!sr_isError(result))
		take_changes();
	close_end(&vforked.from_child);
}

/* A child of the child has nothing to tell, and its parent's parent is not to wait for
 * it. */
static void on_fork_child(ThreadId tid)
{
	(void)tid;
	if (vforked.role == CHILD)
		close_end(&vforked.to_parent);
	vforked.role = vforked.role == PARENT ? CHILD : NOBODY;
	close_end(&vforked.from_child);
}

void vfork_start(void)
{
	VG_(atfork)(NULL, NULL, on_fork_child);
}
