/* SPDX-License-Identifier: MIT
 * Has a sigaction of its own, in front of the next __sigaction, as Erlang has: prints how
 * many calls came by, and that the handler is there.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>

int __sigaction(int number, const struct sigaction *action, struct sigaction *old);

static volatile sig_atomic_t handled;
static int calls;

int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	static int (*next)(int, const struct sigaction *, struct sigaction *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "__sigaction");
	calls++;
	return next(number, action, old);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	return __sigaction(number, action, old);
}

static void handle(int number)
{
	handled += number == SIGUSR1;
}

int main(void)
{
	struct sigaction action = {.sa_handler = handle}, old = {.sa_handler = handle};

	if (sigaction(SIGUSR1, &action, &old) < 0 || old.sa_handler != SIG_DFL)
		return 1;
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &old);
	printf("calls %d, handled %d, the same %d\n", calls, (int)handled,
		old.sa_handler == handle);
	return 5;
}
