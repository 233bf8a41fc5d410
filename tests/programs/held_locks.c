/* SPDX-License-Identifier: MIT
 *
 * Forks while each lock of the library is held, as by another thread; which they are,
 * the arguments say: addresses in the library, and where in it is its list of
 * locks in other memory.  The child, and a child of the child, look at all of them,
 * and use what they are for.
 */
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "regions/cachepeek.h"

struct lock {
	int held, torn;
};

struct made {
	struct lock lock;
	struct made *next;
};

static struct lock *locks[256];
static int nlocks;
static void *volatile block;

static int find(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libcachepeek.so"))
		return 0;
	*(char **)base = (char *)info->dlpi_addr;
	return 1;
}

static int held(void)
{
	int count = 0;

	for (int i = 0; i < nlocks; i++)
		count += locks[i]->held != 0;
	return count;
}

static void hold(int value)
{
	for (int i = 0; i < nlocks; i++)
		locks[i]->held = value;
}

static void *nothing(void *argument)
{
	return argument;
}

static void use(void)
{
	pthread_t thread;

	CACHEPEEK_BEGIN("in a child");
	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, NULL);
	CACHEPEEK_END("in a child");
}

/* 253: it hangs. */
static int end_of(pid_t child)
{
	int status = 0;

	for (int tries = 0; tries < 12000; tries++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
		usleep(10000);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return 253;
}

/* The number of locks that are still held down the generations. */
static int fork_held(int generations)
{
	int after;
	pid_t child;

	hold(1);
	child = fork();
	if (child != 0)
		hold(0);
	if (child < 0)
		return 255;
	if (child == 0) {
		after = held();
		hold(0);
		use();
		if (generations > 1 && after == 0)
			after = fork_held(generations - 1);
		exit(after);
	}
	return end_of(child);
}

int main(int argc, char **argv)
{
	char *base = NULL;

	if (dl_iterate_phdr(find, &base) == 0)
		return 2;
	use();
	free(malloc(1 << 20)); /* the heap's observer, where it is, has noted blocks */
	block = malloc(1 << 20);
	for (int i = 2; i < argc; i++)
		locks[nlocks++] = (struct lock *)(base + strtoul(argv[i], NULL, 16));
	for (struct made *made = *(struct made **)(base + strtoul(argv[1], NULL, 16));
		made; made = made->next)
		locks[nlocks++] = &made->lock;
	printf("%d locks, %d held in a child\n", nlocks, fork_held(2));
	return 0;
}
