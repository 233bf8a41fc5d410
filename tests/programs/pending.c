/* SPDX-License-Identifier: MIT
 *
 * Several signals at once, and what becomes of one that nobody handles.
 *	pending [exec]
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 32, STACK = 65536, UNSUPPORTED = 0x400, UNKNOWN = 0x40 };

static const int order[] = {SIGUSR2, SIGURG, SIGHUP, SIGSEGV, SIGUSR1, SIGTERM, SIGTRAP};
static volatile int seen[MOST], n_seen;
static sigset_t all, none;

static void see(int number)
{
	if (n_seen < MOST)
		seen[n_seen++] = number;
}

static void show(const char *what)
{
	printf("%s:", what);
	for (int i = 0; i < n_seen; i++)
		printf(" %d", seen[i]);
	puts("");
	fflush(stdout);
	n_seen = 0;
}

static void handle_all(int flags, int blocked)
{
	struct sigaction action = {.sa_handler = see, .sa_flags = flags};

	if (blocked)
		sigaddset(&action.sa_mask, blocked);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		sigaction(order[i], &action, NULL);
	sigaction(SIGRTMIN, &action, NULL);
}

static void send_all(int to_thread, int times)
{
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (to_thread)
			syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), order[i]);
		else
			kill(getpid(), order[i]);
	for (int i = 0; i < times; i++)
		sigqueue(getpid(), SIGRTMIN, (union sigval){i});
}

/* The last one's handler runs first. */
static void several(void)
{
	static char stack[STACK];
	sigset_t faults;
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};

	handle_all(0, 0);
	for (int to_thread = 0; to_thread < 2; to_thread++) {
		send_all(to_thread, 3);
		sigprocmask(SIG_SETMASK, &none, NULL);
		show(to_thread ? "of the thread" : "of the process");
	}
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGTRAP);
	send_all(0, 3);
	sigsuspend(&faults);
	sigprocmask(SIG_SETMASK, &none, NULL);
	show("suspended");
	handle_all(SA_NODEFER, SIGTERM);
	send_all(0, 3);
	sigprocmask(SIG_SETMASK, &none, NULL);
	show("some blocked meanwhile");
	sigaltstack(&other, NULL);
	handle_all(SA_ONSTACK | SA_RESETHAND, 0);
	send_all(0, 1);
	sigprocmask(SIG_SETMASK, &none, NULL);
	show("on a stack of their own");
}

static void nobody_handles(int number)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		signal(number, SIG_DFL);
		kill(getpid(), number);
		sigsuspend(&all);
	}
	if (number == SIGCHLD || number == SIGCONT || number == SIGURG ||
		number == SIGWINCH)
		kill(child, SIGKILL);
	waitpid(child, &status, 0);
	printf("%d: %d\n", number, WIFSIGNALED(status) ? WTERMSIG(status) : -1);
	fflush(stdout);
}

/* Then it does not wait any more. */
static void ignored_again(int number, void (*action)(int))
{
	sigset_t pending;

	signal(number, action);
	kill(getpid(), number);
	sigpending(&pending);
	printf("ignored %d: %d", number, sigismember(&pending, number));
	signal(number, action);
	sigpending(&pending);
	printf(" %d\n", sigismember(&pending, number));
}

static void flags(void)
{
	struct sigaction action = {
		.sa_handler = see, .sa_flags = SA_RESTART | UNSUPPORTED | UNKNOWN};

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR1, NULL, &action);
	printf("flags: %x\n", (unsigned)action.sa_flags & ~0x4000000U);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	sigset_t pending;

	sigfillset(&all);
	sigemptyset(&none);
	if (argc > 1) {
		sigpending(&pending);
		for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
			printf("%d: %d\n", order[i], sigismember(&pending, order[i]));
		return 0;
	}
	several();
	for (int i = 1; i < SIGSYS; i++)
		if (i != SIGSTOP && i != SIGTSTP && i != SIGTTIN && i != SIGTTOU)
			nobody_handles(i);
	flags();
	sigprocmask(SIG_BLOCK, &all, NULL);
	ignored_again(SIGUSR1, SIG_IGN);
	ignored_again(SIGSEGV, SIG_IGN);
	ignored_again(SIGRTMIN, SIG_IGN);
	ignored_again(SIGURG, SIG_DFL);
	ignored_again(SIGTERM, SIG_DFL);
	fflush(stdout);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		signal(order[i], SIG_IGN);
	send_all(0, 1);
	execl("/proc/self/exe", argv[0], "exec", NULL);
	return 1;
}
