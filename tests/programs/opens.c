/* SPDX-License-Identifier: MIT
 *	opens list
 *	opens FUNCTION [LIMIT]
 * Calls FUNCTION until it fails, keeping what it opens (with LIMIT: below that limit of
 * descriptors, which it sets first), and prints how often it did not, and why not.
 * list: the functions that it knows.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "cachepeek.h"
#include "fresh.h"

enum { MOST = 100000, QUEUE = 300 };

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int at, const char *path, int flags);
int __openat64_2(int at, const char *path, int flags);

#define NULL_DEVICE "/dev/null"

static int listener, two[2];
static sigset_t none;

/* A file that has a name of its own, and none afterwards. */
static int with_name(int suffix, int (*open_it)(char *path))
{
	char path[] = "opens-XXXXXX.tmp";
	int fd;

	if (!suffix)
		path[12] = '\0';
	fd = open_it(path);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int by_mkstemp(char *path)
{
	return mkstemp(path);
}
static int by_mkstemp64(char *path)
{
	return mkstemp64(path);
}
static int by_mkostemp(char *path)
{
	return mkostemp(path, O_CLOEXEC);
}
static int by_mkostemp64(char *path)
{
	return mkostemp64(path, O_CLOEXEC);
}
static int by_mkstemps(char *path)
{
	return mkstemps(path, 4);
}
static int by_mkstemps64(char *path)
{
	return mkstemps64(path, 4);
}
static int by_mkostemps(char *path)
{
	return mkostemps(path, 4, O_CLOEXEC);
}
static int by_mkostemps64(char *path)
{
	return mkostemps64(path, 4, O_CLOEXEC);
}

static int there(const void *stream)
{
	return stream ? 0 : -1;
}

static int by_shm_open(void)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/cachepeek-opens-%d", (int)getpid());
	fd = shm_open(name, O_RDWR | O_CREAT, 0600);
	shm_unlink(name);
	return fd;
}

#define FUNCTIONS(X)                                                                     \
	X(open, open(NULL_DEVICE, O_RDONLY))                                             \
	X(open64, open64(NULL_DEVICE, O_RDONLY))                                         \
	X(openat, openat(AT_FDCWD, NULL_DEVICE, O_RDONLY))                               \
	X(openat64, openat64(AT_FDCWD, NULL_DEVICE, O_RDONLY))                           \
	X(__open_2, __open_2(NULL_DEVICE, O_RDONLY))                                     \
	X(__open64_2, __open64_2(NULL_DEVICE, O_RDONLY))                                 \
	X(__openat_2, __openat_2(AT_FDCWD, NULL_DEVICE, O_RDONLY))                       \
	X(__openat64_2, __openat64_2(AT_FDCWD, NULL_DEVICE, O_RDONLY))                   \
	X(creat, creat(NULL_DEVICE, 0600))                                               \
	X(creat64, creat64(NULL_DEVICE, 0600))                                           \
	X(socket, socket(AF_UNIX, SOCK_STREAM, 0))                                       \
	X(socketpair, socketpair(AF_UNIX, SOCK_STREAM, 0, two))                          \
	X(accept, accept(listener, NULL, NULL))                                          \
	X(accept4, accept4(listener, NULL, NULL, SOCK_CLOEXEC))                          \
	X(pipe, pipe(two))                                                               \
	X(pipe2, pipe2(two, O_CLOEXEC))                                                  \
	X(dup, dup(1))                                                                   \
	X(fcntl, fcntl(1, F_DUPFD, 3))                                                   \
	X(epoll_create, epoll_create(1))                                                 \
	X(epoll_create1, epoll_create1(0))                                               \
	X(eventfd, eventfd(0, 0))                                                        \
	X(signalfd, signalfd(-1, &none, 0))                                              \
	X(timerfd_create, timerfd_create(CLOCK_MONOTONIC, 0))                            \
	X(inotify_init, inotify_init())                                                  \
	X(inotify_init1, inotify_init1(0))                                               \
	X(fanotify_init, fanotify_init(FAN_CLASS_NOTIF, 0))                              \
	X(memfd_create, memfd_create("opens", 0))                                        \
	X(shm_open, by_shm_open())                                                       \
	X(posix_openpt, posix_openpt(O_RDWR | O_NOCTTY))                                 \
	X(openpty, openpty(&two[0], &two[1], NULL, NULL, NULL))                          \
	X(mkstemp, with_name(0, by_mkstemp))                                             \
	X(mkstemp64, with_name(0, by_mkstemp64))                                         \
	X(mkostemp, with_name(0, by_mkostemp))                                           \
	X(mkostemp64, with_name(0, by_mkostemp64))                                       \
	X(mkstemps, with_name(1, by_mkstemps))                                           \
	X(mkstemps64, with_name(1, by_mkstemps64))                                       \
	X(mkostemps, with_name(1, by_mkostemps))                                         \
	X(mkostemps64, with_name(1, by_mkostemps64))                                     \
	X(fopen, there(fopen(NULL_DEVICE, "r")))                                         \
	X(fopen64, there(fopen64(NULL_DEVICE, "r")))                                     \
	X(tmpfile, there(tmpfile()))                                                     \
	X(tmpfile64, there(tmpfile64()))                                                 \
	X(popen, there(popen(":", "r")))                                                 \
	X(opendir, there(opendir("/")))                                                  \
	X(syscall, (int)syscall(SYS_dup, 1))

#define X(name, call)                                                                    \
	static int call_##name(void)                                                     \
	{                                                                                \
		return call;                                                             \
	}
FUNCTIONS(X)
#undef X

static const struct {
	const char *name;
	int (*call)(void);
} functions[] = {
#define X(name, call) {#name, call_##name},
	FUNCTIONS(X)
#undef X
};

enum { NFUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* Connections that wait to be accepted; their other ends are closed. */
static void fill_queue(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(sa_family_t); /* the kernel finds a name */

	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(listener, (struct sockaddr *)&address, size);
	listen(listener, QUEUE);
	size = sizeof(address);
	getsockname(listener, (struct sockaddr *)&address, &size);
	for (int i = 0; i < QUEUE; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

		connect(fd, (struct sockaddr *)&address, size);
		close(fd);
	}
	fcntl(listener, F_SETFL, O_NONBLOCK);
}

static void limit_to(rlim_t limit)
{
	struct rlimit both = {limit, limit};

	if (setrlimit(RLIMIT_NOFILE, &both) < 0)
		printf("no limit of %d: %s\n", (int)limit, strerror(errno));
}

static void touch(void)
{
	volatile char *memory = fresh(20 * PAGE);

	CACHEPEEK_BEGIN("touch");
	store_each(memory, 20, PAGE);
	CACHEPEEK_END("touch");
}

static int call_often(int (*call)(void))
{
	int count = 0, error;

	while (count < MOST && call() >= 0)
		count++;
	error = errno;
	touch();
	printf("%d, %s\n", count, strerror(error));
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "list";

	if (argc > 2)
		limit_to(strtoul(argv[2], NULL, 10));
	if (strncmp(name, "accept", 6) == 0)
		fill_queue();
	for (int i = 0; i < NFUNCTIONS; i++) {
		if (strcmp(name, functions[i].name) == 0)
			return call_often(functions[i].call);
		if (strcmp(name, "list") == 0)
			printf("%s\n", functions[i].name);
	}
	return strcmp(name, "list") != 0;
}
