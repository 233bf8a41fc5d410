/* SPDX-License-Identifier: MIT
 *	hidden_numbers [names]
 * Makes each call that takes a descriptor with numbers that are not open, about the
 * limits and half of them, and prints those that do not say what they say of a number
 * that none can have.  None of them changes anything.  names: those of the calls.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/fs.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The headers may be older. */
enum {
	PIDFD_SEND_SIGNAL = 424,
	IO_URING_SETUP = 425,
	IO_URING_ENTER = 426,
	IO_URING_REGISTER = 427,
	OPEN_TREE = 428,
	MOVE_MOUNT = 429,
	FSCONFIG = 431,
	FSMOUNT = 432,
	FSPICK = 433,
	PIDFD_OPEN = 434,
	CLOSE_RANGE = 436,
	OPENAT2 = 437,
	PIDFD_GETFD = 438,
	FACCESSAT2 = 439,
	PROCESS_MADVISE = 440,
	EPOLL_PWAIT2 = 441,
	MOUNT_SETATTR = 442,
	QUOTACTL_FD = 443,
	LANDLOCK_CREATE_RULESET = 444,
	LANDLOCK_ADD_RULE = 445,
	LANDLOCK_RESTRICT_SELF = 446,
	PROCESS_MRELEASE = 448,
	CACHESTAT = 451,
	STATMOUNT = 457,
	LISTMOUNT = 458,
	FCHMODAT2 = 452,
	SETXATTRAT = 463,
	GETXATTRAT = 464,
	LISTXATTRAT = 465,
	REMOVEXATTRAT = 466,
	OPEN_TREE_ATTR = 467,
	FILE_GETATTR = 468,
	FILE_SETATTR = 469,
};

enum { NUMBERS = 16, NOWHERE = 1000000, DUPFD_QUERY = 1027, COMPARE_FILES = 0 };

static char buffer[4096];
static long zeros[64];
/* The attributes for mount_setattr: with nothing to do it looks at no descriptor. */
static const uint64_t read_only[4] = {1};
static struct iovec vector = {buffer, 1};
static struct epoll_event event;
static int other, set, pair[2], self, ring, soft;

/* A number that is surely not open: the answer is for that. */
static int answer(long result)
{
	return result < 0 ? errno : 0;
}

/* EBADF where it is none. */
static int poll_one(int fd)
{
	struct pollfd polled = {fd, POLLIN, 0};
	int n = poll(&polled, 1, 0);

	if (polled.fd != fd)
		return EFAULT;
	return n == 1 && polled.revents == POLLNVAL ? EBADF : 0;
}

/* The numbers there are the program's afterwards. */
static int with_word(void *memory, size_t at, int fd, long (*call)(void *memory))
{
	int result, seen;

	memcpy((char *)memory + at, &fd, sizeof(fd));
	result = answer(call(memory));
	memcpy(&seen, (char *)memory + at, sizeof(seen));
	memset((char *)memory + at, 0, sizeof(seen));
	return seen == fd ? result : EFAULT;
}

static long send_it(void *memory)
{
	struct msghdr message = {0};

	message.msg_iov = &vector;
	message.msg_iovlen = 1;
	message.msg_control = memory;
	message.msg_controllen = CMSG_SPACE(sizeof(int));
	return sendmsg(pair[0], &message, MSG_DONTWAIT);
}

static int pass_one(int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {{0}};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(fd));
	return with_word(&control, CMSG_LEN(0), fd, send_it);
}

static long submit_it(void *memory)
{
	static aio_context_t context;
	struct iocb *blocks[] = {memory};
	long result;

	if (!context && syscall(SYS_io_setup, 1, &context) < 0)
		return -1;
	result = syscall(SYS_io_submit, context, 1, blocks);
	return result;
}

static int submit_one(int fd)
{
	struct iocb block = {0};

	block.aio_lio_opcode = IOCB_CMD_FSYNC;
	return with_word(&block, offsetof(struct iocb, aio_fildes), fd, submit_it);
}

static long find_map(void *memory)
{
	return syscall(SYS_bpf, BPF_MAP_FREEZE, memory, 8);
}

static int bpf_one(int fd)
{
	union bpf_attr attributes = {0};

	return with_word(&attributes, 0, fd, find_map);
}

static long register_it(void *memory)
{
	return syscall(IO_URING_REGISTER, ring, 2, memory, 1);
}

static int register_one(int fd)
{
	int files[1];

	return with_word(files, 0, fd, register_it);
}

/* The kernel's answer when the ring was set up; the headers may be older. */
static struct {
	unsigned entries, completions, flags, unused[7];
	unsigned head, tail, mask, others[7];
	unsigned done_head, done_tail, done_mask, done_entries, lost, done;
	unsigned rest[6];
} told;

/* Asks for an fsync. */
static int ring_one(int fd)
{
	static char *queue, *done, *entry;
	int seen, *result;

	if (!entry) {
		queue = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
		done = mmap(
			NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0x8000000);
		entry = mmap(
			NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0x10000000);
	}
	if (queue == MAP_FAILED || done == MAP_FAILED || entry == MAP_FAILED)
		return ENOSYS;
	memset(entry, 0, 64);
	entry[0] = 3;
	memcpy(entry + 4, &fd, sizeof(fd));
	++*(unsigned *)(queue + told.tail);
	if (syscall(IO_URING_ENTER, ring, 1, 1, 1, NULL, 0) < 0)
		return errno;
	memcpy(&seen, entry + 4, sizeof(seen));
	result = (int *)(done + told.done +
			 16 * (size_t)(*(unsigned *)(done + told.done_head) &
				       *(unsigned *)(done + told.done_mask)) +
			 8);
	++*(unsigned *)(done + told.done_head);
	return seen == fd ? -*result : EFAULT;
}

static long clone_range(void *memory)
{
	return ioctl(other, FICLONERANGE, memory);
}

static int clone_one(int fd)
{
	struct file_clone_range range = {0};

	return with_word(&range, 0, fd, clone_range);
}

static long attach_it(void *memory)
{
	return setsockopt(pair[0], SOL_SOCKET, 50, memory, sizeof(int));
}

static int attach_one(int fd)
{
	int program[1];

	return with_word(program, 0, fd, attach_it);
}

static int rules = -1;

static long add_rule(void *memory)
{
	return syscall(LANDLOCK_ADD_RULE, rules, 1, memory, 0);
}

static long stat_mount(void *memory)
{
	return syscall(STATMOUNT, memory, buffer, sizeof(buffer), 0);
}

static long list_mounts(void *memory)
{
	return syscall(LISTMOUNT, memory, buffer, 1, 0);
}

/* In a namespace of mounts: older kernels want nothing there, of any number. */
static int mounts_of(int fd, long (*call)(void *memory))
{
	uint64_t request[4] = {32, UINT64_MAX};

	return with_word(request, 4, fd, call);
}

static int rule_one(int fd)
{
	long rule[2] = {4, 0};

	return with_word(rule, 8, fd, add_rule);
}

/* With the table of the kernel as large as it gets. */
static int select_one(int fd)
{
	static fd_set sets[16];
	struct timespec now = {0, 0};
	int result;

	if (fd >= (int)sizeof(sets) * 8 || fd >= soft)
		return EBADF;
	FD_SET(fd % FD_SETSIZE, &sets[fd / FD_SETSIZE]);
	result = answer(syscall(SYS_pselect6, fd + 1, sets, NULL, NULL, &now, NULL));
	FD_CLR(fd % FD_SETSIZE, &sets[fd / FD_SETSIZE]);
	return result;
}

static int by_path(const char *directory, int fd)
{
	char path[64];
	struct stat about;

	snprintf(path, sizeof(path), directory, fd);
	return answer(stat(path, &about));
}

static int by_name(int fd)
{
	static int directory = -1;
	char name[16];

	if (directory < 0)
		directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
	snprintf(name, sizeof(name), "%d", fd);
	return answer(readlinkat(directory, name, buffer, sizeof(buffer)));
}

static int in_list(const char *path, int fd)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int found = ENOENT;

	if (!directory)
		return errno;
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) == fd &&
			fd != dirfd(directory))
			found = 0;
	closedir(directory);
	return found;
}

#define CALL(...) answer(syscall(__VA_ARGS__))
#define PATH_AT(number, ...) CALL(number, fd, "x", __VA_ARGS__)

/* clang-format off */
/* X(name, what it says) */
#define CALLS(X)                                                                         \
	X(read, CALL(SYS_read, fd, buffer, 0))                                           \
	X(write, CALL(SYS_write, fd, buffer, 0))                                         \
	X(close, CALL(SYS_close, fd))                                                    \
	X(fstat, CALL(SYS_fstat, fd, buffer))                                            \
	X(lseek, CALL(SYS_lseek, fd, 0, SEEK_CUR))                                       \
	X(ioctl, CALL(SYS_ioctl, fd, FIONREAD, buffer))                                  \
	X(ioctl FICLONE, CALL(SYS_ioctl, other, FICLONE, fd))                            \
	X(ioctl FICLONERANGE, clone_one(fd))                                             \
	X(pread64, CALL(SYS_pread64, fd, buffer, 1, 0))                                  \
	X(pwrite64, CALL(SYS_pwrite64, fd, buffer, 0, 0))                                \
	X(readv, CALL(SYS_readv, fd, &vector, 0))                                        \
	X(writev, CALL(SYS_writev, fd, &vector, 0))                                      \
	X(preadv, CALL(SYS_preadv, fd, &vector, 0, 0, 0))                                \
	X(pwritev, CALL(SYS_pwritev, fd, &vector, 0, 0, 0))                              \
	X(preadv2, CALL(SYS_preadv2, fd, &vector, 0, 0, 0, 0))                           \
	X(pwritev2, CALL(SYS_pwritev2, fd, &vector, 0, 0, 0, 0))                         \
	X(vmsplice, CALL(SYS_vmsplice, fd, &vector, 0, 0))                               \
	X(dup, CALL(SYS_dup, fd))                                                        \
	X(dup3, CALL(SYS_dup3, fd, fd == 100 ? 101 : 100, 0))                                              \
	X(fcntl, CALL(SYS_fcntl, fd, F_GETFL))                                           \
	X(fcntl F_DUPFD, CALL(SYS_fcntl, fd, F_DUPFD, 0))                                \
	X(fcntl F_DUPFD_QUERY, CALL(SYS_fcntl, other, DUPFD_QUERY, fd))                  \
	X(flock, CALL(SYS_flock, fd, LOCK_SH | LOCK_NB))                                 \
	X(fsync, CALL(SYS_fsync, fd))                                                    \
	X(fdatasync, CALL(SYS_fdatasync, fd))                                            \
	X(syncfs, CALL(SYS_syncfs, fd))                                                  \
	X(ftruncate, CALL(SYS_ftruncate, fd, 100000000))                                 \
	X(fallocate, CALL(SYS_fallocate, fd, 0, 0, 10))                                  \
	X(fchmod, CALL(SYS_fchmod, fd, 0600))                                            \
	X(fchown, CALL(SYS_fchown, fd, -1, -1))                                          \
	X(fstatfs, CALL(SYS_fstatfs, fd, buffer))                                        \
	X(fadvise64, CALL(SYS_fadvise64, fd, 0, 0, 0))                                   \
	X(readahead, CALL(SYS_readahead, fd, 0, 0))                                      \
	X(sync_file_range, CALL(SYS_sync_file_range, fd, 0, 0, 0))                       \
	X(getdents64, CALL(SYS_getdents64, fd, buffer, sizeof(buffer)))                  \
	X(fchdir, CALL(SYS_fchdir, fd))                                                  \
	X(openat, PATH_AT(SYS_openat, O_RDONLY))                                         \
	X(newfstatat, CALL(SYS_newfstatat, fd, "", buffer, AT_EMPTY_PATH))               \
	X(statx, CALL(SYS_statx, fd, "", AT_EMPTY_PATH, 0x7ff, buffer))                  \
	X(utimensat, CALL(SYS_utimensat, fd, NULL, NULL, 0))                             \
	X(faccessat, PATH_AT(SYS_faccessat, 0))                                          \
	X(fchmodat, PATH_AT(SYS_fchmodat, 0600))                                         \
	X(fchownat, CALL(SYS_fchownat, fd, "", -1, -1, AT_EMPTY_PATH))                   \
	X(mkdirat, PATH_AT(SYS_mkdirat, 0700))                                           \
	X(mknodat, PATH_AT(SYS_mknodat, S_IFIFO | 0600, 0))                              \
	X(unlinkat, PATH_AT(SYS_unlinkat, 0))                                            \
	X(readlinkat, PATH_AT(SYS_readlinkat, buffer, 10))                               \
	X(name_to_handle_at, CALL(SYS_name_to_handle_at, fd, "", zeros, buffer, AT_EMPTY_PATH)) \
	X(open_by_handle_at, CALL(SYS_open_by_handle_at, fd, zeros, O_RDONLY))           \
	X(execveat, CALL(SYS_execveat, fd, "", (char *[]){"x", NULL}, (char *[]){NULL}, AT_EMPTY_PATH)) \
	X(linkat, CALL(SYS_linkat, fd, "x", other, "x", 0))                              \
	X(linkat to, CALL(SYS_linkat, other, "x", fd, "x", 0))                           \
	X(renameat, CALL(SYS_renameat, fd, "x", other, "x"))                             \
	X(renameat2, CALL(SYS_renameat2, fd, "x", other, "x", 0))                        \
	X(symlinkat, CALL(SYS_symlinkat, "x", fd, "x"))                                  \
	X(fgetxattr, CALL(SYS_fgetxattr, fd, "user.x", buffer, 10))                      \
	X(fsetxattr, CALL(SYS_fsetxattr, fd, "user.x", buffer, 1, 0))                    \
	X(flistxattr, CALL(SYS_flistxattr, fd, buffer, 10))                              \
	X(fremovexattr, CALL(SYS_fremovexattr, fd, "user.x"))                            \
	X(epoll_ctl, CALL(SYS_epoll_ctl, set, EPOLL_CTL_ADD, fd, &event))                \
	X(epoll_ctl set, CALL(SYS_epoll_ctl, fd, EPOLL_CTL_ADD, other, &event))          \
	X(epoll_pwait, CALL(SYS_epoll_pwait, fd, &event, 1, 0, NULL, 8))                 \
	X(epoll_pwait2, CALL(EPOLL_PWAIT2, fd, &event, 1, zeros, NULL, 8))               \
	X(inotify_add_watch, CALL(SYS_inotify_add_watch, fd, "/", 1))                    \
	X(inotify_rm_watch, CALL(SYS_inotify_rm_watch, fd, 1))                           \
	X(fanotify_mark, CALL(SYS_fanotify_mark, fd, 1, 1, AT_FDCWD, "/"))               \
	X(signalfd4, CALL(SYS_signalfd4, fd, zeros, 8, 0))                               \
	X(timerfd_settime, CALL(SYS_timerfd_settime, fd, 0, zeros, NULL))                \
	X(timerfd_gettime, CALL(SYS_timerfd_gettime, fd, buffer))                        \
	X(bind, CALL(SYS_bind, fd, zeros, 2))                                            \
	X(connect, CALL(SYS_connect, fd, zeros, 2))                                      \
	X(listen, CALL(SYS_listen, fd, 1))                                               \
	X(accept, CALL(SYS_accept, fd, NULL, NULL))                                      \
	X(accept4, CALL(SYS_accept4, fd, NULL, NULL, 0))                                 \
	X(getsockname, CALL(SYS_getsockname, fd, NULL, NULL))                            \
	X(getpeername, CALL(SYS_getpeername, fd, NULL, NULL))                            \
	X(sendto, CALL(SYS_sendto, fd, buffer, 0, 0, NULL, 0))                           \
	X(recvfrom, CALL(SYS_recvfrom, fd, buffer, 0, 0, NULL, NULL))                    \
	X(sendmsg, CALL(SYS_sendmsg, fd, zeros, 0))                                      \
	X(sendmsg SCM_RIGHTS, pass_one(fd))                                              \
	X(recvmsg, CALL(SYS_recvmsg, fd, zeros, 0))                                      \
	X(sendmmsg, CALL(SYS_sendmmsg, fd, zeros, 1, 0))                                 \
	X(recvmmsg, CALL(SYS_recvmmsg, fd, zeros, 1, 0, NULL))                           \
	X(setsockopt, CALL(SYS_setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, zeros, 4))      \
	X(setsockopt SO_ATTACH_BPF, attach_one(fd))                                      \
	X(getsockopt, CALL(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, buffer, zeros))      \
	X(shutdown, CALL(SYS_shutdown, fd, 0))                                           \
	X(mq_timedsend, CALL(SYS_mq_timedsend, fd, buffer, 0, 0, NULL))                  \
	X(mq_timedreceive, CALL(SYS_mq_timedreceive, fd, buffer, 0, NULL, NULL))         \
	X(mq_notify, CALL(SYS_mq_notify, fd, NULL))                                      \
	X(mq_getsetattr, CALL(SYS_mq_getsetattr, fd, NULL, buffer))                      \
	X(finit_module, CALL(SYS_finit_module, fd, "", 0))                               \
	X(kexec_file_load, CALL(SYS_kexec_file_load, fd, other, 0, NULL, 0))             \
	X(setns, CALL(SYS_setns, fd, 0))                                                 \
	X(mmap, CALL(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 0))                  \
	X(perf_event_open, CALL(SYS_perf_event_open, buffer, 0, -1, fd, 0))              \
	X(perf_event_open cgroup, CALL(SYS_perf_event_open, buffer, fd, 0, -1, 4))       \
	X(sendfile, CALL(SYS_sendfile, other, fd, NULL, 0))                              \
	X(sendfile to, CALL(SYS_sendfile, fd, other, NULL, 0))                           \
	X(tee, CALL(SYS_tee, fd, other, 1, 0))                                           \
	X(splice, CALL(SYS_splice, fd, NULL, other, NULL, 1, 0))                         \
	X(splice to, CALL(SYS_splice, other, NULL, fd, NULL, 1, 0))                      \
	X(copy_file_range, CALL(SYS_copy_file_range, fd, NULL, other, NULL, 0, 0))       \
	X(copy_file_range to, CALL(SYS_copy_file_range, other, NULL, fd, NULL, 0, 0))    \
	X(kcmp, CALL(SYS_kcmp, getpid(), getpid(), COMPARE_FILES, other, fd))            \
	X(waitid, CALL(SYS_waitid, 3, fd, zeros, WEXITED | WNOHANG, NULL))               \
	X(prctl, CALL(SYS_prctl, PR_SET_MM, PR_SET_MM_EXE_FILE, fd, 0, 0))               \
	X(io_submit, submit_one(fd))                                                     \
	X(bpf, bpf_one(fd))                                                              \
	X(poll, poll_one(fd))                                                            \
	X(pselect6, select_one(fd))                                                      \
	X(pidfd_send_signal, CALL(PIDFD_SEND_SIGNAL, fd, 0, NULL, 0))                    \
	X(pidfd_getfd, CALL(PIDFD_GETFD, fd, 0, 0))                                      \
	X(pidfd_getfd of, CALL(PIDFD_GETFD, self, fd, 0))                                \
	X(io_uring_enter, CALL(IO_URING_ENTER, fd, 0, 0, 0, NULL, 0))                    \
	X(io_uring_enter fsync, ring_one(fd))                                            \
	X(io_uring_register, CALL(IO_URING_REGISTER, fd, 2, zeros, 1))                   \
	X(io_uring_register files, register_one(fd))                                     \
	X(open_tree, PATH_AT(OPEN_TREE, 0))                                              \
	X(open_tree_attr, PATH_AT(OPEN_TREE_ATTR, 0, NULL, 0))                           \
	X(move_mount, CALL(MOVE_MOUNT, fd, "x", AT_FDCWD, "/", 0))                       \
	X(fsconfig, CALL(FSCONFIG, fd, 6, NULL, NULL, 0))                                \
	X(fsmount, CALL(FSMOUNT, fd, 0, 0))                                              \
	X(fspick, PATH_AT(FSPICK, 0))                                                    \
	X(openat2, PATH_AT(OPENAT2, zeros, 24))                                          \
	X(faccessat2, PATH_AT(FACCESSAT2, 0, 0))                                         \
	X(fchmodat2, PATH_AT(FCHMODAT2, 0600, 0))                                        \
	X(process_madvise, CALL(PROCESS_MADVISE, fd, &vector, 1, MADV_COLD, 0))          \
	X(process_mrelease, CALL(PROCESS_MRELEASE, fd, 0))                               \
	X(mount_setattr, PATH_AT(MOUNT_SETATTR, 0, read_only, 32))                       \
	X(quotactl_fd, CALL(QUOTACTL_FD, fd, 0, 0, NULL))                                \
	X(landlock_add_rule, CALL(LANDLOCK_ADD_RULE, fd, 1, zeros, 0))                   \
	X(statmount in, mounts_of(fd, stat_mount))                                       \
	X(listmount in, mounts_of(fd, list_mounts))                                      \
	X(landlock_add_rule parent, rule_one(fd))                                        \
	X(landlock_restrict_self, CALL(LANDLOCK_RESTRICT_SELF, fd, 0))                   \
	X(cachestat, CALL(CACHESTAT, fd, zeros, buffer, 0))                              \
	X(setxattrat, PATH_AT(SETXATTRAT, 0, "user.x", zeros, 16))                       \
	X(getxattrat, PATH_AT(GETXATTRAT, 0, "user.x", zeros, 16))                       \
	X(listxattrat, PATH_AT(LISTXATTRAT, 0, buffer, 10))                              \
	X(removexattrat, PATH_AT(REMOVEXATTRAT, 0, "user.x"))                            \
	X(file_getattr, PATH_AT(FILE_GETATTR, buffer, 24, 0))                            \
	X(file_setattr, PATH_AT(FILE_SETATTR, zeros, 24, 0))                             \
	X(close_range, CALL(CLOSE_RANGE, fd, fd, 0))                                     \
	X(/proc/self/fd/N, by_path("/proc/self/fd/%d", fd))                              \
	X(/dev/fd/N, by_path("/dev/fd/%d", fd))                                          \
	X(/proc/thread-self/fdinfo/N, by_path("/proc/thread-self/fdinfo/%d", fd))        \
	X(N in /proc/self/fd, by_name(fd))                                               \
	X(list of /proc/self/fd, in_list("/proc/self/fd", fd))                           \
	X(list of /proc/thread-self/fdinfo, in_list("/proc/thread-self/fdinfo", fd))     \
	OLD_CALLS(X)

#ifdef SYS_open
#define OLD_CALLS(X)                                                                     \
	X(dup2, CALL(SYS_dup2, fd, fd == 100 ? 101 : 100))                                                 \
	X(getdents, CALL(SYS_getdents, fd, buffer, sizeof(buffer)))                      \
	X(futimesat, CALL(SYS_futimesat, fd, "x", NULL))                                 \
	X(epoll_wait, CALL(SYS_epoll_wait, fd, &event, 1, 0))                            \
	X(signalfd, CALL(SYS_signalfd, fd, zeros, 8))                                    \
	X(select, select_one(fd))
#else
#define OLD_CALLS(X)
#endif
/* clang-format on */

#define CASE(name, call)                                                                 \
	if (n-- == 0) {                                                                  \
		*what = #name;                                                           \
		return fd < 0 ? 0 : (call);                                              \
	}

static int make_call(int n, int fd, const char **what)
{
	*what = NULL;
	CALLS(CASE)
	return 0;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static bool is_near(int fd, int limit)
{
	return fd >= limit - NUMBERS && fd < limit + NUMBERS;
}

/* Returns whether there is an n-th. */
static bool try_call(int n, int hard)
{
	const char *what;
	int wanted, got, said = 0;

	make_call(n, -1, &what);
	if (!what)
		return false;
	wanted = make_call(n, NOWHERE, &what);
	for (int fd = 3; fd < hard + NUMBERS; fd++) {
		if (!(is_near(fd, soft) || is_near(fd, soft / 2) || is_near(fd, hard)) ||
			is_open(fd))
			continue;
		got = make_call(n, fd, &what);
		if (got != wanted && said++ == 0)
			printf("%s: %d: %s, not %s\n", what, fd, strerror(got),
				strerror(wanted));
	}
	return true;
}

/* The kernel looks at as many bits of a set as its table has room for. */
static void widen_table(void)
{
	if (dup2(0, soft - 1) == soft - 1)
		close(soft - 1);
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	const char *what = "";
	int n = 0;

	(void)argv;
	for (; argc > 1 && what; n++) {
		make_call(n, -1, &what);
		if (what)
			puts(what);
	}
	if (argc > 1)
		return 0;
	getrlimit(RLIMIT_NOFILE, &limit);
	soft = (int)limit.rlim_cur;
	other = open("/dev/null", O_RDWR);
	set = epoll_create1(0);
	self = (int)syscall(PIDFD_OPEN, getpid(), 0);
	memset(zeros, 0, sizeof(zeros));
	ring = (int)syscall(IO_URING_SETUP, 1, &told);
	zeros[0] = 4;
	rules = (int)syscall(LANDLOCK_CREATE_RULESET, zeros, 8, 0);
	zeros[0] = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		perror("socketpair");
	widen_table();
	while (try_call(n, (int)limit.rlim_max))
		n++;
	printf("%d calls\n", n);
	return 0;
}
