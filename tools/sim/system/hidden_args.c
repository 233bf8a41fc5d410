/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The calls of the kernel that take descriptors, and those that take paths.
 */
#include <linux/prctl.h>

#include "base/syscall.h"
#include "system/hidden_parts.h"

#include "pub_tool_vki.h"

/* CONDITIONAL: see sometimes(). */
enum { CONDITIONAL = 32 };

/* Arguments that are descriptors. */
static const UChar takers[] = {
	[SYS_read] = FIRST,
	[SYS_write] = FIRST,
	[SYS_close] = FIRST,
	[SYS_fstat] = FIRST,
	[SYS_lseek] = FIRST,
	[SYS_ioctl] = FIRST | CONDITIONAL,
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
	[SYS_fcntl] = FIRST | CONDITIONAL,
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
	[SYS_waitid] = CONDITIONAL,
	[SYS_kcmp] = CONDITIONAL,
	[SYS_prctl] = CONDITIONAL,
	[SYS_kexec_file_load] = FIRST | SECOND,
	[SYS_setns] = FIRST,
	[SYS_sendfile] = FIRST | SECOND,
	[SYS_tee] = FIRST | SECOND,
	[SYS_splice] = FIRST | THIRD,
	[SYS_copy_file_range] = FIRST | THIRD,
	[SYS_dup3] = FIRST,
	[SYS_linkat] = FIRST | THIRD,
	[SYS_renameat] = FIRST | THIRD,
	[SYS_renameat2] = FIRST | THIRD,
	[SYS_epoll_ctl] = FIRST | THIRD,
	[SYS_fanotify_mark] = FIRST | FOURTH,
	[SYS_symlinkat] = SECOND,
	[SYS_mmap] = FIFTH,
	[SYS_perf_event_open] = FOURTH | CONDITIONAL,
#ifdef SYS_open
	[SYS_dup2] = FIRST,
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
	[FSCONFIG] = FIRST | CONDITIONAL,
	[FSMOUNT] = FIRST,
	[FSPICK] = FIRST,
	[OPENAT2] = FIRST,
	[PIDFD_GETFD] = FIRST | CONDITIONAL,
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
	[SETXATTRAT] = FIRST,
	[GETXATTRAT] = FIRST,
	[LISTXATTRAT] = FIRST,
	[REMOVEXATTRAT] = FIRST,
	[OPEN_TREE_ATTR] = FIRST,
	[FILE_GETATTR] = FIRST,
	[FILE_SETATTR] = FIRST,
};

/* ---- where another argument says whether it is one ---- */

enum {
	DUPFD_QUERY = 1027, /* fcntl */
	BY_PIDFD = 3,       /* waitid */
	COMPARE_FILES = 0,  /* kcmp */
	COMPARE_POLLED = 7, /* kcmp */
	CONFIG_PATH = 3,    /* fsconfig */
	CONFIG_FD = 5,      /* fsconfig */
	OF_CGROUP = 4,      /* perf_event_open */
};

/* ioctl: requests whose argument is a descriptor. */
static Bool takes_file(UInt request)
{
	switch (request) {
	case 0x40049409: /* FICLONE */
	case 0x2405:     /* PERF_EVENT_IOC_SET_OUTPUT */
	case 0x40042408: /* PERF_EVENT_IOC_SET_BPF */
	case 0x4c00:     /* LOOP_SET_FD */
	case 0x4c06:     /* LOOP_CHANGE_FD */
	case 0xab00:     /* NBD_SET_SOCK */
		return True;
	}
	return False;
}

static UInt of_kcmp(ThreadId tid)
{
	UWord self = (UWord)cp_syscall(SYS_getpid), type = hidden_argument(tid, 2);
	UInt bits = 0;

	if (type != COMPARE_FILES && type != COMPARE_POLLED)
		return 0;
	if (hidden_argument(tid, 0) == self)
		bits |= FOURTH;
	if (hidden_argument(tid, 1) == self && type == COMPARE_FILES)
		bits |= FIFTH;
	return bits;
}

static UInt sometimes(ThreadId tid, Int number)
{
	UWord first = hidden_argument(tid, 0), second = hidden_argument(tid, 1);

	switch (number) {
	case SYS_fcntl:
		return second == DUPFD_QUERY ? THIRD : 0;
	case SYS_ioctl:
		return takes_file((UInt)second) ? THIRD : 0;
	case SYS_waitid:
		return first == BY_PIDFD ? SECOND : 0;
	case SYS_kcmp:
		return of_kcmp(tid);
	case SYS_prctl:
		return first == PR_SET_MM && second == PR_SET_MM_EXE_FILE ? THIRD : 0;
	case SYS_perf_event_open:
		return hidden_argument(tid, 4) & OF_CGROUP ? SECOND : 0;
	case FSCONFIG:
		return second >= CONFIG_PATH && second <= CONFIG_FD ? FIFTH : 0;
	case PIDFD_GETFD:
		return hidden_is_this_process((Int)first) ? SECOND : 0;
	}
	return 0;
}

UInt hidden_takes(ThreadId tid, Int number)
{
	UInt taken = number >= 0 && number < (Int)sizeof(takers) ? takers[number] : 0;

	return taken & CONDITIONAL ? (taken & ~CONDITIONAL) | sometimes(tid, number)
				   : taken;
}

/* ---- paths ---- */

static const UChar paths[] = {
#ifdef SYS_open
	[SYS_open] = FIRST,
	[SYS_creat] = FIRST,
	[SYS_stat] = FIRST,
	[SYS_lstat] = FIRST,
	[SYS_access] = FIRST,
	[SYS_readlink] = FIRST,
	[SYS_chmod] = FIRST,
	[SYS_chown] = FIRST,
	[SYS_lchown] = FIRST,
	[SYS_link] = FIRST | SECOND,
	[SYS_rename] = FIRST | SECOND,
	[SYS_symlink] = SECOND,
	[SYS_unlink] = FIRST,
	[SYS_mkdir] = FIRST,
	[SYS_rmdir] = FIRST,
	[SYS_mknod] = FIRST,
	[SYS_utime] = FIRST,
	[SYS_utimes] = FIRST,
	[SYS_futimesat] = SECOND,
#endif
	[SYS_openat] = SECOND,
	[SYS_newfstatat] = SECOND,
	[SYS_statx] = SECOND,
	[SYS_faccessat] = SECOND,
	[SYS_readlinkat] = SECOND,
	[SYS_fchmodat] = SECOND,
	[SYS_fchownat] = SECOND,
	[SYS_linkat] = SECOND | FOURTH,
	[SYS_renameat] = SECOND | FOURTH,
	[SYS_renameat2] = SECOND | FOURTH,
	[SYS_symlinkat] = THIRD,
	[SYS_unlinkat] = SECOND,
	[SYS_mkdirat] = SECOND,
	[SYS_mknodat] = SECOND,
	[SYS_utimensat] = SECOND,
	[SYS_name_to_handle_at] = SECOND,
	[SYS_execve] = FIRST,
	[SYS_execveat] = SECOND,
	[SYS_chdir] = FIRST,
	[SYS_chroot] = FIRST,
	[SYS_truncate] = FIRST,
	[SYS_statfs] = FIRST,
	[SYS_mount] = FIRST | SECOND,
	[SYS_umount2] = FIRST,
	[SYS_swapon] = FIRST,
	[SYS_swapoff] = FIRST,
	[SYS_acct] = FIRST,
	[SYS_quotactl] = SECOND,
	[SYS_pivot_root] = FIRST | SECOND,
	[SYS_getxattr] = FIRST,
	[SYS_lgetxattr] = FIRST,
	[SYS_setxattr] = FIRST,
	[SYS_lsetxattr] = FIRST,
	[SYS_listxattr] = FIRST,
	[SYS_llistxattr] = FIRST,
	[SYS_removexattr] = FIRST,
	[SYS_lremovexattr] = FIRST,
	[SYS_inotify_add_watch] = SECOND,
	[SYS_fanotify_mark] = FIFTH,
	[OPEN_TREE] = SECOND,
	[MOVE_MOUNT] = SECOND | FOURTH,
	[FSPICK] = SECOND,
	[OPENAT2] = SECOND,
	[FACCESSAT2] = SECOND,
	[MOUNT_SETATTR] = SECOND,
	[FCHMODAT2] = SECOND,
	[SETXATTRAT] = SECOND,
	[GETXATTRAT] = SECOND,
	[LISTXATTRAT] = SECOND,
	[REMOVEXATTRAT] = SECOND,
	[OPEN_TREE_ATTR] = SECOND,
	[FILE_GETATTR] = SECOND,
	[FILE_SETATTR] = SECOND,
};

UInt hidden_paths_of(Int number)
{
	return number >= 0 && number < (Int)sizeof(paths) ? paths[number] : 0;
}
