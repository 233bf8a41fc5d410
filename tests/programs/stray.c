/* SPDX-License-Identifier: MIT
 *	stray HOW
 * A thread made by clone(2) itself, of which libc knows nothing, computes for a
 * while: and has ended when the program does (gone), or runs on until a thread
 * is created that libc knows (stays); none: there is no such thread.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 100000000ul /* of three instructions on amd64 */

static volatile int alive = 1, enough;

/* No call of libc: the thread has the thread-local memory of the main one. */
static int spin(void *how)
{
	for (unsigned long i = 0; i < ROUNDS || (*(char *)how == 's' && !enough); i++)
		__asm__ volatile("");
	return 0;
}

static void *nothing(void *unused)
{
	return unused;
}

int main(int argc, char **argv)
{
	char *how = argc > 1 ? argv[1] : "none", *stack = malloc(65536);
	pthread_t thread;
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;

	if (strcmp(how, "none") != 0 &&
		clone(spin, stack + 65536, flags, how, NULL, NULL, &alive) < 0)
		return 1;
	if (!strcmp(how, "stays")) {
		usleep(20000);
		pthread_create(&thread, NULL, nothing, NULL);
		pthread_join(thread, NULL);
		usleep(20000);
		enough = 1;
	}
	while (strcmp(how, "none") != 0 && alive)
		syscall(SYS_futex, &alive, FUTEX_WAIT, alive, NULL, NULL, 0);
	puts(how);
	return 0;
}
