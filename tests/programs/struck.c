/* SPDX-License-Identifier: MIT
 *
 * A signal comes while a program computes, and then it executes another one: it is
 * handled before that, or ends the program, and is never lost.  Prints how many of
 * twenty were so, with a handler, without one, blocked, and ignored.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 20, HANDLED = 3 };

/* Shared by parent and child. */
static struct {
	atomic_int ready, sent;
} * between;

static void handle(int number)
{
	(void)number;
	_exit(HANDLED);
}

/* Nothing else is called between the signal and this. */
static void execute(const char *path, const char *const argv[])
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_execve), "D"(path), "S"(argv), "d"(environ)
			 : "rcx", "r11", "memory");
#else
	syscall(SYS_execve, path, argv, environ);
#endif
}

static void become_struck(const char *self)
{
	const char *const argv[] = {self, "look", NULL};

	between->ready = 1;
	while (!between->sent)
		;
	execute(self, argv);
	_exit(99);
}

/* Executed: is it pending? */
static int look(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGALRM) ? 2 : 1;
}

static int run_one(const char *self)
{
	pid_t child;
	int status;

	between->ready = between->sent = 0;
	child = fork();
	if (child == 0)
		become_struck(self);
	while (!between->ready)
		;
	kill(child, SIGALRM);
	between->sent = 1;
	waitpid(child, &status, 0);
	return status;
}

static void run_all(const char *what, const char *self)
{
	int of[3] = {0};

	for (int i = 0; i < CHILDREN; i++) {
		int status = run_one(self);

		of[0] += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
		of[1] += WIFEXITED(status) && WEXITSTATUS(status) == HANDLED;
		of[2] += WIFEXITED(status) && WEXITSTATUS(status) == 2;
	}
	printf("%s: %d ended, %d handled, %d pending\n", what, of[0], of[1], of[2]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	sigset_t alarm;

	if (argc > 1)
		return look();
	between = mmap(NULL, sizeof(*between), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	run_all("default", argv[0]);
	signal(SIGALRM, handle);
	run_all("handler", argv[0]);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	run_all("blocked", argv[0]);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	signal(SIGALRM, SIG_IGN);
	run_all("ignored", argv[0]);
	return 0;
}
