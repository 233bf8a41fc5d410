/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Numbers for what the program opens.  The kernel's limit is higher than the program's
 * (limits.c), and the core takes away what is beyond it when the kernel has acted: a
 * connection that was accepted is lost.  So it is asked before whether there is a number,
 * and where there is none the call is the kernel's to refuse, under the program's limit.
 *
 * Calls that might wait, or are more than the kernel's matter, are refused here.
 */
#include "system/descriptors.h"

#include <linux/seccomp.h>

#include "base/syscall.h"
#include "system/limits.h"
#include "system/registers.h"
#include "valgrind/core.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

/* ---- what makes how many ---- */

/* The headers may be older. */
enum {
	OPEN_TREE = 428,
	FSOPEN = 430,
	FSMOUNT = 432,
	FSPICK = 433,
	PIDFD_OPEN = 434,
	OPENAT2 = 437,
	PIDFD_GETFD = 438,
	LANDLOCK_CREATE_RULESET = 444,
	MEMFD_SECRET = 447,
	OPEN_TREE_ATTR = 467,
	WITH_PIDFD = 0x1000,    /* clone */
	WITH_LISTENER = 1 << 3, /* seccomp */
	GET_PEER = 0x5441,      /* ioctl: TIOCGPTPEER, those of namespaces, of pidfds */
	OF_NAMESPACES = 0xb7,
	OF_PIDFDS = 0xff
};

enum { NONE = 0, ONE = 1, TWO = 2, NUMBER = 3, HERE = 4, SOMETIMES = 8 };

/* HERE: it is not left to the kernel.  SOMETIMES: see makes_one(). */
static const UChar makers[] = {
#ifdef SYS_open
	[SYS_open] = ONE | HERE,
	[SYS_creat] = ONE | HERE,
	[SYS_pipe] = TWO,
	[SYS_epoll_create] = ONE,
	[SYS_eventfd] = ONE,
	[SYS_signalfd] = ONE,
	[SYS_inotify_init] = ONE,
#endif
	[SYS_openat] = ONE | HERE,
	[OPENAT2] = ONE | HERE,
	[SYS_open_by_handle_at] = ONE | HERE,
	[SYS_mq_open] = ONE | HERE,
	[SYS_accept] = ONE | HERE,
	[SYS_accept4] = ONE | HERE,
	[SYS_clone] = ONE | HERE | SOMETIMES,
	[SYS_seccomp] = ONE | HERE | SOMETIMES,
	[SYS_fcntl] = ONE | SOMETIMES,
	[SYS_ioctl] = ONE | SOMETIMES,
	[SYS_socket] = ONE,
	[SYS_socketpair] = TWO,
	[SYS_pipe2] = TWO,
	[SYS_dup] = ONE,
	[SYS_epoll_create1] = ONE,
	[SYS_eventfd2] = ONE,
	[SYS_timerfd_create] = ONE,
	[SYS_signalfd4] = ONE,
	[SYS_inotify_init1] = ONE,
	[SYS_fanotify_init] = ONE,
	[SYS_memfd_create] = ONE,
	[SYS_userfaultfd] = ONE,
	[SYS_perf_event_open] = ONE,
	[SYS_bpf] = ONE,
	[SYS_io_uring_setup] = ONE,
	[OPEN_TREE] = ONE,
	[FSOPEN] = ONE,
	[FSMOUNT] = ONE,
	[FSPICK] = ONE,
	[PIDFD_OPEN] = ONE,
	[PIDFD_GETFD] = ONE,
	[LANDLOCK_CREATE_RULESET] = ONE,
	[MEMFD_SECRET] = ONE,
	[OPEN_TREE_ATTR] = ONE,
};

static Bool makes_one(ThreadId tid, Int number)
{
	UWord first = call_take(tid, CALL_ARG1), second = call_take(tid, CALL_ARG2);

	switch (number) {
	case SYS_clone:
		return (first & WITH_PIDFD) != 0;
	case SYS_seccomp:
		return first == SECCOMP_SET_MODE_FILTER && second & WITH_LISTENER;
	case SYS_fcntl:
		return second == VKI_F_DUPFD || second == VKI_F_DUPFD_CLOEXEC;
	default:
		return second == GET_PEER || (second >> 8 & 0xff) == OF_NAMESPACES ||
		       (second >> 8 & 0xff) == OF_PIDFDS;
	}
}

static UInt made_by(ThreadId tid, Int number)
{
	UInt maker = number >= 0 && number < (Int)sizeof(makers) ? makers[number] : NONE;

	return maker & SOMETIMES && !makes_one(tid, number) ? NONE : maker;
}

/* ---- is there a number? ---- */

static Bool is_open(Int fd)
{
	return cp_syscall(SYS_fcntl, (long)fd, (long)VKI_F_GETFD) >= 0;
}

/* The kernel's choice from there on, which it is asked for with a descriptor of the
 * core's.  False: there is none. */
static Bool find_number(Int from, Int *found)
{
	long fd = cp_syscall(SYS_fcntl, (long)VG_(cl_cmdline_fd),
		(long)VKI_F_DUPFD_CLOEXEC, (long)from);

	if (fd >= 0)
		cp_syscall(SYS_close, fd);
	*found = (Int)fd;
	return fd >= 0 ? fd < VG_(fd_soft_limit) : fd != -VKI_EMFILE && fd != -VKI_EINVAL;
}

/* The kernel takes the lowest: the highest are free as long as any is, mostly. */
static Bool has_numbers(Int wanted, UWord from)
{
	Int end = VG_(fd_soft_limit), last = end - wanted, found = 0;

	if (from >= (UWord)end)
		return False;
	while (end > last && end > (Int)from && !is_open(end - 1))
		end--;
	if (end == last)
		return True;
	for (Int at = (Int)from; wanted; wanted--, at = found + 1)
		if (!find_number(at, &found))
			return False;
	return True;
}

/* ---- and if there is none? ---- */

/* A number that is none comes first, but for the others that the kernel knows of. */
static long answer_here(ThreadId tid, Int number)
{
	Int fd = (Int)call_take(tid, CALL_ARG1);

	if ((number == SYS_accept || number == SYS_accept4) &&
		(fd >= VG_(fd_hard_limit) || !is_open(fd)))
		return -VKI_EBADF;
	return -VKI_EMFILE;
}

static long ask_kernel(ThreadId tid, Int number)
{
	const long args[] = {
		(long)call_take(tid, CALL_ARG1),
		(long)call_take(tid, CALL_ARG2),
		(long)call_take(tid, CALL_ARG3),
		(long)call_take(tid, CALL_ARG4),
		(long)call_take(tid, CALL_ARG5),
		(long)call_take(tid, CALL_ARG6),
	};
	long result;

	limits_lower();
	result = cp_syscall6(number, args);
	limits_raise();
	return result;
}

Bool descriptors_refuse(ThreadId tid, Int number)
{
	UInt maker = made_by(tid, number);
	UWord from = number == SYS_fcntl ? call_take(tid, CALL_ARG3) : 0;

	if (maker == NONE || has_numbers((Int)(maker & NUMBER), from))
		return False;
	call_put(tid, CALL_RESULT,
		(UWord)(maker & HERE ? answer_here(tid, number)
				     : ask_kernel(tid, number)));
	return True;
}

/* ---- messages ---- */

/* Descriptors beyond the limit are not passed on, as the kernel does it. */

enum { MESSAGE_PIDFD = 4, TRUNCATED = 8 };

static Bool close_beyond(Int fd)
{
	if (fd < VG_(fd_soft_limit))
		return False;
	cp_syscall(SYS_close, (long)fd);
	return True;
}

/* Returns how long it is then. */
static SizeT keep_within(struct vki_cmsghdr *c)
{
	Int *fds = (Int *)(c + 1);
	SizeT n = (c->cmsg_len - sizeof(*c)) / sizeof(*fds), kept = 0;

	if (c->cmsg_level != VKI_SOL_SOCKET)
		return c->cmsg_len;
	if (c->cmsg_type == MESSAGE_PIDFD && n && close_beyond(fds[0]))
		fds[0] = -VKI_EMFILE;
	if (c->cmsg_type != VKI_SCM_RIGHTS)
		return c->cmsg_len;
	for (SizeT i = 0; i < n; i++)
		if (!close_beyond(fds[i]))
			fds[kept++] = fds[i];
	return kept ? sizeof(*c) + kept * sizeof(*fds) : 0;
}

static void look_at_message(struct vki_msghdr *message)
{
	UChar *from = message->msg_control, *to = from,
	      *end = from ? from + message->msg_controllen : NULL;
	Bool cut = False;

	while (from && from + sizeof(struct vki_cmsghdr) <= end) {
		struct vki_cmsghdr *c = (struct vki_cmsghdr *)from;
		SizeT length = c->cmsg_len, left = (SizeT)(end - from), kept;

		if (length < sizeof(*c) || length > left)
			return;
		kept = keep_within(c);
		cut |= kept != length;
		c->cmsg_len = kept;
		from += VKI_CMSG_ALIGN(length) < left ? VKI_CMSG_ALIGN(length) : left;
		if (kept)
			VG_(memmove)(to, c, kept);
		to += VKI_CMSG_ALIGN(kept);
	}
	if (!cut)
		return;
	message->msg_controllen = (SizeT)(to - (UChar *)message->msg_control);
	message->msg_flags |= TRUNCATED;
}

void descriptors_after(UInt number, const UWord *args, SysRes result)
{
	struct vki_mmsghdr *messages = (struct vki_mmsghdr *)args[1];

	if (sr_isError(result))
		return;
	if (number == SYS_recvmsg)
		look_at_message((struct vki_msghdr *)args[1]);
	for (UWord i = 0; number == SYS_recvmmsg && i < sr_Res(result); i++)
		look_at_message(&messages[i].msg_hdr);
}
