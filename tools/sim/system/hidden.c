/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From the program's hard limit on the numbers are the core's, which asks for that in
 * some calls only: others would read, lock, change the mode of the program's own file. In
 * such a call the number is one that cannot be open, so that the kernel says what it says
 * of it.
 */
#include "system/hidden.h"

#include "base/syscall.h"
#include "system/registers.h"
#include "pointers.h"
#include "tool.h"
#include "valgrind/core.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"

/* The headers may be older. */
enum {
	PIDFD_SEND_SIGNAL = 424,
	IO_URING_ENTER = 426,
	IO_URING_REGISTER = 427,
	OPEN_TREE = 428,
	MOVE_MOUNT = 429,
	FSCONFIG = 431,
	FSMOUNT = 432,
	FSPICK = 433,
	OPENAT2 = 437,
	PIDFD_GETFD = 438,
	FACCESSAT2 = 439,
	PROCESS_MADVISE = 440,
	EPOLL_PWAIT2 = 441,
	MOUNT_SETATTR = 442,
	QUOTACTL_FD = 443,
	LANDLOCK_ADD_RULE = 445,
	LANDLOCK_RESTRICT_SELF = 446,
	PROCESS_MRELEASE = 448,
	CACHESTAT = 451,
	FCHMODAT2 = 452,
	OPEN_TREE_ATTR = 467,
};

enum { FIRST = 1, SECOND = 2, THIRD = 4, FOURTH = 8, FIFTH = 16 };

/* Arguments that are descriptors. */
static const UChar takers[] = {
	[SYS_read] = FIRST,
	[SYS_write] = FIRST,
	[SYS_close] = FIRST,
	[SYS_fstat] = FIRST,
	[SYS_lseek] = FIRST,
	[SYS_ioctl] = FIRST,
	[SYS_pread64] = FIRST,
	[SYS_pwrite64] = FIRST,
	[SYS_readv] = FIRST,
	[SYS_writev] = FIRST,
	[SYS_preadv] = FIRST,
	[SYS_pwritev] = FIRST,
	[SYS_preadv2] = FIRST,
	[SYS_pwritev2] = FIRST,
	[SYS_vmsplice] = FIRST,
	[SYS_dup] = FIRST,
	[SYS_fcntl] = FIRST,
	[SYS_flock] = FIRST,
	[SYS_fsync] = FIRST,
	[SYS_fdatasync] = FIRST,
	[SYS_syncfs] = FIRST,
	[SYS_ftruncate] = FIRST,
	[SYS_fallocate] = FIRST,
	[SYS_fchmod] = FIRST,
	[SYS_fchown] = FIRST,
	[SYS_fstatfs] = FIRST,
	[SYS_fadvise64] = FIRST,
	[SYS_readahead] = FIRST,
	[SYS_sync_file_range] = FIRST,
	[SYS_getdents64] = FIRST,
	[SYS_fchdir] = FIRST,
	[SYS_openat] = FIRST,
	[SYS_newfstatat] = FIRST,
	[SYS_statx] = FIRST,
	[SYS_utimensat] = FIRST,
	[SYS_faccessat] = FIRST,
	[SYS_fchmodat] = FIRST,
	[SYS_fchownat] = FIRST,
	[SYS_mkdirat] = FIRST,
	[SYS_mknodat] = FIRST,
	[SYS_unlinkat] = FIRST,
	[SYS_readlinkat] = FIRST,
	[SYS_name_to_handle_at] = FIRST,
	[SYS_open_by_handle_at] = FIRST,
	[SYS_execveat] = FIRST,
	[SYS_fgetxattr] = FIRST,
	[SYS_fsetxattr] = FIRST,
	[SYS_flistxattr] = FIRST,
	[SYS_fremovexattr] = FIRST,
	[SYS_epoll_pwait] = FIRST,
	[SYS_inotify_add_watch] = FIRST,
	[SYS_inotify_rm_watch] = FIRST,
	[SYS_signalfd4] = FIRST,
	[SYS_timerfd_settime] = FIRST,
	[SYS_timerfd_gettime] = FIRST,
	[SYS_bind] = FIRST,
	[SYS_connect] = FIRST,
	[SYS_listen] = FIRST,
	[SYS_accept] = FIRST,
	[SYS_accept4] = FIRST,
	[SYS_getsockname] = FIRST,
	[SYS_getpeername] = FIRST,
	[SYS_sendto] = FIRST,
	[SYS_recvfrom] = FIRST,
	[SYS_sendmsg] = FIRST,
	[SYS_recvmsg] = FIRST,
	[SYS_sendmmsg] = FIRST,
	[SYS_recvmmsg] = FIRST,
	[SYS_setsockopt] = FIRST,
	[SYS_getsockopt] = FIRST,
	[SYS_shutdown] = FIRST,
	[SYS_mq_timedsend] = FIRST,
	[SYS_mq_timedreceive] = FIRST,
	[SYS_mq_notify] = FIRST,
	[SYS_mq_getsetattr] = FIRST,
	[SYS_finit_module] = FIRST,
	[SYS_setns] = FIRST,
	[SYS_sendfile] = FIRST | SECOND,
	[SYS_tee] = FIRST | SECOND,
	[SYS_splice] = FIRST | THIRD,
	[SYS_copy_file_range] = FIRST | THIRD,
	[SYS_dup3] = FIRST | SECOND,
	[SYS_linkat] = FIRST | THIRD,
	[SYS_renameat] = FIRST | THIRD,
	[SYS_renameat2] = FIRST | THIRD,
	[SYS_epoll_ctl] = FIRST | THIRD,
	[SYS_fanotify_mark] = FIRST | FOURTH,
	[SYS_symlinkat] = SECOND,
	[SYS_mmap] = FIFTH,
	[SYS_perf_event_open] = FOURTH,
#ifdef SYS_open
	[SYS_dup2] = FIRST | SECOND,
	[SYS_getdents] = FIRST,
	[SYS_futimesat] = FIRST,
	[SYS_epoll_wait] = FIRST,
	[SYS_signalfd] = FIRST,
#endif
	[PIDFD_SEND_SIGNAL] = FIRST,
	[IO_URING_ENTER] = FIRST,
	[IO_URING_REGISTER] = FIRST,
	[OPEN_TREE] = FIRST,
	[MOVE_MOUNT] = FIRST | THIRD,
	[FSCONFIG] = FIRST,
	[FSMOUNT] = FIRST,
	[FSPICK] = FIRST,
	[OPENAT2] = FIRST,
	[PIDFD_GETFD] = FIRST,
	[FACCESSAT2] = FIRST,
	[PROCESS_MADVISE] = FIRST,
	[EPOLL_PWAIT2] = FIRST,
	[MOUNT_SETATTR] = FIRST,
	[QUOTACTL_FD] = FIRST,
	[LANDLOCK_ADD_RULE] = FIRST,
	[LANDLOCK_RESTRICT_SELF] = FIRST,
	[PROCESS_MRELEASE] = FIRST,
	[CACHESTAT] = FIRST,
	[FCHMODAT2] = FIRST,
	[OPEN_TREE_ATTR] = FIRST,
};

static const UWord places[HIDDEN_ARGS] = {
	CALL_ARG1, CALL_ARG2, CALL_ARG3, CALL_ARG4, CALL_ARG5};

enum { NOWHERE = 0x7fffffff }; /* beyond what the kernel can have */

static void hide_arguments(ThreadId tid, Int number, struct hidden_call *call)
{
	UInt taken = number >= 0 && number < (Int)sizeof(takers) ? takers[number] : 0;

	for (UInt i = 0; taken >> i; i++) {
		if (!(taken >> i & 1))
			continue;
		call->given[i] = call_take(tid, (PtrdiffT)places[i]);
		if ((Int)call->given[i] < VG_(fd_hard_limit))
			continue;
		call->changed |= 1u << i;
		call_put(tid, (PtrdiffT)places[i], NOWHERE);
	}
}

/* ---- in memory ---- */

/* The call fails for it, or is over at once. */
static void hide_word(Int *at, struct hidden_call *call)
{
	if (*at < VG_(fd_hard_limit) || call->n_words == HIDDEN_WORDS ||
		!VG_(am_is_valid_for_client)(
			(Addr)at, sizeof(*at), VKI_PROT_READ | VKI_PROT_WRITE))
		return;
	call->words[call->n_words].at = at;
	call->words[call->n_words++].given = *at;
	*at = NOWHERE;
}

static void hide_polled(struct vki_pollfd *polled, UWord n, struct hidden_call *call)
{
	if (n > (UWord)VG_(fd_hard_limit) ||
		!can_read((UWord)polled, n * sizeof(*polled)))
		return;
	for (UWord i = 0; i < n; i++)
		hide_word(&polled[i].fd, call);
}

static void hide_passed(struct vki_msghdr *message, struct hidden_call *call)
{
	UChar *at, *end;

	if (!can_read((UWord)message, sizeof(*message)) ||
		!can_read((UWord)message->msg_control, message->msg_controllen))
		return;
	at = message->msg_control;
	end = at + message->msg_controllen;
	while ((SizeT)(end - at) >= sizeof(struct vki_cmsghdr)) {
		struct vki_cmsghdr *c = (struct vki_cmsghdr *)at;
		SizeT left = (SizeT)(end - at), length = c->cmsg_len;

		if (length < sizeof(*c) || length > left)
			return;
		for (Int *fd = (Int *)(c + 1); (UChar *)(fd + 1) <= at + length; fd++)
			if (c->cmsg_level == VKI_SOL_SOCKET &&
				c->cmsg_type == VKI_SCM_RIGHTS)
				hide_word(fd, call);
		at += VKI_CMSG_ALIGN(length) < left ? VKI_CMSG_ALIGN(length) : left;
	}
}

static void hide_messages(struct vki_mmsghdr *messages, UWord n, struct hidden_call *call)
{
	for (UWord i = 0; i < n && can_read((UWord)&messages[i], sizeof(*messages)); i++)
		hide_passed(&messages[i].msg_hdr, call);
}

static void hide_in_memory(ThreadId tid, Int number, struct hidden_call *call)
{
	UWord first = call_take(tid, CALL_ARG1), second = call_take(tid, CALL_ARG2);

	switch (number) {
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		hide_polled((struct vki_pollfd *)first, second, call);
		break;
	case SYS_sendmsg:
		hide_passed((struct vki_msghdr *)second, call);
		break;
	case SYS_sendmmsg:
		hide_messages(
			(struct vki_mmsghdr *)second, call_take(tid, CALL_ARG3), call);
		break;
	}
}

/* ---- before and behind ---- */

struct hidden_call hidden_before(ThreadId tid, Int number)
{
	struct hidden_call call;

	call.changed = call.n_words = 0;
	if (threads_is_paused(tid)) /* the library, which clears up behind the core */
		return call;
	hide_in_memory(tid, number, &call);
	hide_arguments(tid, number, &call);
	return call;
}

void hidden_behind(ThreadId tid, const struct hidden_call *call)
{
	for (UInt i = 0; i < call->n_words; i++)
		*call->words[i].at = call->words[i].given;
	for (UInt i = 0; call->changed >> i; i++)
		if (call->changed >> i & 1 && places[i] != CALL_RESULT)
			call_put(tid, (PtrdiffT)places[i], call->given[i]);
}
