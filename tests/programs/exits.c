/* SPDX-License-Identifier: MIT
 *	exits HOW
 * Ends in one of the ways in which processes end.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *exit_thread(void *unused)
{
	(void)unused;
	exit(9);
}

static void *slow_thread(void *unused)
{
	usleep(20000);
	return unused;
}

static void at_exit(void)
{
	_exit(11);
}

static void quick(void)
{
	static const char text[] = "at_quick_exit\n";

	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(99);
}

static void start(void *(*run)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
}

static void on_term(int signal)
{
	_exit(100 + signal);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";

	setvbuf(stdout, NULL, _IONBF, 0);
	printf("%s\n", how);
	if (!strcmp(how, "return"))
		return 3;
	if (!strcmp(how, "exit"))
		exit(4);
	if (!strcmp(how, "_exit"))
		_exit(5);
	if (!strcmp(how, "_Exit"))
		_Exit(6);
	if (!strcmp(how, "quick_exit")) {
		at_quick_exit(quick);
		quick_exit(7);
	}
	if (!strcmp(how, "exit_group"))
		syscall(SYS_exit_group, 8);
	if (!strcmp(how, "thread")) {
		start(exit_thread);
		for (;;)
			pause();
	}
	if (!strcmp(how, "pthread_exit")) {
		start(slow_thread);
		pthread_exit(NULL);
	}
	if (!strcmp(how, "atexit")) {
		atexit(at_exit);
		return 10;
	}
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "handled")) {
		signal(SIGTERM, on_term);
		raise(SIGTERM);
	}
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "exec"))
		execl("/bin/sh", "sh", "-c", "echo in sh; exit 12", NULL);
	if (!strcmp(how, "fork")) {
		int status;

		if (!fork())
			_exit(13);
		wait(&status);
		return WEXITSTATUS(status) + 1;
	}
	if (!strcmp(how, "vfork")) {
		int status;

		if (!vfork())
			_exit(15);
		wait(&status);
		return WEXITSTATUS(status) + 1;
	}
	return 99;
}
