/* SPDX-License-Identifier: MIT
 *
 * Overrides: prctl.
 *
 * To know when the program forbids itself system calls, and us with it
 * (seccomp(2) has no function of its own: hooks_syscall.c).
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "base/export.h"
#include "preload/libc/real.h"
#include "preload/program/seccomp.h"

static bool is_confining(const unsigned long arg[4])
{
	return arg[0] == SECCOMP_MODE_STRICT ||
	       (arg[0] == SECCOMP_MODE_FILTER &&
		       cp_seccomp_is_filter((const struct sock_fprog *)arg[1]));
}

static int confine_process(const unsigned long arg[4])
{
	const struct sock_fprog *filter = NULL;
	int result;

	if (arg[0] == SECCOMP_MODE_FILTER)
		filter = (const struct sock_fprog *)arg[1];
	cp_seccomp_before(filter);
	result = CP_REAL(prctl)(PR_SET_SECCOMP, arg[0], arg[1], arg[2], arg[3]);
	cp_seccomp_after(filter, result == 0);
	return result;
}

/* Four arguments at most, each as wide as a register. */
EXPORT int prctl(int option, ...)
{
	unsigned long arg[4];
	va_list args;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SET_SECCOMP && is_confining(arg))
		return confine_process(arg);
	return CP_REAL(prctl)(option, arg[0], arg[1], arg[2], arg[3]);
}
