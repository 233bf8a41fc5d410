/* SPDX-License-Identifier: MIT
 * Waits with masks of its own, in each call that takes one, for two signals that are
 * there already and blocked otherwise: prints what is blocked in their handlers.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

static sigjmp_buf back;
static int events;

static void print(const char *where)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("%s:", where);
	for (int i = 1; i < 32; i++)
		if (sigismember(&mask, i) == 1)
			printf(" %d", i);
	printf("\n");
}

static void handle(int number)
{
	print(strsignal(number));
	if (number == SIGSEGV)
		siglongjmp(back, 1);
}

static int with_sigsuspend(const sigset_t *mask)
{
	return sigsuspend(mask);
}

static int with_ppoll(const sigset_t *mask)
{
	return ppoll(NULL, 0, &(struct timespec){5, 0}, mask);
}

static int with_pselect(const sigset_t *mask)
{
	return pselect(0, NULL, NULL, NULL, &(struct timespec){5, 0}, mask);
}

static int with_epoll_pwait(const sigset_t *mask)
{
	struct epoll_event event;

	return epoll_pwait(events, &event, 1, 5000, mask);
}

static void take(int number, int flags, int blocked)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = flags};

	sigaddset(&action.sa_mask, blocked);
	sigaction(number, &action, NULL);
}

static void wait_for_both(const char *name, int (*wait)(const sigset_t *))
{
	sigset_t mask;
	int result;

	sigemptyset(&mask);
	sigaddset(&mask, SIGALRM);
	raise(SIGUSR1);
	raise(SIGUSR2);
	errno = 0;
	result = wait(&mask);
	printf("%s %d %s\n", name, result, strerror(errno));
	print("after");
}

/* Its mask is forgotten; and one without a mask has none. */
static void wait_for_nothing(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGALRM);
	if (sigsetjmp(back, 1) == 0) {
		printf("ppoll %d\n", ppoll(NULL, 0, &(struct timespec){0, 1}, &mask));
		*(volatile int *)NULL = 1; /* without a system call in between */
	}
	alarm(1);
	printf("poll %d %s\n", poll(NULL, 0, 5000), strerror(errno));
}

int main(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	take(SIGUSR1, 0, SIGTERM);
	take(SIGUSR2, SA_NODEFER, SIGINT);
	take(SIGSEGV, 0, SIGSEGV);
	take(SIGALRM, 0, SIGALRM);
	events = epoll_create1(0);
	wait_for_both("sigsuspend", with_sigsuspend);
	wait_for_both("ppoll", with_ppoll);
	wait_for_both("pselect", with_pselect);
	wait_for_both("epoll_pwait", with_epoll_pwait);
	wait_for_nothing();
	return 0;
}
