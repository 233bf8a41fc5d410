/* SPDX-License-Identifier: MIT
 *	small_stack [exit|measure]
 * Threads with the smallest stacks that there are use markers, nested, and
 * create threads like themselves.  exit: one of them ends the process.
 * measure: prints how many bytes of its stack such a thread did not touch.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cachepeek.h"

enum { SIZE = 16384, DEPTH = 5 };

static int ends;

static void nested(int depth)
{
	CACHEPEEK_BEGIN("nested");
	if (depth > 1)
		nested(depth - 1);
	CACHEPEEK_END("nested");
}

static void *inner(void *unused)
{
	nested(2);
	return unused;
}

static pthread_t create(void *stack, void *(*function)(void *))
{
	pthread_t thread;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, SIZE);
	if (pthread_create(&thread, &attributes, function, NULL))
		_exit(1);
	return thread;
}

static void *new_stack(void)
{
	char *stack = mmap(NULL, SIZE + 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack, 4096, PROT_NONE) < 0)
		_exit(1);
	memset(stack + 4096, 0xa5, SIZE);
	return stack + 4096;
}

static void *outer(void *unused)
{
	nested(DEPTH);
	pthread_join(create(new_stack(), inner), NULL);
	if (ends)
		exit(7);
	return unused;
}

int main(int argc, char **argv)
{
	unsigned char *stack = new_stack();
	int untouched = 0;

	ends = argc > 1 && strcmp(argv[1], "exit") == 0;
	pthread_join(create(stack, outer), NULL);
	while (untouched < SIZE && stack[untouched] == 0xa5)
		untouched++;
	printf("%d\n", argc > 1 ? untouched : 0);
	return 0;
}
