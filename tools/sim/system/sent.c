/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions raise SIGSEGV and a few others, which the core therefore never blocks;
 * those that somebody sends it keeps in a list of its own, where sigpending, sigwaitinfo,
 * signalfd and the next program do not find them, and gives some of them to programs that
 * block them.  Here a signal that was sent, and comes outside of a call that the program
 * waits in, is sent again, and blocked in this thread of the host: it waits in the
 * kernel, as without us.  While the program computes, what it blocks is kept here, as an
 * instruction that raises a blocked signal ends the process; in each of its calls it is
 * the kernel's again.  The core asks there for what the program does not block.  The
 * linker puts a function in the place of the core's (--wrap), which gives the kernel the
 * core's handlers, and in that of what asks the kernel for signals.
 */
#include "system/sent.h"

#include "base/syscall.h"
#include "pointers.h"
#include "system/dying.h"
#include "system/registers.h"
#include "say.h"
#include "tool.h"
#include "valgrind/core.h"

#include "pub_tool_libcproc.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_vki.h"

enum {
	SET = 8,
	IGNORE = 1,
	BY_THREAD = -6,
	CORES = 64,
	DISPATCH = 59,
	DISARMED = 1 << 31 /* SS_AUTODISARM */
};

typedef void core_handler(Int number, vki_siginfo_t *info, struct vki_ucontext *context);

Int __real_vgPlain_sigaction(
	Int number, const vki_sigaction_toK_t *action, vki_sigaction_fromK_t *old);
Int __wrap_vgPlain_sigaction(
	Int number, const vki_sigaction_toK_t *action, vki_sigaction_fromK_t *old);
void __real_vgPlain_poll_signals(ThreadId tid);
void __wrap_vgPlain_poll_signals(ThreadId tid);

/* The action that the core has asked for. */
static vki_sigaction_toK_t by_core[VKI_SIGSYS + 1];

static struct kept {
	long thread; /* whose it is; 0: the process's */
	Bool is;
	vki_siginfo_t info;
} kept[VKI_SIGSYS + 1];
static Bool held; /* one was, or is */

static UWord bit_of(Int number)
{
	return (UWord)1 << (number - 1);
}

static UWord faults(void)
{
	return bit_of(VKI_SIGSEGV) | bit_of(VKI_SIGBUS) | bit_of(VKI_SIGFPE) |
	       bit_of(VKI_SIGILL) | bit_of(VKI_SIGTRAP) | bit_of(VKI_SIGSYS);
}

/* The core blocks this one of its own wherever it is not in a call of the program's. */
static Bool is_in_call(const struct vki_ucontext *context)
{
	return !(context->uc_sigmask.sig[0] & bit_of(CORES));
}

static void keep(Int number, const vki_siginfo_t *info)
{
	kept[number].is = True;
	kept[number].thread = info->si_code == BY_THREAD ? VG_(gettid)() : 0;
	kept[number].info = *info;
}

/* Without us, the kernel would have given it to this thread.  Sent to the process again,
 * it could end a call that another thread waits in. */
static Bool is_taken_here(Int number)
{
	ThreadId tid = VG_(lwpid_to_vgtid)(VG_(gettid)());
	vki_sigset_t mask;

	if (tid == VG_INVALID_THREADID)
		return False;
	VG_(do_sys_sigprocmask)(tid, VKI_SIG_SETMASK, NULL, &mask);
	return !(mask.sig[0] & bit_of(number));
}

/* Only the first thread can send again a signal of kill's as it was. */
static Bool send_again(Int number, vki_siginfo_t *info)
{
	if (info->si_code == BY_THREAD || is_taken_here(number))
		return cp_syscall(SYS_rt_tgsigqueueinfo, VG_(getpid)(), VG_(gettid)(),
			       number, info) == 0;
	return cp_syscall(SYS_rt_sigqueueinfo, VG_(getpid)(), number, info) == 0;
}

/* Before the program begins there is nobody to wait for it. */
static void hold(Int number, vki_siginfo_t *info, struct vki_ucontext *context)
{
	held = True;
	if (VG_(get_running_tid)() == VG_INVALID_THREADID) {
		keep(number, info);
		return;
	}
	context->uc_sigmask.sig[0] |= bit_of(number);
	if (!send_again(number, info))
		keep(number, info);
}

/* Positive: an instruction has raised it, or the kernel. */
static void on_signal(Int number, vki_siginfo_t *info, struct vki_ucontext *context)
{
	core_handler *core = (core_handler *)(void *)by_core[number].ksa_handler;

	if (info->si_code <= 0 && !is_in_call(context))
		hold(number, info, context);
	else if ((UWord)core != IGNORE)
		core(dying_of(number, info), info, context);
}

/* One of an instruction's that is ignored waits, too, where it is blocked. */
static Bool is_caught(Int number, const vki_sigaction_toK_t *action)
{
	UWord handler = (UWord)action->ksa_handler;

	return handler > IGNORE || (handler == IGNORE && number != DYING_STACK_FAULT);
}

/* The kernel forgets what waits of a signal when it is told to ignore that, even if it
 * does.  The core tells it so before the program begins. */
static Bool is_ignored_already(Int number, const vki_sigaction_toK_t *action)
{
	vki_sigaction_fromK_t now;

	return action && (UWord)action->ksa_handler == IGNORE &&
	       VG_(get_running_tid)() == VG_INVALID_THREADID &&
	       __real_vgPlain_sigaction(number, NULL, &now) == 0 &&
	       (UWord)now.ksa_handler == IGNORE;
}

static Int take_action(
	Int number, const vki_sigaction_toK_t *action, vki_sigaction_fromK_t *old)
{
	vki_sigaction_toK_t ours, before = {0};
	Int result;

	if (number < 1 || number > VKI_SIGSYS ||
		!((faults() | bit_of(DYING_STACK_FAULT)) & bit_of(number)))
		return __real_vgPlain_sigaction(number, action, old);
	before = by_core[number];
	if (action && is_caught(number, action)) {
		by_core[number] = ours = *action;
		ours.ksa_handler = (void *)on_signal;
		ours.sa_flags |= VKI_SA_SIGINFO | VKI_SA_ONSTACK | VKI_SA_RESTART;
		action = &ours;
	}
	result = __real_vgPlain_sigaction(number, action, old);
	if (old && (void *)old->ksa_handler == (void *)on_signal) {
		old->ksa_handler = before.ksa_handler;
		old->sa_flags = before.sa_flags;
	}
	return result;
}

/* The core looks whether the kernel has what the core told it last. */
Int __wrap_vgPlain_sigaction(
	Int number, const vki_sigaction_toK_t *action, vki_sigaction_fromK_t *old)
{
	/* Actions that the kernel has without being told; no handler: it was told. */
	static vki_sigaction_toK_t left[_VKI_NSIG + 1];
	Int result;

	if (is_ignored_already(number, action)) {
		left[number] = *action;
		action = NULL;
	}
	result = take_action(number, action, old);
	if (old && left[number].ksa_handler)
		*old = left[number];
	if (action && result == 0)
		left[number].ksa_handler = NULL;
	return result;
}

static void change_mask(Int how, UWord which)
{
	cp_syscall(SYS_rt_sigprocmask, (long)how, &which, NULL, (long)SET);
}

void sent_before(void)
{
	if (!held)
		return;
	for (Int i = 1; i <= VKI_SIGSYS; i++) {
		if (!kept[i].is || (kept[i].thread && kept[i].thread != VG_(gettid)()))
			continue;
		kept[i].is = False;
		change_mask(VKI_SIG_BLOCK, bit_of(i));
		if (!send_again(i, &kept[i].info))
			cp_syscall(SYS_kill, VG_(getpid)(), i);
	}
}

/* Signals that the program blocks are ours; the rest is the core's. */
void sent_keep(ThreadId tid)
{
	static const UWord now[2];
	vki_sigset_t mask;
	vki_siginfo_t info;
	UWord blocked;
	long number;

	if (!held)
		return;
	VG_(do_sys_sigprocmask)(tid, VKI_SIG_SETMASK, NULL, &mask);
	blocked = mask.sig[0] & faults();
	while (blocked && (number = cp_syscall(SYS_rt_sigtimedwait, &blocked, &info, now,
				   (long)SET)) > 0)
		keep((Int)number, &info);
}

void sent_handled(ThreadId tid)
{
	sent_keep(tid);
	if (held)
		change_mask(VKI_SIG_UNBLOCK, faults());
}

/* The kernel writes the frames of all that has come at once, so that the last handler
 * runs first; the core writes one. */
void __wrap_vgPlain_poll_signals(ThreadId tid)
{
	Addr before;

	do {
		before = VG_(get_SP)(tid);
		__real_vgPlain_poll_signals(tid);
	} while (VG_(get_SP)(tid) != before);
}

/* The kernel gives what has come when a call returns: a program that has stopped its
 * timer, or waited for its child, has handled what these sent. */
void sent_after(ThreadId tid)
{
	sent_keep(tid);
	VG_(poll_signals)(tid);
	if (held)
		change_mask(VKI_SIG_UNBLOCK, faults());
}

static Bool ignores(Int number)
{
	const UWord by_default = bit_of(VKI_SIGCHLD) | bit_of(VKI_SIGCONT) |
				 bit_of(VKI_SIGURG) | bit_of(VKI_SIGWINCH);
	vki_sigaction_fromK_t action;

	VG_(do_sys_sigaction)(number, NULL, &action);
	return (UWord)action.ksa_handler == IGNORE ||
	       (!action.ksa_handler && by_default & bit_of(number));
}

/* The core, which ignores it already or catches it all the same, tells the kernel
 * nothing; told so, the kernel forgets what waits. */
void sent_ignored(UInt call, const UWord *args, SysRes result)
{
	static const UWord ignore[8] = {IGNORE}; /* larger than any */
	UWord action[8];
	Int number = (Int)args[0];

	if (call != SYS_rt_sigaction || !args[1] || sr_isError(result) ||
		!ignores(number))
		return;
	if (number <= VKI_SIGSYS)
		kept[number].is = False;
	cp_syscall(SYS_rt_sigaction, number, ignore, action, (long)SET);
	cp_syscall(SYS_rt_sigaction, number, action, NULL, (long)SET);
}

/* Signals that wait for its parent do not wait for it. */
void sent_fork_child(void)
{
	VG_(memset)(kept, 0, sizeof(kept));
}

static Bool has_no_dispatch(ThreadId tid)
{
	static Bool said;

	if (call_take(tid, CALL_ARG1) != DISPATCH)
		return False;
	say_once(&said,
		"cachepeek: the simulated PMU has no system call user dispatch: prctl "
		"fails (EINVAL): count the program with CACHEPEEK_ENGINE=perf\n");
	return True;
}

static Bool has_no_disarming(ThreadId tid)
{
	static Bool said;
	UWord stack = call_take(tid, CALL_ARG1);

	if (!can_read(stack, sizeof(vki_stack_t)) ||
		!((UInt)((const vki_stack_t *)stack)->ss_flags & DISARMED))
		return False;
	say_once(&said,
		"cachepeek: the simulated PMU has no signal stack that disarms itself: "
		"sigaltstack fails (EINVAL): count the program with "
		"CACHEPEEK_ENGINE=perf\n");
	return True;
}

Bool sent_refuses(ThreadId tid, UInt number)
{
	return (number == SYS_prctl && has_no_dispatch(tid)) ||
	       (number == SYS_sigaltstack && has_no_disarming(tid));
}
