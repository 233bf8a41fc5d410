/* SPDX-License-Identifier: MIT
 *	phases N HOW
 * N times: touches 100 new pages in the region "touch", and sleeps 20 ms.  Then it
 * prints whether libc believes that it has one thread, and ends as HOW says:
 * return, kill (SIGKILL, half a second later), fork (a child that does the same),
 * exec (itself, with "return"), leave (the main thread leaves, a second one
 * returns), strict (a child does, in seccomp's strict mode).
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachepeek.h"
#include "fresh.h"

static void touch(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		char *pages = mmap(NULL, 100 * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED)
			exit(1);
		CACHEPEEK_BEGIN("touch");
		for (int page = 0; page < 100; page++)
			pages[page * PAGE] = 1;
		CACHEPEEK_END("touch");
		munmap(pages, 100 * PAGE);
		usleep(20000);
	}
}

static void *late(void *rounds)
{
	usleep(100000);
	touch(*(int *)rounds);
	return NULL;
}

static int forked(int rounds)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		touch(rounds);
		exit(3);
	}
	/* Nobody's child but ours. */
	if (wait(&status) != child || wait(&status) != -1)
		return 1;
	return WEXITSTATUS(status) == 3 ? 0 : 1;
}

static int strict(void)
{
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	syscall(SYS_exit, 4);
	return 1;
}

int main(int argc, char **argv)
{
	static int rounds;
	const char *how = argc > 2 ? argv[2] : "return";
	sigset_t blocked;
	pthread_t thread;

	rounds = argc > 1 ? atoi(argv[1]) : 10;
	touch(rounds);
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	printf("single %d, USR1 blocked %d\n", (int)__libc_single_threaded,
		sigismember(&blocked, SIGUSR1));
	fflush(stdout);
	if (strcmp(how, "kill") == 0) {
		usleep(500000);
		kill(getpid(), SIGKILL);
	}
	if (strcmp(how, "fork") == 0)
		return forked(rounds);
	if (strcmp(how, "exec") == 0)
		execl(argv[0], argv[0], argv[1], "return", NULL);
	if (strcmp(how, "strict") == 0)
		return strict();
	if (strcmp(how, "leave") == 0) {
		pthread_create(&thread, NULL, late, &rounds);
		pthread_exit(NULL);
	}
	return 0;
}
