/* SPDX-License-Identifier: MIT
 *	descriptors_out
 * Makes each call that makes descriptors where 0, 1, 2 and 3 numbers are free, and prints
 * what it says, and how many numbers it took.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The headers may be older. */
enum {
	OPEN_TREE = 428,
	FSOPEN = 430,
	FSPICK = 433,
	PIDFD_OPEN = 434,
	PIDFD_GETFD = 438,
	LANDLOCK_CREATE_RULESET = 444,
	MEMFD_SECRET = 447,
	IO_URING_SETUP = 425,
	GET_USERNS = 0xb701,
	GET_PEER = 0x5441,
	PROTOCOLS = 200 /* beyond all families */
};

enum { FIRST = 100, MOST_FREE = 3 };

static struct {
	int limit, listening, clients[2], pair[2], terminal, namespace, self, signals;
	struct file_handle *handle;
	int mount;
	union {
		struct file_handle as_handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} place;
} have;

/* ---- what came with messages ---- */

enum { PASSED = 3 };

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(PASSED * sizeof(int))];
};

static void make_message(
	struct msghdr *message, struct iovec *byte, union control *control)
{
	memset(message, 0, sizeof(*message));
	message->msg_iov = byte;
	message->msg_iovlen = 1;
	message->msg_control = control;
	message->msg_controllen = sizeof(*control);
}

static void send_descriptors(void)
{
	static const int fds[PASSED] = {0, 0, 0};
	char data = 'x';
	struct iovec byte = {&data, 1};
	union control control = {{0}};
	struct msghdr message;

	make_message(&message, &byte, &control);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
	if (sendmsg(have.pair[0], &message, 0) != 1)
		perror("sendmsg");
}

/* Three digits: was it cut, and the length of what is there of it. */
static long tell_message(const struct msghdr *message, const union control *control)
{
	long cut = message->msg_flags & MSG_CTRUNC ? 1000 : 0;

	return message->msg_controllen ? cut + (long)control->header.cmsg_len : cut;
}

static long receive(void)
{
	char data;
	struct iovec byte = {&data, 1};
	union control control = {{0}};
	struct msghdr message;

	send_descriptors();
	make_message(&message, &byte, &control);
	if (recvmsg(have.pair[1], &message, 0) != 1)
		return -errno;
	return tell_message(&message, &control);
}

static long receive_many(void)
{
	char data;
	struct iovec byte = {&data, 1};
	union control control = {{0}};
	struct mmsghdr messages[1];

	send_descriptors();
	make_message(&messages[0].msg_hdr, &byte, &control);
	if (syscall(SYS_recvmmsg, have.pair[1], messages, 1, 0, NULL) != 1)
		return -errno;
	return tell_message(&messages[0].msg_hdr, &control);
}

/* ---- calls ---- */

static long map_of_bpf(void)
{
	union bpf_attr attr = {0};

	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static long counter(void)
{
	struct perf_event_attr attr = {0};

	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = 1;
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static long ring(void)
{
	char parameters[120] = {0};

	return syscall(IO_URING_SETUP, 1, parameters);
}

static long ruleset(void)
{
	uint64_t handled = 1;

	return syscall(LANDLOCK_CREATE_RULESET, &handled, sizeof(handled), 0);
}

/* Returns the descriptor, too. */
static long child(void)
{
	int fd = -1, saved;
	long pid = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, &fd, NULL, NULL);

	if (pid == 0)
		_exit(0);
	saved = errno;
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	errno = saved;
	return pid > 0 ? fd : pid;
}

static long queue(void)
{
	long fd = syscall(SYS_mq_open, "cachepeek-test", O_RDWR | O_CREAT, 0600, NULL);

	if (fd >= 0)
		syscall(SYS_mq_unlink, "cachepeek-test");
	return fd;
}

static long accept_any(int fd)
{
	return syscall(SYS_accept4, fd, NULL, NULL, SOCK_CLOEXEC);
}

static int ends[2];
static sigset_t signals;

/* X(name, call) */
#define CALLS(X)                                                                         \
	X(openat, syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY))                  \
	X(open_by_handle_at, syscall(SYS_open_by_handle_at, 0, have.handle, O_RDONLY))   \
	X(mq_open, queue())                                                              \
	X(accept, syscall(SYS_accept, have.listening, NULL, NULL))                       \
	X(accept4, accept_any(have.listening))                                           \
	X(accept of nowhere, accept_any(1000000))                                        \
	X(socket, socket(AF_UNIX, SOCK_STREAM, 0))                                       \
	X(socket of none, socket(PROTOCOLS, SOCK_STREAM, 0))                             \
	X(socketpair, socketpair(AF_UNIX, SOCK_STREAM, 0, ends))                         \
	X(pipe2, syscall(SYS_pipe2, ends, 0))                                            \
	X(dup, syscall(SYS_dup, 0))                                                      \
	X(dup of none, syscall(SYS_dup, -1))                                             \
	X(dup3 onto, syscall(SYS_dup3, 0, FIRST, 0))                                     \
	X(dup3 beyond, syscall(SYS_dup3, 0, have.limit, 0))                              \
	X(F_DUPFD, fcntl(0, F_DUPFD, 0))                                                 \
	X(F_DUPFD up, fcntl(0, F_DUPFD, FIRST + 1))                                      \
	X(F_DUPFD last, fcntl(0, F_DUPFD_CLOEXEC, have.limit - 1))                       \
	X(F_DUPFD beyond, fcntl(0, F_DUPFD_CLOEXEC, have.limit))                         \
	X(F_DUPFD of none, fcntl(-1, F_DUPFD, 0))                                        \
	X(F_GETFD, fcntl(0, F_GETFD))                                                    \
	X(epoll_create1, syscall(SYS_epoll_create1, 0))                                  \
	X(epoll_create1 bad, syscall(SYS_epoll_create1, 1))                              \
	X(eventfd2, syscall(SYS_eventfd2, 0, 0))                                         \
	X(timerfd_create, syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0))               \
	X(signalfd4, syscall(SYS_signalfd4, -1, &signals, 8, 0))                         \
	X(signalfd4 changed, syscall(SYS_signalfd4, have.signals, &signals, 8, 0))       \
	X(inotify_init1, syscall(SYS_inotify_init1, 0))                                  \
	X(fanotify_init, syscall(SYS_fanotify_init, 0, 0))                               \
	X(memfd_create, syscall(SYS_memfd_create, "x", 0))                               \
	X(memfd_secret, syscall(MEMFD_SECRET, 0))                                        \
	X(perf_event_open, counter())                                                    \
	X(bpf, map_of_bpf())                                                             \
	X(io_uring_setup, ring())                                                        \
	X(pidfd_open, syscall(PIDFD_OPEN, getpid(), 0))                                  \
	X(pidfd_getfd, syscall(PIDFD_GETFD, have.self, 0, 0))                            \
	X(clone, child())                                                                \
	X(landlock, ruleset())                                                           \
	X(landlock version, syscall(LANDLOCK_CREATE_RULESET, NULL, 0, 1))                \
	X(open_tree, syscall(OPEN_TREE, AT_FDCWD, "/", 0))                               \
	X(fsopen, syscall(FSOPEN, "tmpfs", 0))                                           \
	X(fspick, syscall(FSPICK, AT_FDCWD, "/proc", 0))                                 \
	X(ioctl of a terminal, ioctl(have.terminal, GET_PEER, O_RDWR | O_NOCTTY))        \
	X(ioctl of a namespace, ioctl(have.namespace, GET_USERNS))                       \
	X(recvmsg, receive())                                                            \
	X(recvmmsg, receive_many())                                                      \
	OLDER(X)

#ifdef SYS_open
#define OLDER(X)                                                                         \
	X(open, syscall(SYS_open, "/dev/null", O_RDONLY))                                \
	X(creat, syscall(SYS_creat, "/dev/null", 0600))                                  \
	X(pipe, syscall(SYS_pipe, ends))                                                 \
	X(dup2 onto, syscall(SYS_dup2, 0, FIRST))                                        \
	X(dup2 beyond, syscall(SYS_dup2, 0, have.limit))                                 \
	X(epoll_create, syscall(SYS_epoll_create, 1))                                    \
	X(eventfd, syscall(SYS_eventfd, 0))                                              \
	X(signalfd, syscall(SYS_signalfd, -1, &signals, 8))                              \
	X(inotify_init, syscall(SYS_inotify_init))
#else
#define OLDER(X)
#endif

#define CASE(name, call)                                                                 \
	if (n-- == 0) {                                                                  \
		*what = #name;                                                           \
		return call;                                                             \
	}

static long make_call(int n, const char **what)
{
	*what = NULL;
	CALLS(CASE)
	return 0;
}

/* ---- all numbers but a few ---- */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int fill(void)
{
	int n = 0;

	while (dup(0) >= 0)
		n++;
	return n;
}

/* How many of the free ones are taken; they are free again then. */
static int take_back(int n_free)
{
	int taken = 0;

	for (int fd = FIRST; fd < FIRST + n_free; fd++)
		if (is_open(fd)) {
			close(fd);
			taken++;
		}
	return taken;
}

/* Returns whether there is an n-th. */
static bool print_call(int n, int n_free)
{
	const char *what = NULL;
	long result;
	int saved;

	errno = 0;
	result = make_call(n, &what);
	saved = errno;
	if (!what)
		return false;
	printf("%s, %d free: %ld ", what, n_free, result);
	printf("%s, %d taken\n", result < 0 ? strerror(saved) : "", take_back(n_free));
	return true;
}

/* Are they still there, and nothing beyond the limit? */
static void print_others(void)
{
	int beyond = 0;

	for (int i = 0; i < 2; i++) {
		struct pollfd at = {have.clients[i], POLLIN | POLLHUP, 0};

		poll(&at, 1, 0);
		printf("client %d: %x\n", i, (unsigned)at.revents);
	}
	for (int fd = have.limit; fd < have.limit + FIRST; fd++)
		beyond += is_open(fd);
	printf("%d beyond\n", beyond);
}

static void listen_for(void)
{
	static const struct sockaddr_un any = {.sun_family = AF_UNIX};
	struct sockaddr_un name;
	socklen_t length = sizeof(name);

	have.listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	bind(have.listening, (const struct sockaddr *)&any, sizeof(any.sun_family));
	getsockname(have.listening, (struct sockaddr *)&name, &length);
	listen(have.listening, 10);
	for (int i = 0; i < 2; i++) {
		have.clients[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(have.clients[i], (struct sockaddr *)&name, length) < 0)
			perror("connect");
	}
}

static void open_others(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	have.limit = (int)limit.rlim_cur;
	listen_for();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, have.pair) < 0)
		perror("socketpair");
	have.terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	if (have.terminal >= 0)
		ioctl(have.terminal, TIOCSPTLCK, &(int){0});
	have.namespace = open("/proc/self/ns/net", O_RDONLY);
	have.self = (int)syscall(PIDFD_OPEN, getpid(), 0);
	have.signals = (int)syscall(SYS_signalfd4, -1, &signals, 8, 0);
	have.handle = &have.place.as_handle;
	have.handle->handle_bytes = MAX_HANDLE_SZ;
	name_to_handle_at(AT_FDCWD, "/dev/null", have.handle, &have.mount, 0);
}

int main(void)
{
	open_others();
	printf("%d more\n", fill());
	for (int n_free = 0; n_free <= MOST_FREE; n_free++) {
		for (int n = 0; print_call(n, n_free); n++)
			;
		print_others();
		close(FIRST + n_free);
	}
	return 0;
}
