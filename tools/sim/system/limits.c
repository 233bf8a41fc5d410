/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The limits of the stack and of open files.  The core keeps what the program says of its
 * stack to itself, and a program that is executed is to find it.
 *
 * The core raises the soft limit of open files for descriptors of its own and tells the
 * program of what was there before; a program that is executed, or a simulator that
 * begins there again, is to find that, too.
 *
 * The core refuses a lower hard limit (EPERM): sshd, which lowers it to 0 for what it
 * does not trust, ends its connections then.  Here that succeeds, and is what the
 * program finds; the core keeps its own, because it would take away descriptors that
 * are open.
 */
#include "system/limits.h"
#include "valgrind/core.h"
#include "valgrind/guest.h"

#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_vki.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vkiscnums.h"

enum { STACK = 3, NOFILE = 7 }; /* RLIMIT_STACK, RLIMIT_NOFILE */

/* The program's limit of descriptors, and the one that is really set. */
static struct {
	struct vki_rlimit raised;
	Int told;
	/* The hard limit that the program has set; a child has it as well. */
	UWord lowered;
} limits = {.lowered = ~(UWord)0};

static Bool is_exec(UInt number)
{
	return number == __NR_execve || number == __NR_execveat;
}

void limits_start(void)
{
	limits.told = VG_(fd_soft_limit);
	if (VG_(getrlimit)(NOFILE, &limits.raised) < 0)
		limits.raised.rlim_cur = 0;
}

void limits_set_soft(Int files)
{
	VG_(fd_soft_limit) = files;
}

/* The core had no room to raise it: then it was as high as it could be. */
static Bool was_at_its_highest(void)
{
	return limits.raised.rlim_cur == limits.raised.rlim_max &&
	       VG_(fd_soft_limit) == limits.told;
}

void limits_lower(void)
{
	struct vki_rlimit limit = limits.raised;

	if (!limits.raised.rlim_cur)
		return;
	limit.rlim_cur = (UWord)VG_(fd_soft_limit);
	VG_(setrlimit)(NOFILE, &limit);
}

void limits_raise(void)
{
	if (limits.raised.rlim_cur)
		VG_(setrlimit)(NOFILE, &limits.raised);
}

void limits_before(UInt number)
{
	if (!is_exec(number))
		return;
	VG_(setrlimit)(STACK, &VG_(client_rlimit_stack));
	if (!was_at_its_highest())
		limits_lower();
}

static UWord hard_limit(void)
{
	UWord core = (UWord)VG_(fd_hard_limit);

	return core < limits.lowered ? core : limits.lowered;
}

/* Where a call about this limit of this process has the new and the old one. */
static Bool is_about_it(UInt number, const UWord *args, const struct vki_rlimit **new,
	struct vki_rlimit **old)
{
	*new = NULL;
	*old = NULL;
	if (number == __NR_prlimit64 && args[1] == NOFILE &&
		(args[0] == 0 || args[0] == (UWord)VG_(getpid)())) {
		*new = (const struct vki_rlimit *)args[2];
		*old = (struct vki_rlimit *)args[3];
	} else if (number == __NR_setrlimit && args[0] == NOFILE) {
		*new = (const struct vki_rlimit *)args[1];
	} else if (number == __NR_getrlimit && args[0] == NOFILE) {
		*old = (struct vki_rlimit *)args[1];
	}
	return *new || *old;
}

/* The new limit that the core refused, and the kernel would not have. */
static Bool should_succeed(const struct vki_rlimit *new, SysRes result)
{
	return new &&sr_isError(result) &&
	       sr_Err(result) == VKI_EPERM &&new->rlim_cur <=
					 new->rlim_max &&new->rlim_max <= hard_limit();
}

static void set_success(ThreadId tid)
{
	static const UWord none;

	VG_(set_shadow_regs_area)
	(tid, 0, GUEST_RESULT, sizeof(none), (const UChar *)&none);
}

static void about_hard_limit(ThreadId tid, UInt number, const UWord *args, SysRes result)
{
	const struct vki_rlimit *new;
	struct vki_rlimit *old;

	if (!is_about_it(number, args, &new, &old))
		return;
	if (should_succeed(new, result)) {
		if (old)
			old->rlim_cur = (UWord)VG_(fd_soft_limit);
		VG_(fd_soft_limit) = (Int) new->rlim_cur;
		set_success(tid);
	} else if (sr_isError(result)) {
		return;
	}
	if (old)
		old->rlim_max = hard_limit();
	if (new &&new->rlim_max < limits.lowered)
		limits.lowered = new->rlim_max;
}

/* After an exec that failed, it is still this program that runs. */
void limits_after(ThreadId tid, UInt number, const UWord *args, SysRes result)
{
	if (is_exec(number))
		limits_raise();
	about_hard_limit(tid, number, args, result);
}
