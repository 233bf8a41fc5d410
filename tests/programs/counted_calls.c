/* SPDX-License-Identifier: MIT
 *
 * System calls with an argument that counts the elements of an array, with counts that
 * the kernel takes, cuts or refuses: for each a line with what it answered.  The array
 * has all that are counted.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 65537, WIDEST = 64, FILES = 16 };

static char zeros[MOST * WIDEST]; /* of elements */
static int ends[2];               /* of a pair of sockets */
static int polled;
static const struct timespec none;

static const long counts[] = {0, 1, 2, FILES, FILES + 1, 1024, 1025, 65536, MOST};

static void tell(const char *call, long count, long result)
{
	printf("%s, %ld: ", call, count);
	if (result < 0)
		printf("%s\n", strerrorname_np(errno));
	else
		printf("%ld\n", result);
	fflush(stdout);
}

#define TRY(call)                                                                        \
	for (size_t i_ = 0; i_ < sizeof(counts) / sizeof(*counts); i_++) {               \
		const long n = counts[i_];                                               \
		tell(#call, n, (long)(call));                                            \
	}

static void prepare(void)
{
	const struct rlimit files = {FILES, 4096};

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends);
	polled = epoll_create1(0);
	setrlimit(RLIMIT_NOFILE, &files);
}

int main(void)
{
	prepare();
	TRY(syscall(SYS_ppoll, zeros, n, &none, NULL, 8));
#ifdef SYS_poll
	TRY(syscall(SYS_poll, zeros, n, 0));
#endif
	TRY(syscall(SYS_readv, ends[0], zeros, n));
	TRY(syscall(SYS_writev, ends[0], zeros, n));
	TRY(syscall(SYS_preadv, ends[0], zeros, n, 0, 0));
	TRY(syscall(SYS_pwritev, ends[0], zeros, n, 0, 0));
	TRY(syscall(SYS_preadv2, ends[0], zeros, n, 0, 0, 0));
	TRY(syscall(SYS_pwritev2, ends[0], zeros, n, 0, 0, 0));
	TRY(syscall(SYS_vmsplice, ends[0], zeros, n, 0));
	TRY(syscall(SYS_process_vm_readv, getpid(), zeros, n, zeros, 1, 0));
	TRY(syscall(SYS_process_vm_readv, getpid(), zeros, 1, zeros, n, 0));
	TRY(syscall(SYS_process_vm_writev, getpid(), zeros, n, zeros, 1, 0));
	TRY(syscall(SYS_process_vm_writev, getpid(), zeros, 1, zeros, n, 0));
	TRY(syscall(SYS_process_madvise, -1, zeros, n, 0, 0));
	TRY(syscall(SYS_sendmsg, ends[0],
		&(struct msghdr){.msg_iov = (void *)zeros, .msg_iovlen = (size_t)n}, 0));
	TRY(syscall(SYS_recvmsg, ends[0],
		&(struct msghdr){.msg_iov = (void *)zeros, .msg_iovlen = (size_t)n}, 0));
	TRY(syscall(SYS_sendmmsg, ends[0], zeros, n, 0));
	TRY(syscall(SYS_recvmmsg, ends[0], zeros, n, 0, NULL));
	TRY(syscall(SYS_semop, -1, zeros, n));
	TRY(syscall(SYS_semtimedop, -1, zeros, n, &none));
	TRY(syscall(SYS_epoll_pwait, polled, zeros, n, 0, NULL, 8));
	TRY(syscall(SYS_getgroups, n, zeros));
	TRY(syscall(SYS_pselect6, n, zeros, NULL, NULL, &none, NULL));
#ifdef SYS_select
	TRY(syscall(SYS_select, n, zeros, NULL, NULL, &(struct timespec){0}));
#endif
	TRY(syscall(SYS_sched_setaffinity, 0, n, zeros));
	TRY(syscall(SYS_sched_getaffinity, 0, n, zeros));
	TRY(syscall(SYS_futex_waitv, zeros, n, 0, &none, 0));
	TRY(syscall(SYS_io_submit, 0, n, zeros));
	TRY(syscall(SYS_io_getevents, 0, 0, n, zeros, &none));
	return 0;
}
