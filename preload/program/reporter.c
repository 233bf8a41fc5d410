/* SPDX-License-Identifier: MIT
 *
 * It has a copy of our memory, so that a program that confines itself because it does not
 * trust its own code has no way out by it: what comes from there is one byte, and the
 * record, which is read like any other.
 */
#include "preload/program/reporter.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/syscall.h"
#include "base/counters/options.h"
#include "preload/runtime.h"
#include "preload/writer.h"

/* ---- in the reporter ---- */

/* The program's end of a pipe is no end while somebody else has it open. */
static void close_all_but(int socket)
{
	int log = cp_log_target() > STDERR_FILENO ? cp_log_target() : socket,
	    low = log < socket ? log : socket, high = log < socket ? socket : log;
	long nothing = cp_syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);

	cp_syscall(SYS_dup3, nothing, STDIN_FILENO, 0);
	if (!cp_writer_takes(cp_options.output, STDOUT_FILENO))
		cp_syscall(SYS_dup3, nothing, STDOUT_FILENO, 0);
	cp_syscall(SYS_close_range, STDERR_FILENO + 1, low - 1, 0);
	cp_syscall(SYS_close_range, low + 1, high - 1, 0);
	cp_syscall(SYS_close_range, high + 1, -1, 0);
}

static void serve(int socket, void (*report)(void *))
{
	uint64_t all = ~0ull;
	char asked;

	cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	__atomic_store_n(&cp_lock_last_resort, 1, __ATOMIC_RELAXED);
	close_all_but(socket);
	if (cp_syscall(SYS_read, socket, &asked, 1) == 1) {
		cp_call_aside(report, NULL);
		cp_syscall(SYS_write, socket, &asked, 1);
	}
	cp_writer_leave(0);
}

/* ---- beside it ---- */

/* No signal tells of its end, and no wait of the program finds it. */
static void fork_reporter(int ends[2], void (*report)(void *))
{
	long child = cp_syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);

	if (child == 0) {
		cp_fd_close(ends[0]);
		serve(ends[1], report);
	}
	cp_fd_close(ends[1]);
	cp_runtime.reporter.socket = ends[0];
	if (child > 0 && cp_fd_keep(&cp_runtime.reporter.socket) == 0) {
		cp_runtime.reporter.child = (pid_t)child;
		cp_runtime.reporter.pid = cp_runtime.pid;
		return;
	}
	cp_fd_close(ends[0]);
	cp_runtime.reporter.socket = -1;
}

void cp_reporter_start(void (*report)(void *))
{
	int ends[2];

	if (cp_runtime.reporter.pid || cp_syscall(SYS_socketpair, AF_UNIX,
					       SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	if (ends[0] > STDERR_FILENO && ends[1] > STDERR_FILENO) {
		fork_reporter(ends, report);
		return;
	}
	cp_fd_close(ends[0]); /* what is missing there the program misses */
	cp_fd_close(ends[1]);
}

static void reap(void)
{
	cp_fd_drop(&cp_runtime.reporter.socket);
	while (cp_syscall(SYS_wait4, cp_runtime.reporter.child, NULL, __WCLONE, NULL) ==
		-EINTR)
		;
	cp_runtime.reporter.pid = 0;
}

void cp_reporter_stop(void)
{
	if (cp_runtime.reporter.pid == cp_runtime.pid)
		reap();
}

bool cp_reporter_writes(void)
{
	char done = 'w';
	long got;

	if (!cp_runtime.reporter.pid || cp_runtime.reporter.pid != cp_runtime.pid ||
		cp_runtime.reporter.socket < 0 ||
		cp_syscall(SYS_sendto, cp_runtime.reporter.socket, &done, 1, MSG_NOSIGNAL,
			NULL, 0) != 1)
		return false;
	do
		got = cp_syscall(SYS_read, cp_runtime.reporter.socket, &done, 1);
	while (got == -EINTR);
	reap();
	return got == 1;
}

void cp_reporter_after_fork(void)
{
	if (cp_runtime.reporter.pid)
		cp_fd_drop(&cp_runtime.reporter.socket);
	cp_runtime.reporter.pid = 0;
}
