/* SPDX-License-Identifier: MIT
 * Prints the signals that are blocked in handlers with SA_NODEFER, and after them.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf back;
static volatile sig_atomic_t depth;

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
	print("handler");
	if (number == SIGSEGV)
		siglongjmp(back, 1);
	if (number == SIGUSR1 && depth++ == 0) {
		raise(SIGUSR2); /* in the mask: waits */
		raise(SIGUSR1); /* not deferred */
		print("after the second");
	}
}

static void take(int number, int flags, int blocked)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = flags};

	sigaddset(&action.sa_mask, blocked);
	sigaction(number, &action, NULL);
}

int main(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGALRM);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	take(SIGUSR1, SA_NODEFER, SIGUSR2);
	take(SIGUSR2, 0, SIGTERM);
	take(SIGINT, SA_NODEFER | SA_RESETHAND, SIGQUIT);
	take(SIGSEGV, SA_NODEFER, SIGTERM);
	take(SIGTERM, SA_NODEFER, SIGTERM);
	raise(SIGUSR1);
	print("after");
	raise(SIGTERM);
	raise(SIGINT);
	if (sigsetjmp(back, 1) == 0)
		*(volatile int *)NULL = 1;
	print("end");
	return 0;
}
