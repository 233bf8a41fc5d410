/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A process that dies of a signal.  Its threads leave, and the last one sends
 * the signal to the process.  If another is still on its way out the kernel may
 * pick that one, and the call comes back; the core then panics ("signal was
 * supposed to be fatal"), and the process exits with 1: twice in 100 runs.  The
 * linker puts this function in the place of the core's (--wrap): it aims the
 * signal at its own thread first.
 */
#include "base/syscall.h"
#include "tool.h"

#define SIG_UNBLOCK 1

void __real_vgPlain_kill_self(Int number);
void __wrap_vgPlain_kill_self(Int number);

void __wrap_vgPlain_kill_self(Int number)
{
	/* The kernel's struct sigaction, larger than any; zero is SIG_DFL. */
	static const UWord default_action[8];
	UWord mask = 1UL << (number - 1);

	cp_syscall(SYS_rt_sigaction, number, default_action, NULL, sizeof(mask));
	cp_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof(mask));
	cp_syscall(SYS_tgkill, VG_(getpid)(), VG_(gettid)(), number);
	__real_vgPlain_kill_self(number);
}
