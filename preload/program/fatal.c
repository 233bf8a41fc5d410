/* SPDX-License-Identifier: MIT */
#include "preload/program/fatal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/syscall.h"
#include "preload/libc/real.h"
#include "preload/program/illegal.h"
#include "preload/program/readable.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/process.h"

/* At SIG_DFL the kernel ends the process (signal(7)); real-time
 * signals, too. */
static bool is_fatal(int number)
{
	switch (number) {
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGILL:
	case SIGTRAP:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGUSR1:
	case SIGSEGV:
	case SIGUSR2:
	case SIGPIPE:
	case SIGALRM:
	case SIGTERM:
#ifdef SIGSTKFLT
	case SIGSTKFLT:
#endif
	case SIGXCPU:
	case SIGXFSZ:
	case SIGVTALRM:
	case SIGPROF:
	case SIGIO:
	case SIGPWR:
	case SIGSYS:
		return true;
	default:
		return number >= SIGRTMIN && number <= SIGRTMAX;
	}
}

/* The signals that are fatal at default. */
static struct {
	/* The program's last action with SIG_DFL; most programs set none. */
	struct sigaction views[NSIG];
	/* Since then the program may have forbidden itself the system call (seccomp(2)).
	 */
	bool stopped;
	const struct cp_trap_owner *traps; /* NULL: there is none */
} fatal;

/* ---- the handler ---- */

/* The instruction itself did it, and would do it again. */
static bool is_fault(int number, const siginfo_t *info)
{
	switch (number) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGTRAP:
	case SIGSYS:
		return info->si_code > 0;
	default:
		return number == SIGABRT; /* somebody waits for it to be fatal */
	}
}

/* To the calling thread, as it came: a core file tells what it was.  The
 * simulator takes one that says it is a fault for a fault of its own. */
static void send_again(int number, siginfo_t *info)
{
	pid_t pid = getpid();
	long tid = cp_syscall(SYS_gettid);

	if (cp_is_reexecuted() ||
		cp_syscall(SYS_rt_tgsigqueueinfo, pid, tid, number, info) < 0)
		cp_syscall(SYS_tgkill, pid, tid, number);
}

/* A signal is blocked in its own handler: it strikes as soon as that returns,
 * at the instruction that was interrupted. */
static void die_of(int number, siginfo_t *info)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	CP_REAL(sigaction)(number, &action, NULL);
	send_again(number, info);
}

/* Our own writes may meet a closed pipe: nobody else is to know. */
static bool is_our_own(int number, const siginfo_t *info)
{
	return number == SIGPIPE && info->si_code <= 0 && info->si_pid == getpid();
}

static void defer_signal(int number, const siginfo_t *info)
{
	if (cp_self.pending)
		return;
	cp_self.pending_info = *info;
	cp_self.pending = number;
}

static void handle_fatal(int number, siginfo_t *info)
{
	int saved = errno, state;

	if (cp_self.depth > 0 && !cp_self.left && !is_fault(number, info)) {
		if (!is_our_own(number, info))
			defer_signal(number, info);
		return;
	}
	if (cp_self.depth > 0) {
		cp_process_cut(CP_HOW_SIGNAL, number);
	} else {
		CP_REAL(pthread_setcancelstate)(PTHREAD_CANCEL_DISABLE, &state);
		if (number == SIGILL && info->si_code > 0)
			cp_illegal_note(info);
		cp_process_end(CP_HOW_SIGNAL, number);
		cp_process_cut(CP_HOW_SIGNAL, number);
	}
	die_of(number, info);
	errno = saved;
}

static void handle_signal(int number, siginfo_t *info, void *context)
{
	if (number == SIGTRAP && fatal.traps && fatal.traps->take(info, context))
		return;
	handle_fatal(number, info);
}

void cp_deferred_signal(void)
{
	siginfo_t info = cp_self.pending_info;
	int number = cp_self.pending;

	if (cp_self.depth > 0 && !cp_self.left)
		return;
	cp_self.pending = 0;
	send_again(number, &info);
}

/* ---- watching ---- */

bool cp_fatal_is_ours(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == handle_signal;
}

void cp_fatal_view(int number, struct sigaction *view)
{
	*view = fatal.views[number];
}

void cp_fatal_watch(int number)
{
	struct sigaction action =
				 {
					 .sa_sigaction = handle_signal,
					 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART,
				 },
			 old;
	int saved = errno;

	/* The first process of a container does not die of SIG_DFL. */
	if (number < 1 || number >= NSIG || !is_fatal(number) || cp_runtime.pid == 1)
		return;
	if (__atomic_load_n(&fatal.stopped, __ATOMIC_ACQUIRE))
		return;
	if (CP_REAL(sigaction)(number, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
		old.sa_handler == SIG_DFL) {
		fatal.views[number] = old;
		CP_REAL(sigaction)(number, &action, NULL);
	}
	errno = saved;
}

/* The owner's code is as if the function had called it: on its stack, and not interrupted
 * before it is done. */
bool cp_fatal_own_traps(const struct cp_trap_owner *owner)
{
	struct sigaction action = {.sa_flags = 0};

	if (fatal.traps)
		return true;
	cp_fatal_watch(SIGTRAP);
	if (CP_REAL(sigaction)(SIGTRAP, NULL, &action) < 0 || !cp_fatal_is_ours(&action))
		return false;
	action.sa_flags &= ~SA_ONSTACK;
	sigfillset(&action.sa_mask);
	fatal.traps = owner;
	return CP_REAL(sigaction)(SIGTRAP, &action, NULL) == 0;
}

bool cp_fatal_has_traps(void)
{
	return fatal.traps;
}

void cp_fatal_yield_traps(const char *why)
{
	if (fatal.traps)
		fatal.traps->yield(why);
}

/* A SIGTRAP of ours that comes while it is blocked would stay there, where the program
 * can see it. */
void cp_fatal_want_mask(int how, const void *set)
{
	uint64_t mask;

	if (how == SIG_UNBLOCK || !cp_fatal_has_traps() ||
		!cp_can_read(set, sizeof(mask)))
		return;
	memcpy(&mask, set, sizeof(mask));
	if (mask >> (SIGTRAP - 1) & 1)
		cp_fatal_yield_traps("the program blocks SIGTRAP");
}

void cp_fatal_start(void)
{
	__atomic_store_n(&fatal.stopped, false, __ATOMIC_RELEASE);
	for (int number = 1; number < NSIG; number++)
		cp_fatal_watch(number);
}

void cp_fatal_stop(void)
{
	struct sigaction action;

	cp_fatal_yield_traps("the program forbids itself system calls");
	__atomic_store_n(&fatal.stopped, true, __ATOMIC_RELEASE);
	for (int number = 1; number < NSIG; number++)
		if (is_fatal(number) && CP_REAL(sigaction)(number, NULL, &action) == 0 &&
			cp_fatal_is_ours(&action))
			CP_REAL(sigaction)(number, &fatal.views[number], NULL);
}
