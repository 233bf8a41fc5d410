/* SPDX-License-Identifier: MIT
 * exec_errors DIRECTORY: tries to execute what the kernel refuses, and prints why; what
 * the program is must be left as it was.  Then it executes itself, and prints what is
 * ignored, blocked and pending there.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t handled;
static int pipes[2];

static void handler(int number)
{
	(void)number;
	handled = handled + 1;
}

static void *wait_for_byte(void *unused)
{
	char byte;

	return read(pipes[0], &byte, 1) == 1 ? unused : NULL;
}

static const char *in(const char *directory, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static const char *make(
	const char *directory, const char *name, const char *text, int mode)
{
	const char *path = in(directory, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fchmod(fd, (mode_t)mode) < 0)
		exit(2);
	close(fd);
	return path;
}

static void try(
	const char *what, const char *path, char *const argv[], char *const envp[])
{
	errno = 0;
	execve(path, argv, envp);
	printf("%s: %d\n", what, errno);
	fflush(stdout);
}

static void fail(const char *directory)
{
	static char long_word[200 << 10];
	char *plain[] = {"word", NULL}, *too_long[] = {"word", long_word, NULL};
	char *bad_pointer[] = {(char *)8, NULL};
	int busy;

	memset(long_word, 'x', sizeof(long_word) - 1);
	try("missing", in(directory, "nothing"), plain, environ);
	try("a directory", directory, plain, environ);
	try("not executable", make(directory, "text", "x", 0600), plain, environ);
	try("no format", make(directory, "data", "\1\2\3\4", 0700), plain, environ);
	try("empty", make(directory, "empty", "", 0700), plain, environ);
	try("no interpreter", make(directory, "script", "#!/no/such\n", 0700), plain,
		environ);
	try("a long argument", "/bin/true", too_long, environ);
	try("a long variable", "/bin/true", plain, too_long);
	busy = open(make(directory, "busy", "#!/bin/true\n", 0700), O_WRONLY);
	try("being written", in(directory, "busy"), plain, environ);
	close(busy);
	try("no path", NULL, plain, environ);
	try("bad pointer in argv", "/bin/true", bad_pointer, environ);
	errno = 0; /* libc's function may look at them */
	syscall(SYS_execve, "/bin/true", plain, bad_pointer);
	printf("bad pointer in envp: %d\n", errno);
	errno = 0;
	syscall(SYS_execveat, -1, "relative", plain, environ, 0);
	printf("execveat, no such descriptor: %d\n", errno);
	errno = 0;
	syscall(SYS_execveat, AT_FDCWD, "/bin/true", too_long, environ, 0);
	printf("execveat, a long argument: %d\n", errno);
}

static void print_set(const char *what, const sigset_t *set)
{
	printf("%s:", what);
	for (int i = 1; i <= 31; i++)
		if (sigismember(set, i))
			printf(" %d", i);
	printf("\n");
}

static int show(void)
{
	struct sigaction action;
	sigset_t set;

	sigemptyset(&set);
	for (int i = 1; i <= 31; i++)
		if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&set, i);
	print_set("ignored", &set);
	sigprocmask(SIG_BLOCK, NULL, &set);
	print_set("blocked", &set);
	sigpending(&set);
	print_set("pending", &set);
	return 7;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	sigset_t blocked;
	void *result = NULL;

	if (argc < 2)
		return show();
	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	signal(SIGCHLD, handler);
	signal(SIGFPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigaddset(&blocked, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	if (pipe(pipes) < 0 || pthread_create(&thread, NULL, wait_for_byte, pipes) != 0)
		return 1;
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGCHLD);
	fail(argv[1]);
	if (write(pipes[1], "x", 1) != 1 || pthread_join(thread, &result) != 0 || !result)
		return 1;
	printf("handled %d", (int)handled);
	pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
	printf(", then %d", (int)handled);
	kill(getpid(), SIGUSR1);
	printf(", then %d\n", (int)handled);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	kill(getpid(), SIGUSR2);
	fflush(stdout);
	execl(argv[0], argv[0], (char *)NULL);
	return 1;
}
