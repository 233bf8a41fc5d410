/* SPDX-License-Identifier: MIT
 *	ends_watching HOW
 * Looks for children while it ends, which it does with status 7, and says what it finds.
 *
 * nothing: does not look.  handler: has a handler of SIGCHLD.  ignore: ignores SIGCHLD.
 * waits: a thread waits for any child, and there is one that ends after it.  none:
 * forbids itself to have children (RLIMIT_NPROC).  blind: closes stdin, stdout and
 * stderr.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what)
{
	ssize_t ignored = write(STDOUT_FILENO, what, strlen(what));

	(void)ignored;
}

static void on_child(int number)
{
	(void)number;
	say("SIGCHLD\n");
}

static void *wait_for_any(void *unused)
{
	(void)unused;
	while (wait(NULL) > 0)
		say("a child has ended\n");
	say("there is no child\n");
	return NULL;
}

static void start_waiting(void)
{
	pid_t parent = getpid();
	pthread_t thread;

	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			sleep(1);
		_exit(0);
	}
	pthread_create(&thread, NULL, wait_for_any, NULL);
	pthread_detach(thread);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "nothing";
	const struct rlimit none = {0, 0};

	if (strcmp(how, "handler") == 0)
		signal(SIGCHLD, on_child);
	else if (strcmp(how, "ignore") == 0)
		signal(SIGCHLD, SIG_IGN);
	else if (strcmp(how, "waits") == 0)
		start_waiting();
	else if (strcmp(how, "none") == 0)
		setrlimit(RLIMIT_NPROC, &none);
	say("the end\n");
	for (int fd = 0; strcmp(how, "blind") == 0 && fd <= STDERR_FILENO; fd++)
		close(fd);
	return 7;
}
