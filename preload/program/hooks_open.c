/* SPDX-License-Identifier: MIT
 *
 * Overrides: open, open64, openat, openat64, __open_2, __open64_2, __openat_2,
 *   __openat64_2, creat, creat64, socket, socketpair, accept, accept4, pipe, pipe2,
 *   dup, epoll_create, epoll_create1, eventfd, signalfd, timerfd_create,
 *   inotify_init, inotify_init1, fanotify_init, memfd_create, shm_open, posix_openpt,
 *   openpty, mkstemp, mkstemp64, mkostemp, mkostemp64, mkstemps, mkstemps64,
 *   mkostemps, mkostemps64, fopen, fopen64, tmpfile, tmpfile64, popen, opendir.
 *
 * Where the limit leaves us no numbers above it, ours are among those that the
 * program may use: when it has used up all others, it gets ours.  Nothing else is
 * changed: each call is the real one's, until it fails for that.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pty.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/export.h"
#include "preload/program/descriptors.h"
#include "preload/libc/real.h"

/* _FORTIFY_SOURCE turns calls without a mode into these. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int at, const char *path, int flags);
int __openat64_2(int at, const char *path, int flags);

/* Result, failure, name, parameters, arguments. */
#define SIMPLE(X)                                                                        \
	X(int, -1, __open_2, (const char *path, int flags), (path, flags))               \
	X(int, -1, __open64_2, (const char *path, int flags), (path, flags))             \
	X(int, -1, __openat_2, (int at, const char *path, int flags), (at, path, flags)) \
	X(int, -1, __openat64_2, (int at, const char *path, int flags),                  \
		(at, path, flags))                                                       \
	X(int, -1, creat, (const char *path, mode_t mode), (path, mode))                 \
	X(int, -1, creat64, (const char *path, mode_t mode), (path, mode))               \
	X(int, -1, socket, (int domain, int type, int protocol),                         \
		(domain, type, protocol))                                                \
	X(int, -1, socketpair, (int domain, int type, int protocol, int pair[2]),        \
		(domain, type, protocol, pair))                                          \
	X(int, -1, pipe, (int ends[2]), (ends))                                          \
	X(int, -1, pipe2, (int ends[2], int flags), (ends, flags))                       \
	X(int, -1, epoll_create, (int size), (size))                                     \
	X(int, -1, epoll_create1, (int flags), (flags))                                  \
	X(int, -1, eventfd, (unsigned value, int flags), (value, flags))                 \
	X(int, -1, signalfd, (int fd, const sigset_t *mask, int flags),                  \
		(fd, mask, flags))                                                       \
	X(int, -1, timerfd_create, (int clock, int flags), (clock, flags))               \
	X(int, -1, inotify_init, (void), ())                                             \
	X(int, -1, inotify_init1, (int flags), (flags))                                  \
	X(int, -1, fanotify_init, (unsigned flags, unsigned of_events),                  \
		(flags, of_events))                                                      \
	X(int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))      \
	X(int, -1, shm_open, (const char *name, int flags, mode_t mode),                 \
		(name, flags, mode))                                                     \
	X(int, -1, posix_openpt, (int flags), (flags))                                   \
	X(int, -1, openpty,                                                              \
		(int *one, int *other, char *name, const struct termios *modes,          \
			const struct winsize *size),                                     \
		(one, other, name, modes, size))                                         \
	X(FILE *, NULL, fopen, (const char *restrict path, const char *restrict mode),   \
		(path, mode))                                                            \
	X(FILE *, NULL, fopen64, (const char *restrict path, const char *restrict mode), \
		(path, mode))                                                            \
	X(FILE *, NULL, tmpfile, (void), ())                                             \
	X(FILE *, NULL, tmpfile64, (void), ())                                           \
	X(FILE *, NULL, popen, (const char *command, const char *mode), (command, mode)) \
	X(DIR *, NULL, opendir, (const char *path), (path))

/* The same, of functions whose failure leaves the name without its X's. */
#define TEMPLATES(X)                                                                     \
	X(mkstemp, (char *path), 0, (path))                                              \
	X(mkstemp64, (char *path), 0, (path))                                            \
	X(mkostemp, (char *path, int flags), 0, (path, flags))                           \
	X(mkostemp64, (char *path, int flags), 0, (path, flags))                         \
	X(mkstemps, (char *path, int suffix), suffix, (path, suffix))                    \
	X(mkstemps64, (char *path, int suffix), suffix, (path, suffix))                  \
	X(mkostemps, (char *path, int suffix, int flags), suffix, (path, suffix, flags)) \
	X(mkostemps64, (char *path, int suffix, int flags), suffix, (path, suffix, flags))

/* The functions below. */
#define OTHERS(X) X(open) X(open64) X(openat) X(openat64) X(accept) X(accept4) X(dup)

static struct {
#define X(result, failure, name, parameters, arguments) __typeof__(&name) name;
	SIMPLE(X)
#undef X
#define X(name, parameters, suffix, arguments) __typeof__(&name) name;
	TEMPLATES(X)
#undef X
#define X(name) __typeof__(&name) name;
	OTHERS(X)
#undef X
} real;

static void find_real(void *to, const char *name)
{
	void *found = cp_real_find(name);

	memcpy(to, &found, sizeof(found));
}

void cp_opens_fill(void)
{
#define X(result, failure, name, parameters, arguments) find_real(&real.name, #name);
	SIMPLE(X)
#undef X
#define X(name, parameters, suffix, arguments) find_real(&real.name, #name);
	TEMPLATES(X)
#undef X
#define X(name) find_real(&real.name, #name);
	OTHERS(X)
#undef X
}

/* Another library's constructor, or what finds a function's address, may come before
 * ours. */
#define REAL(name) (real.name ? real.name : (find_real(&real.name, #name), real.name))

#define X(result, failure, name, parameters, arguments)                                  \
	EXPORT result name parameters                                                    \
	{                                                                                \
		CP_RETURN_OPENED(result, failure, REAL(name) arguments);                 \
	}
SIMPLE(X)
#undef X

/* ---- names to be made up ---- */

static void put_back(char *path, int suffix)
{
	size_t length = strlen(path);

	if (suffix >= 0 && length >= 6 + (size_t)suffix)
		memcpy(path + length - 6 - (size_t)suffix, "XXXXXX", 6);
}

#define X(name, parameters, suffix, arguments)                                           \
	EXPORT int name parameters                                                       \
	{                                                                                \
		int fd = REAL(name) arguments;                                           \
                                                                                         \
		while (fd < 0 && errno == EMFILE && cp_descriptors_yield()) {            \
			put_back(path, suffix);                                          \
			fd = REAL(name) arguments;                                       \
		}                                                                        \
		return fd;                                                               \
	}
TEMPLATES(X)
#undef X

/* ---- those with a mode or none: passed on as it came ---- */

/* The mode is read where there is none, too. */
EXPORT int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	CP_RETURN_OPENED(int, -1, REAL(open)(path, flags, mode));
}

EXPORT int open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	CP_RETURN_OPENED(int, -1, REAL(open64)(path, flags, mode));
}

EXPORT int openat(int at, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	CP_RETURN_OPENED(int, -1, REAL(openat)(at, path, flags, mode));
}

EXPORT int openat64(int at, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	CP_RETURN_OPENED(int, -1, REAL(openat64)(at, path, flags, mode));
}

/* ---- those whose declarations say more than a macro can pass on ---- */

EXPORT int accept(int fd, __SOCKADDR_ARG address, socklen_t *restrict length)
{
	CP_RETURN_OPENED(int, -1, REAL(accept)(fd, address, length));
}

EXPORT int accept4(int fd, __SOCKADDR_ARG address, socklen_t *restrict length, int flags)
{
	CP_RETURN_OPENED(int, -1, REAL(accept4)(fd, address, length, flags));
}

EXPORT int dup(int fd)
{
	if (cp_is_own_descriptor(fd))
		return cp_not_open();
	CP_RETURN_OPENED(int, -1, REAL(dup)(fd));
}
