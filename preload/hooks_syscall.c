/* SPDX-License-Identifier: MIT
 *
 * Overrides: syscall.
 *
 * A process may end, or become another, by system calls that it makes itself.
 * Everything passes through untouched.
 */
#include <stdarg.h>

#include "base/syscall.h"
#include "preload/runtime.h"

#define EXPORT __attribute__((visibility("default")))

static bool before(long number, const long arg[6])
{
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

EXPORT long syscall(long number, ...)
{
	long arg[6], result;
	va_list args;
	bool exec;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	exec = before(number, arg);
	result = cp_syscall6(number, arg);
	if (exec)
		cp_exec_failed();
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}
