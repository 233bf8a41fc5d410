/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/syscall.h"
#include "tool.h"

#define SIG_UNBLOCK 1

/* The kernel's struct sigaction, larger than any; zero is SIG_DFL. */
static const UWord default_action[8];

/*
 * By the kernel alone, and aimed at this very thread.  Valgrind's own way lets
 * the other threads go first and then signals the process: where one of those
 * is still on its way out it may be the one that the kernel picks, and Valgrind,
 * alive against its expectation, ends as a failure of its own.
 */
void die_by_signal(UWord number)
{
	UWord mask = 1UL << (number - 1);

	if (number < 1 || number > 8 * sizeof(mask))
		return;
	threads_sync();
	cp_syscall(SYS_rt_sigaction, number, default_action, NULL, sizeof(mask));
	cp_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof(mask));
	cp_syscall(SYS_tgkill, VG_(getpid)(), VG_(gettid)(), number);
}
