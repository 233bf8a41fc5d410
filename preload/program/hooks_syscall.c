/* SPDX-License-Identifier: MIT
 *
 * Overrides: syscall, ptrace.
 *
 * A process may end, become another, or confine itself, by system calls that it
 * makes itself.  Everything passes through untouched.
 */
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ptrace.h>

#include "base/export.h"
#include "base/syscall.h"
#include "preload/libc/real.h"
#include "preload/program/descriptors.h"
#include "preload/program/fatal.h"
#include "preload/program/seccomp.h"
#include "preload/program/reporter.h"
#include "preload/process.h"
#include "preload/report.h"
#include "preload/runtime.h"
#include "base/engine/simclient.h"
#include "tools/sim/request.h"

#define TRACED "the program is traced"
/* The headers may be older. */
#define LANDLOCK_RESTRICT_SELF 446

/* SECCOMP_SET_MODE_STRICT has none. */
static const struct sock_fprog *filter_of(const long arg[6])
{
	return arg[0] == SECCOMP_SET_MODE_FILTER ? (const struct sock_fprog *)arg[2]
						 : NULL;
}

static bool is_confining(long number, const long arg[6])
{
	return number == SYS_seccomp &&
	       ((arg[0] == SECCOMP_SET_MODE_STRICT && !arg[1] && !arg[2]) ||
		       (arg[0] == SECCOMP_SET_MODE_FILTER &&
			       cp_seccomp_is_filter(filter_of(arg))));
}

/* Signals of ours that it could see. */
static void yield_traps(long number, const long arg[6])
{
	if (number == SYS_rt_sigaction && arg[0] == SIGTRAP && arg[1])
		cp_fatal_yield_traps("the program sets SIGTRAP itself");
	else if (number == SYS_rt_sigprocmask)
		cp_fatal_want_mask((int)arg[0], (const void *)arg[1]);
	else if (number == SYS_ptrace && arg[0] == PTRACE_TRACEME)
		cp_fatal_yield_traps(TRACED);
}

/* Is there something to do if it returns? */
static bool before_call(long number, const long arg[6])
{
	if (is_confining(number, arg)) {
		cp_seccomp_before(filter_of(arg));
		return true;
	}
	if (cp_fatal_has_traps())
		yield_traps(number, arg);
	switch (number) {
	case LANDLOCK_RESTRICT_SELF:
		cp_report_before_confined();
		return true;
	case SYS_exit_group:
		cp_process_end(CP_HOW_EXIT, (int)arg[0] & 0xff);
		return false;
	case SYS_exit:
		cp_thread_leaves((int)arg[0] & 0xff);
		return false;
	case SYS_execve:
	case SYS_execveat:
		cp_process_exec();
		return true;
	default:
		return false;
	}
}

static void after_call(long number, const long arg[6], long result)
{
	if (number == SYS_seccomp)
		cp_seccomp_after(filter_of(arg), result == 0);
	else if (number != LANDLOCK_RESTRICT_SELF)
		cp_exec_failed();
	else if (result < 0)
		cp_reporter_stop();
}

/*
 * By libc's own instruction, as soon as it is known: a program may have the kernel hand
 * it all calls but libc's (prctl(2), PR_SET_SYSCALL_USER_DISPATCH), which it cannot under
 * the simulator.  A result, or -errno.
 */
static long call(long number, const long arg[6])
{
	int before = errno;
	long result;

	if (!cp_is_reexecuted() && cp_reals.syscall) {
		result = cp_reals.syscall(
			number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
		if (result == -1)
			result = -errno;
		errno = before;
		return result;
	}
	if (cp_is_reexecuted())
		cp_sim_request(CP_SIM_CALL, NULL);
	return cp_syscall6(number, arg);
}

EXPORT long syscall(long number, ...)
{
	long arg[6], result;
	va_list args;
	bool more;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	more = before_call(number, arg);
	do {
		result = call(number, arg);
	} while (result == -EMFILE && cp_descriptors_yield());
	if (more)
		after_call(number, arg, result);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

/* Whoever traces this process would see each stop. */
EXPORT long ptrace(enum __ptrace_request request, ...)
{
	void *arg[3];
	va_list args;

	va_start(args, request);
	for (int i = 0; i < 3; i++)
		arg[i] = va_arg(args, void *);
	va_end(args);
	if (request == PTRACE_TRACEME)
		cp_fatal_yield_traps(TRACED);
	return CP_REAL(ptrace)(request, arg[0], arg[1], arg[2]);
}
