/* SPDX-License-Identifier: MIT
 *	vfork_writes
 * What a child that borrows the memory of its parent writes there, of every kind of
 * memory: by vfork, and by clone on a stack of its own; a child that executes a program,
 * one whose exec fails and that goes on, one that maps memory.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 20, STACK = 1 << 16 };

static int zeroed, given = 1;
static __thread int of_thread;
static volatile char *block, *mapped, *untouched;
static int (*volatile call)(void);

static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

static void write_all(int n)
{
	zeroed += n;
	given += n;
	of_thread += n;
	call = n & 1 ? two : one;
	for (int i = 0; i < SIZE; i += 4096) {
		block[i] = (char)(block[i] + n);
		mapped[i] = (char)(mapped[i] + n);
	}
	untouched[SIZE / 2] = (char)n;
}

static int run_child(void *n)
{
	write_all(*(int *)n);
	return 0;
}

static void show(const char *what)
{
	int sum = 0;

	for (int i = 0; i < SIZE; i += 4096)
		sum += block[i] + mapped[i] + untouched[i];
	printf("%s: %d %d %d %d %d\n", what, zeroed, given, of_thread, call(), sum);
	fflush(stdout);
}

static char *map(void)
{
	return mmap(
		NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv)
{
	char *const none[] = {NULL};
	char *stack = malloc(STACK);
	int n = 5;

	block = malloc(SIZE);
	mapped = map();
	untouched = map();
	call = one;
	memset((char *)block, 1, SIZE);
	memset((char *)mapped, 2, SIZE);
	if (argc > 1) { /* its own mappings */
		if (vfork() == 0) {
			char *own = map();

			own[0] = 1;
			_exit(own == MAP_FAILED);
		}
		printf("%s\n", argv[1]);
		return 0;
	}
	if (vfork() == 0) {
		write_all(1);
		_exit(0);
	}
	show("vfork");
	if (vfork() == 0) {
		write_all(2);
		execve("/bin/true", none, none);
		_exit(1);
	}
	show("exec");
	if (vfork() == 0) {
		write_all(3);
		execve("/nonexistent", none, none);
		given = errno;
		_exit(1);
	}
	show("failed exec");
	clone(run_child, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &n);
	show("clone");
	while (wait(NULL) > 0)
		;
	return 0;
}
