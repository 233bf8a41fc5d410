/* SPDX-License-Identifier: MIT
 *
 * An exec gives a child a signal for its end back, and makes it one that any wait finds.
 * So there are two: a bare clone, which executes nothing and has no such signal, and its
 * child, which is the writer and nobody else's.  Both borrow our memory, so that a
 * program of many GiB need not be copied: they make system calls only.
 */
#include "preload/writer.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/engine/engine.h"
#include "base/log.h"
#include "base/syscall.h"
#include "base/text.h"
#include "preload/reexec.h"
#include "preload/runtime.h"

/* Exit statuses of the clone, beside an enum cp_order_end. */
enum { KILLED = 127, NOT_STARTED = 128 };

static struct {
	char path[PATH_MAX];
	struct stat file;
	int error;           /* 0: it is there */
	bool is_in_valgrind; /* the user's own */
} writer;

void cp_writer_find(void)
{
	writer.is_in_valgrind = cp_sim_is_foreign();
	writer.error = -cp_companion_path(CP_REPORTER, writer.path, sizeof(writer.path));
	if (!writer.error && stat(writer.path, &writer.file) < 0)
		writer.error = errno;
}

/* The same file: the program may have another root directory by now. */
static int look(void)
{
	struct stat now;

	if (writer.error)
		return writer.error;
	if (stat(writer.path, &now) < 0)
		return errno;
	return now.st_dev == writer.file.st_dev && now.st_ino == writer.file.st_ino
		       ? 0
		       : ESTALE;
}

/* ---- the program's descriptors ---- */

/* -1: the output is a file with a name of its own. */
static int descriptor_of(const char *output)
{
	static const char numbered[] = "/dev/fd/";
	const char *end;
	uint64_t fd;

	if (*output == '-' || cp_starts_with(output, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!cp_starts_with(output, numbered) ||
		cp_parse_u64_prefix(output + sizeof(numbered) - 1, &end, &fd) < 0)
		return -1;
	return fd < INT_MAX ? (int)fd : -1;
}

/* The next of the list, after *rest; -1: there is none any more. */
static int next_descriptor(const char **rest)
{
	int fd = -1;

	while (*rest && fd < 0) {
		const char *comma = strchr(*rest, ',');

		fd = descriptor_of(*rest);
		*rest = comma ? comma + 1 : NULL;
	}
	return fd;
}

bool cp_writer_takes(const char *outputs, int fd)
{
	int found;

	while ((found = next_descriptor(&outputs)) >= 0)
		if (found == fd)
			return true;
	return false;
}

static bool takes_others(const char *outputs)
{
	int fd;

	while ((fd = next_descriptor(&outputs)) >= 0)
		if (fd > STDERR_FILENO)
			return true;
	return false;
}

struct start {
	const char *const *argv;
	const char *outputs;
	int log;
	bool has_stdout;
};

/* ---- in the children ---- */

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4L
#endif
#define BORROWED (CLONE_VM | CLONE_VFORK)

/* Its frame is both the caller's and the child's: the child never returns, and what the
 * caller needs of it is its return address only. */
static __attribute__((noinline)) long clone_into(
	void (*child)(const struct start *), const struct start *start, long flags)
{
	long pid = cp_syscall(SYS_clone, flags, 0L, 0L, 0L, 0L);

	if (pid == 0)
		child(start);
	return pid;
}

_Noreturn void cp_writer_leave(int status)
{
	if (writer.is_in_valgrind)
		cp_syscall(SYS_kill, cp_syscall(SYS_getpid), (long)SIGKILL);
	for (;;)
		cp_syscall(SYS_exit_group, (long)status);
}

static void put(long from, int to)
{
	if (from == to)
		cp_syscall(SYS_fcntl, to, F_SETFD, 0L);
	else
		cp_syscall(SYS_dup3, from, to, 0L);
}

/* A descriptor that stands in for a missing one must be open, and take nothing. */
static long open_nothing(void)
{
	long fd = cp_syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);

	return fd >= 0 ? fd : cp_syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
}

/* A pipe of the program's has its end when the program has. */
static void set_descriptors(const struct start *start)
{
	const char *outputs = start->outputs;
	long nothing;
	int fd;

	if (start->log >= 0)
		put(start->log, STDERR_FILENO);
	cp_syscall(SYS_close_range, STDERR_FILENO + 1L, -1L,
		takes_others(outputs) ? CLOSE_RANGE_CLOEXEC : 0L);
	while ((fd = next_descriptor(&outputs)) >= 0)
		cp_syscall(SYS_fcntl, fd, F_SETFD, 0L);
	nothing = open_nothing();
	put(nothing, STDIN_FILENO);
	put(start->has_stdout ? STDOUT_FILENO : nothing, STDOUT_FILENO);
	if (start->log < 0)
		put(nothing, STDERR_FILENO);
}

static void execute(const struct start *start)
{
	/* It is not to be counted, wherever the library is preloaded by a file. */
	static const char *const environment[] = {"CACHEPEEK_DISABLE=1", NULL};
	long error;

	set_descriptors(start);
	error = cp_syscall(SYS_execve, writer.path, start->argv, environment);
	cp_writer_leave(NOT_STARTED + (int)(-error & 127));
}

/* Its signals are its own: a program that ignores SIGCHLD learns of no end. */
static void mediate(const struct start *start)
{
	static const uint64_t all = ~0ull, by_default[8];
	long child, got;
	int status;

	cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	cp_syscall(SYS_rt_sigaction, SIGCHLD, by_default, NULL, sizeof(all));
	child = clone_into(execute, start, BORROWED | SIGCHLD);
	if (child < 0)
		cp_writer_leave(NOT_STARTED + (int)(-child & 127));
	do
		got = cp_syscall(SYS_wait4, child, &status, (long)__WALL, NULL);
	while (got == -EINTR);
	cp_writer_leave(got == child && WIFEXITED(status) ? WEXITSTATUS(status) : KILLED);
}

/* ---- in the program ---- */

static int wait_for(long child)
{
	int status = 0;
	long got;

	do
		got = cp_syscall(SYS_wait4, child, &status, (long)__WCLONE, NULL);
	while (got == -EINTR);
	if (got != child) /* another thread waits for clones, and has found it */
		return CP_ORDER_PART;
	if (WIFSIGNALED(status) && writer.is_in_valgrind)
		return CP_ORDER_PART;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == KILLED)
		return -ECHILD;
	return WEXITSTATUS(status) < NOT_STARTED ? WEXITSTATUS(status)
						 : NOT_STARTED - WEXITSTATUS(status);
}

/* A program that makes a PID namespace for its children (unshare(1)) has none any more
 * when the first of them has ended.  Nor does it need any, at its end. */
static bool leave_dead_namespace(void)
{
	long fd, result;

	if (cp_counting())
		return false;
	fd = cp_syscall(SYS_openat, AT_FDCWD, "/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	result = cp_syscall(SYS_setns, fd, (long)CLONE_NEWPID);
	cp_syscall(SYS_close, fd);
	return result == 0;
}

int cp_writer_run(const struct cp_order *order)
{
	const char *argv[CP_ORDER_ARGUMENTS + 1];
	char text[CP_ORDER_TEXT];
	const struct start start = {argv, order->outputs, cp_log_target(),
		cp_writer_takes(order->outputs, STDOUT_FILENO) &&
			fcntl(STDOUT_FILENO, F_GETFD) >= 0};
	int error = look();
	long child;

	if (error)
		return -error;
	cp_order_arguments(order, text, argv);
	child = clone_into(mediate, &start, BORROWED);
	if (child == -ENOMEM && leave_dead_namespace())
		child = clone_into(mediate, &start, BORROWED);
	return child < 0 ? (int)child : wait_for(child);
}
