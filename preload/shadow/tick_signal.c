/* SPDX-License-Identifier: MIT
 *
 * The kernel is asked itself, as the C library refuses that number: SIGCANCEL of glibc,
 * SIGTIMER of musl.  glibc's own use of it is the cancellation of threads: from the first
 * pthread_cancel on its handler is in place of ours, and ignores what is no cancellation.
 * So the ticks end there.
 */
#include "preload/shadow/tick_signal.h"

#include <errno.h>
#include <time.h>

#include "base/syscall.h"
#include "preload/runtime.h"

#if defined(__x86_64__)

/* As the kernel has it. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

#define RESTORER 0x04000000ul /* SA_RESTORER */

void cp_tick_return(void) __attribute__((visibility("hidden")));
__asm__(".text\n\t.hidden cp_tick_return\n\t.globl cp_tick_return\n"
	"\t.type cp_tick_return, @function\n"
	"cp_tick_return:\n\tmov $15, %eax\n\tsyscall\n"
	"\t.size cp_tick_return, .-cp_tick_return\n");

/* glibc's posix_spawn(3), which make(1) uses, leaves the signal ignored in the child. */
static bool is_free(const struct kernel_action *now)
{
	return (uintptr_t)now->handler == (uintptr_t)SIG_DFL ||
	       (uintptr_t)now->handler == (uintptr_t)SIG_IGN;
}

static long ask(struct kernel_action *now)
{
	return cp_syscall(SYS_rt_sigaction, CP_TICK_SIGNAL, NULL, now, sizeof(now->mask));
}

bool cp_tick_signal_is_ours(void)
{
	struct kernel_action now = {0};

	return ask(&now) == 0 && now.restorer == cp_tick_return;
}

int cp_tick_signal_start(void (*on_tick)(int, siginfo_t *, void *))
{
	struct kernel_action now = {0},
			     ours = {on_tick,
				     SA_SIGINFO | SA_ONSTACK | SA_RESTART | RESTORER,
				     cp_tick_return, ~0ul};
	long result = ask(&now);

	if (result == 0 && !is_free(&now) && now.handler != on_tick)
		return -EBUSY;
	return result < 0 ? (int)result
			  : (int)cp_syscall(SYS_rt_sigaction, CP_TICK_SIGNAL, &ours, NULL,
				    sizeof(ours.mask));
}

#else

int cp_tick_signal_start(void (*on_tick)(int, siginfo_t *, void *))
{
	(void)on_tick;
	return -ENOSYS;
}

bool cp_tick_signal_is_ours(void)
{
	return false;
}

#endif

int cp_tick_timer(void *data)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = CP_TICK_SIGNAL,
		.sigev_value.sival_ptr = data};
	int timer = -1;
	long result;

	event._sigev_un._tid = (pid_t)cp_syscall(SYS_gettid);
	result = cp_syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer);
	return result < 0 ? (int)result : timer;
}

void cp_tick_timer_arm(int timer, uint64_t ns)
{
	struct itimerspec when = {.it_value = {.tv_sec = (time_t)(ns / 1000000000),
					  .tv_nsec = (long)(ns % 1000000000)}};

	cp_syscall(SYS_timer_settime, timer, 0L, &when, NULL);
}

void cp_tick_timer_end(int timer)
{
	cp_syscall(SYS_timer_delete, timer);
}
