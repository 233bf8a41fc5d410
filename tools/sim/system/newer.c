/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * System calls that the core does not know, or of which it does not know that they wait.
 * Of newer ones it answers that the kernel has none (ENOSYS), so that a program that has
 * to confine itself (landlock) gives up.  Those that change nothing of which the core
 * keeps account are the kernel's here; the core runs them like any other that may block.
 *
 * What a newer core knows (landlock, fsmount and mseal of 3.27) is left to it.  A program
 * still has no map_shadow_stack and remap_file_pages, nor mseal where the core has none,
 * which concern mappings, no modify_ldt, which concerns segments, no clone3, no openat2,
 * which would open the simulator in the place of the program in /proc, and no
 * userfaultfd: only one thread runs at a time, and one that waits for another one to fill
 * a page would wait for ever.
 *
 * The core looks at descriptors first, and says of a number that cannot be that it is
 * none; the kernel, which looks at other arguments first in many a call, is to say what
 * is wrong.
 */
#include "system/newer.h"

#include "base/syscall.h"
#include "pointers.h"
#include "system/hidden.h"
#include "system/registers.h"
#include "say.h"
#include "valgrind/core.h"
#include "valgrind/guest.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"

/* The core's own: its entry for a system call, and what that may say: other threads run
 * meanwhile, and signals are delivered. */
struct entry {
	void (*before)(ThreadId, const void *, void *, void *, UWord *flags);
	void (*after)(ThreadId, void *, void *);
};

enum { MAY_BLOCK = 1 << 1 };

struct entry *__real_vgModuleLocal_get_linux_syscall_entry(UInt number);
struct entry *__wrap_vgModuleLocal_get_linux_syscall_entry(UInt number);
Bool __real_vgModuleLocal_fd_allowed(Int, const HChar *, ThreadId, Bool);
Bool __wrap_vgModuleLocal_fd_allowed(Int, const HChar *, ThreadId, Bool);

/* The headers may be older; from here on the numbers are the same everywhere. */
enum { FIRST = 424, LANDLOCK_CREATE_RULESET = 444 };
enum { NOTHING = 0, STATUS = 1, DESCRIPTOR = 2 };

static const UChar gives[] = {
	[424 - FIRST] = STATUS,     /* pidfd_send_signal */
	[428 - FIRST] = DESCRIPTOR, /* open_tree */
	[429 - FIRST] = STATUS,     /* move_mount */
	[430 - FIRST] = DESCRIPTOR, /* fsopen */
	[431 - FIRST] = STATUS,     /* fsconfig */
	[432 - FIRST] = DESCRIPTOR, /* fsmount */
	[433 - FIRST] = DESCRIPTOR, /* fspick */
	[434 - FIRST] = DESCRIPTOR, /* pidfd_open */
	[438 - FIRST] = DESCRIPTOR, /* pidfd_getfd */
	[440 - FIRST] = STATUS,     /* process_madvise */
	[441 - FIRST] = STATUS,     /* epoll_pwait2 */
	[442 - FIRST] = STATUS,     /* mount_setattr */
	[443 - FIRST] = STATUS,     /* quotactl_fd */
	[LANDLOCK_CREATE_RULESET - FIRST] = DESCRIPTOR,
	[445 - FIRST] = STATUS,     /* landlock_add_rule */
	[446 - FIRST] = STATUS,     /* landlock_restrict_self */
	[447 - FIRST] = DESCRIPTOR, /* memfd_secret */
	[448 - FIRST] = STATUS,     /* process_mrelease */
	[449 - FIRST] = STATUS,     /* futex_waitv */
	[450 - FIRST] = STATUS,     /* set_mempolicy_home_node */
	[451 - FIRST] = STATUS,     /* cachestat */
	[452 - FIRST] = STATUS,     /* fchmodat2 */
	[454 - FIRST] = STATUS,     /* futex_wake */
	[455 - FIRST] = STATUS,     /* futex_wait */
	[456 - FIRST] = STATUS,     /* futex_requeue */
	[457 - FIRST] = STATUS,     /* statmount */
	[458 - FIRST] = STATUS,     /* listmount */
	[459 - FIRST] = STATUS,     /* lsm_get_self_attr */
	[460 - FIRST] = STATUS,     /* lsm_set_self_attr */
	[461 - FIRST] = STATUS,     /* lsm_list_modules */
	[463 - FIRST] = STATUS,     /* setxattrat */
	[464 - FIRST] = STATUS,     /* getxattrat */
	[465 - FIRST] = STATUS,     /* listxattrat */
	[466 - FIRST] = STATUS,     /* removexattrat */
	[467 - FIRST] = DESCRIPTOR, /* open_tree_attr */
	[468 - FIRST] = STATUS,     /* file_getattr */
	[469 - FIRST] = STATUS,     /* file_setattr */
};

static UInt kind_of(UInt number)
{
	/* Older ones that it has left out. */
	switch (number) {
#ifdef SYS_ustat
	case SYS_ustat:
	case SYS_sysfs:
#endif
	case SYS_swapon:
	case SYS_swapoff:
	case SYS_reboot:
	case SYS_setdomainname:
	case SYS_migrate_pages:
	case SYS_mlock2:
	case SYS_io_pgetevents:
		return STATUS;
	}
	return number >= FIRST && number - FIRST < sizeof(gives) ? gives[number - FIRST]
								 : NOTHING;
}

static void leave_to_kernel(
	ThreadId tid, const void *layout, void *args, void *status, UWord *flags)
{
	(void)tid;
	(void)layout;
	(void)args;
	(void)status;
	*flags |= MAY_BLOCK;
}

/* ---- calls that wait ---- */

/* The calls of the kernel's table that may wait for what another thread does.  The core
 * knows most of them, each version others; one that it does not know would keep all
 * threads from running.  (io_uring_enter and locks of open file descriptions: 3.19.) */
static const int waiting[] = {
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_preadv,
	SYS_pwritev,
	SYS_openat,
	SYS_ioctl,
	SYS_fcntl,
	SYS_flock,
	SYS_fsync,
	SYS_fdatasync,
	SYS_syncfs,
	SYS_ppoll,
	SYS_pselect6,
	SYS_epoll_pwait,
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_accept,
	SYS_accept4,
	SYS_connect,
	SYS_sendto,
	SYS_recvfrom,
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_sendmmsg,
	SYS_recvmmsg,
	SYS_semop,
	SYS_semtimedop,
	SYS_msgsnd,
	SYS_msgrcv,
	SYS_mq_timedsend,
	SYS_mq_timedreceive,
	SYS_rt_sigtimedwait,
	SYS_waitid,
	SYS_wait4,
	SYS_futex,
	SYS_io_getevents,
	SYS_splice,
	SYS_tee,
	SYS_vmsplice,
	SYS_sendfile,
	SYS_copy_file_range,
	SYS_getrandom,
	426, /* io_uring_enter */
	441, /* epoll_pwait2 */
	449, /* futex_waitv */
	455, /* futex_wait */
#ifdef SYS_open
	SYS_open,
	SYS_poll,
	SYS_select,
	SYS_epoll_wait,
	SYS_pause,
#endif
};

enum {
	MOST_NUMBERS = 512,
	TO_KERNEL = 2,
	OFD_SETLKW = 38,
	FUTEX_OPERATION = 127,
	LOCK_PI2 = 13
};

static Bool may_wait(UInt number)
{
	for (UInt i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		if ((UInt)waiting[i] == number)
			return True;
	return False;
}

/* The call as the core has it in its handlers: number and arguments; and what has come of
 * it: not yet anything, if the kernel is to be asked. */
static void let_others_run(
	ThreadId tid, const void *layout, void *args, void *status, UWord *flags)
{
	const UWord *call = args;
	const Int *what = status;
	const struct entry *known =
		__real_vgModuleLocal_get_linux_syscall_entry((UInt)call[0]);

	if (call[0] == SYS_futex && (call[2] & FUTEX_OPERATION) == LOCK_PI2) {
		*flags |= MAY_BLOCK;
		return;
	}
	known->before(tid, layout, args, status, flags);
	if (*what == TO_KERNEL && (call[0] != SYS_fcntl || call[2] == OFD_SETLKW))
		*flags |= MAY_BLOCK;
}

static struct entry *waiting_entry(UInt number, struct entry *known)
{
	static struct entry entries[MOST_NUMBERS];

	if (number >= MOST_NUMBERS || !may_wait(number))
		return known;
	entries[number].before = let_others_run;
	entries[number].after = known->after;
	return &entries[number];
}

struct entry *__wrap_vgModuleLocal_get_linux_syscall_entry(UInt number)
{
	static struct entry kernels = {leave_to_kernel, NULL};
	struct entry *known = __real_vgModuleLocal_get_linux_syscall_entry(number);

	if (known)
		return waiting_entry(number, known);
	return kind_of(number) == NOTHING ? NULL : &kernels;
}

/* ---- calls that are missing ---- */

/* Libc asks for clone3 and rseq, and goes on without. */
static struct missing {
	UInt number;
	const HChar *name;
	Bool told;
} missing[] = {
	{SYS_userfaultfd, "userfaultfd", False},
	{SYS_remap_file_pages, "remap_file_pages", False},
#ifdef SYS_modify_ldt
	{SYS_modify_ldt, "modify_ldt", False},
#endif
#if defined(VGA_amd64)
	{335, "uretprobe", False},
	{336, "uprobe", False},
#endif
	{453, "map_shadow_stack", False},
	{462, "mseal", False},
};

/* Libc calls clone instead, which does not do all that clone3 does. */
static void tell_of_clone3(const UWord *args)
{
	enum { IDS = 9, CGROUP = 11, MOST = 16 };
	static const ULong into_cgroup = 0x200000000ull;
	static Bool said;
	const ULong *given = (const ULong *)args[0];
	UWord size = args[1] / sizeof(*given);

	if (size < IDS - 1 || size > MOST || !can_read(args[0], size * sizeof(*given)))
		return;
	if ((size >= CGROUP && given[0] & into_cgroup) || (size > IDS && given[IDS] > 0))
		say_once(&said,
			"cachepeek: the simulated PMU has no clone3 into a control group "
			"or with a chosen ID: it fails (ENOSYS); count the program with "
			"CACHEPEEK_ENGINE=perf\n");
}

void newer_tell(UInt number, const UWord *args)
{
	HChar line[128];

	if (number == SYS_clone3)
		tell_of_clone3(args);
	for (UInt i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		if (missing[i].number != number ||
			__real_vgModuleLocal_get_linux_syscall_entry(number))
			continue;
		VG_(snprintf)
		(line, sizeof(line),
			"cachepeek: the simulated PMU has no %s: it fails (ENOSYS); count "
			"the program with CACHEPEEK_ENGINE=perf\n",
			missing[i].name);
		say_once(&missing[i].told, line);
	}
}

/* ---- calls that the core answers otherwise ---- */

enum { RIGHTS = 3, SET = 8 };
enum { SA_WITH_RESTORER = 0x4000000, SA_EXPOSES_TAGS = 0x800 };

/* It has neither protection keys nor calls to go on with, and sets are of one size. */
Bool newer_answers(ThreadId tid, UInt number, long *result)
{
	switch (number) {
	case SYS_restart_syscall:
		*result = -VKI_EINTR;
		return True;
	case SYS_pkey_alloc:
		*result = -VKI_EINVAL;
		return call_take(tid, CALL_ARG2) > RIGHTS;
	case SYS_mprotect:
		*result = -VKI_EINVAL;
		return call_take(tid, CALL_ARG3) >> 32 != 0;
	case SYS_rt_sigaction:
		*result = -VKI_EINVAL;
		return call_take(tid, CALL_ARG4) != SET;
	}
	return False;
}

/* The core looks for the path of execveat itself. */
Bool __wrap_vgModuleLocal_fd_allowed(
	Int descriptor, const HChar *call, ThreadId tid, Bool is_new)
{
	return ((descriptor < 0 || descriptor == HIDDEN_NOWHERE) && !is_new &&
		       VG_(strcmp)(call, "execveat") != 0) ||
	       __real_vgModuleLocal_fd_allowed(descriptor, call, tid, is_new);
}

/* A program sets one that there will never be to ask whether flags are known at all. */
static void forget_unknown_flags(UWord action)
{
	const UInt known = VKI_SA_NOCLDSTOP | VKI_SA_NOCLDWAIT | VKI_SA_SIGINFO |
			   VKI_SA_ONSTACK | VKI_SA_RESTART | VKI_SA_NOMASK |
			   VKI_SA_ONESHOT | SA_WITH_RESTORER | SA_EXPOSES_TAGS;

	if (action)
		((vki_sigaction_fromK_t *)action)->sa_flags &= known;
}

/* The kernel's limit of descriptors is higher than the program's (limits.c).  With flags,
 * the first call of landlock tells of versions instead. */
void newer_after(ThreadId tid, UInt number, const UWord *args, SysRes result)
{
	const Word none_left = -VKI_EMFILE;

	if (number == SYS_rt_sigaction && !sr_isError(result))
		forget_unknown_flags(args[2]);
	if (kind_of(number) != DESCRIPTOR || sr_isError(result) ||
		(number == LANDLOCK_CREATE_RULESET && args[2]) ||
		sr_Res(result) < (UWord)VG_(fd_soft_limit))
		return;
	VG_(close)((Int)sr_Res(result));
	VG_(set_shadow_regs_area)
	(tid, 0, GUEST_RESULT, sizeof(none_left), (const UChar *)&none_left);
}
