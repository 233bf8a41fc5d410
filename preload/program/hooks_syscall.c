/* SPDX-License-Identifier: MIT
 *
 * Overrides: syscall.
 *
 * A process may end, become another, or confine itself, by system calls that it
 * makes itself.  Everything passes through untouched.
 */
#include <linux/seccomp.h>
#include <stdarg.h>

#include "base/syscall.h"
#include "preload/program/descriptors.h"
#include "preload/program/seccomp.h"
#include "preload/process.h"

#define EXPORT __attribute__((visibility("default")))

/* SECCOMP_SET_MODE_STRICT has none. */
static const struct sock_fprog *filter_of(const long arg[6])
{
	return arg[0] == SECCOMP_SET_MODE_FILTER ? (const struct sock_fprog *)arg[2]
						 : NULL;
}

static bool is_confining(long number, const long arg[6])
{
	return number == SYS_seccomp &&
	       (arg[0] == SECCOMP_SET_MODE_STRICT ||
		       (arg[0] == SECCOMP_SET_MODE_FILTER &&
			       cp_seccomp_is_filter(filter_of(arg))));
}

/* Is there something to do if it returns? */
static bool before_call(long number, const long arg[6])
{
	if (is_confining(number, arg)) {
		cp_seccomp_before(filter_of(arg));
		return true;
	}
	switch (number) {
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
	else
		cp_exec_failed();
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
	do
		result = cp_syscall6(number, arg);
	while (result == -EMFILE && cp_descriptors_yield());
	if (more)
		after_call(number, arg, result);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}
