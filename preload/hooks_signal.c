/* SPDX-License-Identifier: MIT
 *
 * Overrides: sigaction, __sigaction, signal, bsd_signal, ssignal, sysv_signal,
 *   __sysv_signal, sigset, sigaltstack.
 *
 * The program's own handlers replace ours; where it goes back to SIG_DFL ours
 * returns; where it asks, it learns what it set itself.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "preload/fatal.h"
#include "preload/real.h"
#include "preload/runtime.h"
#include "preload/threads.h"

#define EXPORT __attribute__((visibility("default")))

static bool is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

EXPORT int sigaction(int number, const struct sigaction *restrict action,
	struct sigaction *restrict old)
{
	bool again = action && is_default(action);
	struct sigaction before, view;

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
		cp_fatal_watch(number);
	return 0;
}

EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return sigaction(number, action, old);
}

/* What signal() and its like return, as the program is to see it. */
static sighandler_t seen(int number, sighandler_t wanted, sighandler_t before)
{
	struct sigaction action = {.sa_handler = before, .sa_flags = SA_SIGINFO};

	if (before != SIG_ERR && wanted == SIG_DFL && cp_counting())
		cp_fatal_watch(number);
	return cp_fatal_is_ours(&action) ? SIG_DFL : before;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	return seen(number, handler, CP_REAL(signal)(number, handler));
}

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
	return seen(number, handler, CP_REAL(signal)(number, handler));
}

EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
	return seen(number, handler, CP_REAL(signal)(number, handler));
}

EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	return seen(number, handler, CP_REAL(__sysv_signal)(number, handler));
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	return seen(number, handler, CP_REAL(__sysv_signal)(number, handler));
}

static __typeof__(&signal) real_sigset(void)
{
	return cp_reals.sigset ? cp_reals.sigset
			       : (__typeof__(&signal))(uintptr_t)cp_real_find("sigset");
}

EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
	return seen(number, handler, real_sigset()(number, handler));
}

/* A thread that has no stack of its own has ours, and does not know; one that
 * gives its own back gets ours again. */
EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
	bool again = stack && (stack->ss_flags & SS_DISABLE) && cp_self.stack;
	stack_t before;

	if (CP_REAL(sigaltstack)(stack, &before) < 0)
		return -1;
	if (again) {
		stack_t ours;

		cp_fatal_stack(&ours);
		CP_REAL(sigaltstack)(&ours, NULL);
	}
	if (!old)
		return 0;
	*old = before;
	if (cp_fatal_is_our_stack(&before))
		*old = (stack_t){.ss_flags = SS_DISABLE};
	return 0;
}
