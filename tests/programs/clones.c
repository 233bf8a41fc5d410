/* SPDX-License-Identifier: MIT
 *
 * clone(2) with the flags that are given as a number: what the child returned, and
 * whether it shares memory; with pointers that are not there.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK (1 << 16)

static volatile int shared;

static int run_child(void *value)
{
	shared = *(int *)value;
	return 3;
}

static void say(long child, int error)
{
	int status = 0;

	if (child < 0)
		printf("%s\n", strerror(error));
	else if (waitpid((pid_t)child, &status, __WALL) != child)
		printf("lost\n");
	else
		printf("status %d, shared %d\n", WEXITSTATUS(status), shared);
}

int main(int argc, char **argv)
{
	unsigned long flags = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	int value = 42;
	char *stack = mmap(
		NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long child;

	child = clone(
		run_child, stack + STACK, (int)flags, &value, (void *)8, NULL, (void *)8);
	say(child, errno);
	if (flags & CLONE_VM)
		return 0;
	/* The child goes on with this stack. */
	child = syscall(SYS_clone, flags, 0L, 0L, 0L, 0L);
	if (child == 0)
		_exit(6);
	say(child, errno);
	return 0;
}
