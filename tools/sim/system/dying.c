/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A process that dies of a signal.  Its threads leave, and the last one sends
 * the signal to the process.  If another is still on its way out the kernel may
 * pick that one, and the call comes back; the core then panics ("signal was
 * supposed to be fatal"), and the process exits with 1: twice in 100 runs.  The
 * linker puts this function in the place of the core's (--wrap): it aims the
 * signal at its own thread first.
 *
 * Older cores do not know that SIGSTKFLT ends a process: they get SIGKILL in its place,
 * and the kernel gets it again.
 */
#include "system/dying.h"

#include "base/syscall.h"
#include "tool.h"
#include "valgrind/core.h"

#define SIG_UNBLOCK 1

void __real_vgPlain_kill_self(Int number);
void __wrap_vgPlain_kill_self(Int number);
Int __real_vgPlain_sigtimedwait_zero(const vki_sigset_t *set, vki_siginfo_t *info);
Int __wrap_vgPlain_sigtimedwait_zero(const vki_sigset_t *set, vki_siginfo_t *info);

static Bool is_stack_fault;

Int dying_of(Int number, vki_siginfo_t *info)
{
	vki_sigaction_fromK_t action;

	if (number != DYING_STACK_FAULT ||
		sr_isError(VG_(do_sys_sigaction)(number, NULL, &action)) ||
		action.ksa_handler)
		return number;
	is_stack_fault = True;
	return info->si_signo = VKI_SIGKILL;
}

Int __wrap_vgPlain_sigtimedwait_zero(const vki_sigset_t *set, vki_siginfo_t *info)
{
	return dying_of(__real_vgPlain_sigtimedwait_zero(set, info), info);
}

void __wrap_vgPlain_kill_self(Int of_core)
{
	/* The kernel's struct sigaction, larger than any; zero is SIG_DFL. */
	static const UWord default_action[8];
	Int number = is_stack_fault ? DYING_STACK_FAULT : of_core;
	UWord mask = 1UL << (number - 1);

	cp_syscall(SYS_rt_sigaction, number, default_action, NULL, sizeof(mask));
	cp_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof(mask));
	cp_syscall(SYS_tgkill, VG_(getpid)(), VG_(gettid)(), number);
	__real_vgPlain_kill_self(number);
}
