/* SPDX-License-Identifier: MIT
 *	region_calls TIMES THREADS
 * In main, and in each thread (named call-i): TIMES times "outer", which calls
 * counted() 7 times and has three "inner" of 5 calls each, the last of them with
 * another "inner" of 2 inside; and 11 calls in no region.  Linked without PIE, so
 * that nm knows where counted() will be.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cachepeek.h"

void counted(void);

static unsigned long times;

__attribute__((noinline)) void counted(void)
{
	__asm__ volatile("");
}

static void call(unsigned count)
{
	while (count--)
		counted();
}

static void inner(unsigned count, unsigned inside)
{
	CACHEPEEK_BEGIN("inner");
	call(count);
	if (inside)
		inner(inside, 0);
	CACHEPEEK_END("inner");
}

static void nest(void)
{
	call(11);
	for (unsigned long i = 0; i < times; i++) {
		CACHEPEEK_BEGIN("outer");
		call(3);
		inner(5, 0);
		inner(5, 0);
		call(4);
		inner(5, 2);
		CACHEPEEK_END("outer");
	}
}

static void *run(void *argument)
{
	char name[16];

	snprintf(name, sizeof(name), "call-%u", (unsigned)(uintptr_t)argument);
	pthread_setname_np(pthread_self(), name);
	nest();
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	pthread_t *thread = calloc(count + 1, sizeof(*thread));

	times = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	for (uintptr_t i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			return 1;
	nest();
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return 0;
}
