/* SPDX-License-Identifier: MIT
 *
 * Overrides: prctl.
 *
 * To know when the program forbids itself system calls, and us with it.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "preload/real.h"
#include "preload/runtime.h"
#include "preload/seccomp.h"
#include "preload/threads.h"

#define EXPORT __attribute__((visibility("default")))

static bool is_about_us(int option)
{
	return option == PR_SET_SECCOMP && cp_counting() && getpid() == cp_runtime.pid;
}

/* In strict mode even a look at the clock is deadly, and what is left to the
 * thread is to compute and to end: its counts end here. */
static void leave_strict_thread(void)
{
	cp_say("thread %d enters seccomp's strict mode: it is counted up to here. If no "
	       "report "
	       "follows: `cachepeek report %s`",
		(int)gettid(), cp_runtime.directory);
	cp_thread_end();
}

/* Four arguments at most, each as wide as a register. */
EXPORT int prctl(int option, ...)
{
	unsigned long arg[4];
	bool ours = is_about_us(option);
	va_list args;
	int result;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (ours && arg[0] == SECCOMP_MODE_STRICT)
		leave_strict_thread();
	result = CP_REAL(prctl)(option, arg[0], arg[1], arg[2], arg[3]);
	if (ours && arg[0] == SECCOMP_MODE_FILTER && result == 0)
		cp_seccomp_installed((const struct sock_fprog *)arg[1]);
	return result;
}
