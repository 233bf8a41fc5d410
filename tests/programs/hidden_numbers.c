/* SPDX-License-Identifier: MIT
 *	hidden_numbers
 * Makes calls with each number from the hard limit of descriptors on, where nothing can
 *be open, and prints those that do not say so.  None of them changes anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NUMBERS = 16, NOWHERE = 1000000 };

static char buffer[4096];
static struct iovec vector = {buffer, 1};
static struct epoll_event event;
static int other, set, pair[2];

/* -1 and EBADF where it is none. */
static int poll_one(int fd)
{
	struct pollfd polled = {fd, POLLIN, 0};
	int n = poll(&polled, 1, 0);

	if (polled.fd != fd) {
		errno = EFAULT;
		return -1;
	}
	errno = EBADF;
	return n == 1 && polled.revents == POLLNVAL ? -1 : 0;
}

static int pass_one(int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {{0}};
	struct msghdr message = {0};
	int result;

	message.msg_iov = &vector;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	result = (int)sendmsg(pair[0], &message, MSG_DONTWAIT);
	if (memcmp(CMSG_DATA(&control.header), &fd, sizeof(fd)) == 0)
		return result;
	errno = EFAULT;
	return -1;
}

/* X(name, call) */
#define CALLS(X)                                                                         \
	X(read, syscall(SYS_read, fd, buffer, 0))                                        \
	X(write, syscall(SYS_write, fd, buffer, 0))                                      \
	X(pread64, syscall(SYS_pread64, fd, buffer, 1, 0))                               \
	X(readv, syscall(SYS_readv, fd, &vector, 0))                                     \
	X(preadv2, syscall(SYS_preadv2, fd, &vector, 0, 0, 0, 0))                        \
	X(vmsplice, syscall(SYS_vmsplice, fd, &vector, 0, 0))                            \
	X(sendfile, syscall(SYS_sendfile, other, fd, NULL, 0))                           \
	X(lseek, syscall(SYS_lseek, fd, 0, SEEK_CUR))                                    \
	X(fstat, syscall(SYS_fstat, fd, buffer))                                         \
	X(fstatfs, syscall(SYS_fstatfs, fd, buffer))                                     \
	X(newfstatat, syscall(SYS_newfstatat, fd, "", buffer, AT_EMPTY_PATH))            \
	X(statx, syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0x7ff, buffer))               \
	X(fsync, syscall(SYS_fsync, fd))                                                 \
	X(fdatasync, syscall(SYS_fdatasync, fd))                                         \
	X(flock, syscall(SYS_flock, fd, LOCK_SH | LOCK_NB))                              \
	X(fcntl, syscall(SYS_fcntl, fd, F_GETFL))                                        \
	X(dup, syscall(SYS_dup, fd))                                                     \
	X(dup3, syscall(SYS_dup3, fd, 100, 0))                                           \
	X(dup3 onto, syscall(SYS_dup3, 0, fd, 0))                                        \
	X(F_DUPFD, syscall(SYS_fcntl, fd, F_DUPFD, 0))                                   \
	X(ioctl, syscall(SYS_ioctl, fd, FIONREAD, buffer))                               \
	X(mmap, syscall(SYS_mmap, 0, 4096, PROT_READ, MAP_PRIVATE, fd, 0))               \
	X(fadvise64, syscall(SYS_fadvise64, fd, 0, 0, 0))                                \
	X(readahead, syscall(SYS_readahead, fd, 0, 0))                                   \
	X(getdents64, syscall(SYS_getdents64, fd, buffer, sizeof(buffer)))               \
	X(fchdir, syscall(SYS_fchdir, fd))                                               \
	X(openat, syscall(SYS_openat, fd, "x", O_RDONLY))                                \
	X(faccessat, syscall(SYS_faccessat, fd, "x", 0))                                 \
	X(readlinkat, syscall(SYS_readlinkat, fd, "x", buffer, 10))                      \
	X(unlinkat, syscall(SYS_unlinkat, fd, "x", 0))                                   \
	X(linkat, syscall(SYS_linkat, other, "x", fd, "x", 0))                           \
	X(fgetxattr, syscall(SYS_fgetxattr, fd, "user.x", buffer, 10))                   \
	X(flistxattr, syscall(SYS_flistxattr, fd, buffer, 10))                           \
	X(epoll_ctl, syscall(SYS_epoll_ctl, set, EPOLL_CTL_ADD, fd, &event))             \
	X(inotify_add_watch, syscall(SYS_inotify_add_watch, fd, "/", 1))                 \
	X(timerfd_gettime, syscall(SYS_timerfd_gettime, fd, buffer))                     \
	X(shutdown, syscall(SYS_shutdown, fd, 0))                                        \
	X(getsockname, syscall(SYS_getsockname, fd, NULL, NULL))                         \
	X(recvfrom, syscall(SYS_recvfrom, fd, buffer, 0, 0, 0, 0))                       \
	X(poll, poll_one(fd))                                                            \
	X(SCM_RIGHTS, pass_one(fd))                                                      \
	X(splice, syscall(SYS_splice, fd, NULL, other, NULL, 1, 0))                      \
	X(copy_file_range, syscall(SYS_copy_file_range, fd, NULL, other, NULL, 0, 0))

#define CASE(name, call)                                                                 \
	if (n-- == 0) {                                                                  \
		*what = #name;                                                           \
		return (call) < 0 ? errno : 0;                                           \
	}

static int make_call(int n, int fd, const char **what)
{
	*what = NULL;
	CALLS(CASE)
	return 0;
}

/* Returns whether there is an n-th. */
static bool try_call(int n, int limit)
{
	const char *what;
	int wanted = make_call(n, NOWHERE, &what);

	for (int fd = limit; what && fd < limit + NUMBERS; fd++) {
		int got = make_call(n, fd, &what);

		if (got != wanted)
			printf("%s: limit + %d: %s\n", what, fd - limit, strerror(got));
	}
	return what != NULL;
}

int main(void)
{
	struct rlimit limit;
	int n = 0;

	getrlimit(RLIMIT_NOFILE, &limit);
	other = open("/dev/null", O_RDWR);
	set = epoll_create1(0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		perror("socketpair");
	while (try_call(n, (int)limit.rlim_max))
		n++;
	printf("%d calls\n", n);
	return 0;
}
