/* SPDX-License-Identifier: MIT
 *
 * Overrides: close, closefrom, close_range, dup2, dup3, fcntl, fcntl64, fstat,
 *   fstat64.
 *
 * To the program our descriptors are not there: closing one is EBADF, closing
 * a range leaves them out, and one whose number the program wants moves away.
 * A vfork child has a table of its own but our memory: whatever it does to its
 * copies is its own business.
 *
 * libc closes its own (fclose, posix_spawn's actions) without asking here; it
 * never does that to a number that it was not given.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/export.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/syscall.h"
#include "preload/calibrate.h"
#include "preload/program/descriptors.h"
#include "preload/libc/real.h"
#include "preload/runtime.h"
#include "preload/threads/threads.h"
#include "preload/self.h"
#include "preload/warn.h"

/* ---- close ---- */

EXPORT int close(int fd)
{
	return cp_is_own_descriptor(fd) ? cp_not_open() : CP_REAL(close)(fd);
}

/* Straight to the kernel: libc's is no cancellation point either. */
static int close_range_apart(unsigned first, unsigned last, int flags)
{
	long result = cp_syscall(SYS_close_range, first, last, flags);

	if (result == 0)
		return 0;
	errno = (int)-result;
	return -1;
}

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	int ours = cp_fd_next(first, last);

	if (ours < 0 || !cp_is_this_process())
		return close_range_apart(first, last, flags);
	for (; ours >= 0; ours = cp_fd_next(first, last)) {
		if ((unsigned)ours > first &&
			close_range_apart(first, (unsigned)ours - 1, flags) < 0)
			return -1;
		first = (unsigned)ours + 1;
	}
	return first <= last ? close_range_apart(first, last, flags) : 0;
}

/* Kernels before 5.9 have no close_range. */
EXPORT void closefrom(int low)
{
	long end;

	low = low < 0 ? 0 : low;
	if (close_range((unsigned)low, UINT_MAX, 0) == 0)
		return;
	end = sysconf(_SC_OPEN_MAX);
	for (int fd = low; fd < end; fd++)
		close(fd);
}

/* ---- numbers that the program chooses ---- */

static void warn_taken(int fd)
{
	char line[160];

	cp_format(line, sizeof(line),
		"the program took descriptor %d, which was a counter's, "
		"and there is no other: raise `ulimit -n`",
		fd);
	cp_warn(line);
}

/* Readings under way use the old number. */
static void give_way(int fd)
{
	int result = -EMFILE, state;
	bool in_handler = cp_self.depth > 0, may_wait = cp_enter_slowly(&state);

	cp_self.depth++;
	if (cp_confined() || in_handler) /* what it interrupted may have the lock */
		cp_fd_forget(fd);
	else
		result = cp_fd_give_way(fd);
	cp_leave();
	if (!may_wait)
		return;
	cp_calibrate_wait();
	cp_threads_wait_for_readings();
	if (result < 0)
		warn_taken(fd);
	cp_leave_slowly(state);
}

/* Will the kernel really put `from` there? */
static bool is_possible(int from, int to)
{
	struct rlimit limit;

	if (cp_confined()) /* what would tell is forbidden */
		return true;
	return cp_syscall(SYS_fcntl, from, F_GETFD) >= 0 &&
	       getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)to < limit.rlim_cur;
}

/* May `from` become `to`?  Makes room for it. */
static bool may_become(int from, int to)
{
	int saved = errno;

	if (cp_is_own_descriptor(from))
		return false;
	if (cp_is_own_descriptor(to) && is_possible(from, to))
		give_way(to);
	errno = saved;
	return true;
}

EXPORT int dup2(int from, int to)
{
	return may_become(from, to) ? CP_REAL(dup2)(from, to) : cp_not_open();
}

EXPORT int dup3(int from, int to, int flags)
{
	return may_become(from, to) ? CP_REAL(dup3)(from, to, flags) : cp_not_open();
}

/* One argument at most, an int or a pointer: passed on as it came. */
EXPORT int fcntl(int fd, int command, ...)
{
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (cp_is_own_descriptor(fd))
		return cp_not_open();
	CP_RETURN_OPENED(int, -1, CP_REAL(fcntl)(fd, command, argument));
}

EXPORT int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));

/* ---- looking ---- */

/* How programs find out which of their descriptors are open. */
EXPORT int fstat(int fd, struct stat *file)
{
	return cp_is_own_descriptor(fd) ? cp_not_open() : CP_REAL(fstat)(fd, file);
}

EXPORT int fstat64(int fd, struct stat64 *file)
{
	return fstat(fd, (struct stat *)file);
}
