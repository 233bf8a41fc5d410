/* SPDX-License-Identifier: MIT
 *
 * Overrides: sigaction, __sigaction, signal, bsd_signal, ssignal, sysv_signal,
 *   __sysv_signal, sigset, sigaltstack, pthread_sigmask, sigprocmask,
 *   raise, kill, pthread_kill, tgkill.
 *
 * The program's own handlers replace ours; where it goes back to SIG_DFL ours
 * returns; where it asks, it learns what it set itself.  A handler for one signal
 * (SA_RESETHAND) is gone without anybody being told: whoever then sends the signal
 * once more, to die of it, does so by one of the last four.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/export.h"
#include "preload/program/fatal.h"
#include "preload/program/readable.h"
#include "preload/libc/real.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/threads/signal_stack.h"

/* Our work there is not the program's. */
static void watch_signal(int number)
{
	int state;

	cp_own_work_begin(&state);
	cp_fatal_watch(number);
	cp_own_work_end(state);
}

/* The program is about to have an action of its own. */
static void want_signal(int number)
{
	if (number == SIGTRAP)
		cp_fatal_yield_traps("the program sets SIGTRAP itself");
}

static bool is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

EXPORT int sigaction(int number, const struct sigaction *restrict action,
	struct sigaction *restrict old)
{
	bool again = action && is_default(action);
	struct sigaction before, view;

	if (action)
		want_signal(number);
	if (!cp_counting())
		again = false;
	if (CP_REAL(sigaction)(number, action, &before) < 0)
		return -1;
	if (cp_fatal_is_ours(&before)) {
		cp_fatal_view(number, &view);
		before = view;
	}
	if (old)
		*old = before;
	if (again)
		watch_signal(number);
	return 0;
}

EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return sigaction(number, action, old);
}

/* The result of signal() and its like, as the program is to see it. */
static sighandler_t seen_handler(int number, sighandler_t wanted, sighandler_t before)
{
	struct sigaction action = {.sa_handler = before, .sa_flags = SA_SIGINFO};

	if (before != SIG_ERR && wanted == SIG_DFL && cp_counting())
		watch_signal(number);
	return cp_fatal_is_ours(&action) ? SIG_DFL : before;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	want_signal(number);
	return seen_handler(number, handler, CP_REAL(signal)(number, handler));
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
	want_signal(number);
	return seen_handler(number, handler, CP_REAL(signal)(number, handler));
}

EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
	want_signal(number);
	return seen_handler(number, handler, CP_REAL(signal)(number, handler));
}

EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	want_signal(number);
	return seen_handler(number, handler, CP_REAL(__sysv_signal)(number, handler));
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	want_signal(number);
	return seen_handler(number, handler, CP_REAL(__sysv_signal)(number, handler));
}

static __typeof__(&signal) real_sigset(void)
{
	return cp_reals.sigset ? cp_reals.sigset
			       : (__typeof__(&signal))(uintptr_t)cp_real_find("sigset");
}

EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
	want_signal(number);
	return seen_handler(number, handler, real_sigset()(number, handler));
}

/* A thread that has no stack of its own has ours, and does not know; one that
 * gives its own back gets ours again. */
EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
	bool again = cp_self.stack && cp_can_read(stack, sizeof(*stack)) &&
		     (stack->ss_flags & SS_DISABLE);

	if (CP_REAL(sigaltstack)(stack, old) < 0)
		return -1;
	if (again) {
		stack_t ours;
		int state;

		cp_own_work_begin(&state);
		cp_signal_stack_show(&ours);
		CP_REAL(sigaltstack)(&ours, NULL);
		cp_own_work_end(state);
	}
	if (old && cp_signal_stack_is_ours(old))
		*old = (stack_t){.ss_flags = SS_DISABLE};
	return 0;
}

/* ---- masks ---- */

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	cp_fatal_want_mask(how, set);
	return CP_REAL(pthread_sigmask)(how, set, old);
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	cp_fatal_want_mask(how, set);
	return CP_REAL(sigprocmask)(how, set, old);
}

/* ---- signals to itself ---- */

static void about_to_die(int number)
{
	int state;

	cp_own_work_begin(&state);
	if (cp_counting() && !cp_confined() && cp_is_this_process())
		cp_fatal_watch(number);
	cp_own_work_end(state);
}

EXPORT int raise(int number)
{
	about_to_die(number);
	return CP_REAL(raise)(number);
}

EXPORT int kill(pid_t pid, int number)
{
	if (pid == 0 || pid == cp_runtime.pid)
		about_to_die(number);
	return CP_REAL(kill)(pid, number);
}

EXPORT int pthread_kill(pthread_t thread, int number)
{
	about_to_die(number);
	return CP_REAL(pthread_kill)(thread, number);
}

EXPORT int tgkill(pid_t pid, pid_t tid, int number)
{
	if (pid == cp_runtime.pid)
		about_to_die(number);
	return CP_REAL(tgkill)(pid, tid, number);
}
