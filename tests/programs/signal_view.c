/* SPDX-License-Identifier: MIT
 * Prints what the program can see of its signals, before and after it has set
 * and unset handlers; its children's too.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* libc's own business, which differs after system(). */
#define RESTORER 0x04000000u

static const char *name_of(const struct sigaction *action)
{
	if (action->sa_flags & SA_SIGINFO)
		return "info";
	if (action->sa_handler == SIG_DFL)
		return "default";
	return action->sa_handler == SIG_IGN ? "ignored" : "handler";
}

static void show(const char *when)
{
	struct sigaction action;
	stack_t stack;

	for (int number = 1; number < NSIG; number++)
		if (sigaction(number, NULL, &action) == 0)
			printf("%s %d %s %x %d\n", when, number, name_of(&action),
				(unsigned)action.sa_flags & ~RESTORER,
				sigismember(&action.sa_mask, SIGTERM));
	sigaltstack(NULL, &stack);
	printf("%s stack %p %zu %d\n", when, stack.ss_sp, stack.ss_size, stack.ss_flags);
}

static void nothing(int number)
{
	(void)number;
}

static void change(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NODEFER};
	struct sigaction old;

	printf("%d\n", signal(SIGINT, nothing) == SIG_DFL);
	printf("%d\n", signal(SIGINT, SIG_DFL) == nothing);
	printf("%d\n", signal(SIGINT, SIG_IGN) == SIG_DFL);
	printf("%d\n", signal(SIGUSR1, SIG_DFL) == SIG_DFL);
	printf("%d\n", sysv_signal(SIGUSR2, nothing) == SIG_DFL);
	sigaddset(&action.sa_mask, SIGTERM);
	printf("%d\n", sigaction(SIGHUP, &action, &old));
	printf("%s %x\n", name_of(&old), (unsigned)old.sa_flags);
	printf("%d %d\n", sigaction(SIGKILL, &action, NULL),
		sigaction(SIGKILL, NULL, &old));
	printf("%d\n", system("trap 'echo trapped; exit 3' TERM; kill -TERM $$") >> 8);
}

static void *stacks(void *unused)
{
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)}, old;

	printf("%d\n", sigaltstack(&stack, &old));
	printf("%p %zu %d\n", old.ss_sp, old.ss_size, old.ss_flags);
	stack = (stack_t){.ss_flags = SS_DISABLE};
	printf("%d\n", sigaltstack(&stack, &old));
	printf("%d %zu %d\n", old.ss_sp == memory, old.ss_size, old.ss_flags);
	show("thread");
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int status;

	setvbuf(stdout, NULL, _IONBF, 0);
	show(argc > 1 ? argv[1] : "start");
	if (argc > 1)
		return 0;
	change();
	show("changed");
	pthread_create(&thread, NULL, stacks, NULL);
	pthread_join(thread, NULL);
	if (fork() == 0) {
		show("child");
		execl(argv[0], argv[0], "image", NULL);
		_exit(99);
	}
	wait(&status);
	printf("%x\n", (unsigned)status);
	if (fork() == 0)
		raise(SIGUSR1);
	wait(&status);
	printf("%x\n", (unsigned)status);
	return 0;
}
