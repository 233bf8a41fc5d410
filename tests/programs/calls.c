/* SPDX-License-Identifier: MIT
 *	calls COUNT THREADS
 * Main calls counted() COUNT times; thread i, named call-i, COUNT * (i + 2)
 * times.  Linked without PIE, so that nm knows where counted() will be.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void counted(void);

static unsigned long calls;

__attribute__((noinline)) void counted(void)
{
	__asm__ volatile("");
}

static void call(unsigned long times)
{
	while (times--)
		counted();
}

static void *run(void *argument)
{
	unsigned index = (unsigned)(uintptr_t)argument;
	char name[16];

	snprintf(name, sizeof(name), "call-%u", index);
	pthread_setname_np(pthread_self(), name);
	call(calls * (index + 2));
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	pthread_t *thread = calloc(count + 1, sizeof(*thread));

	calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	for (uintptr_t i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			return 1;
	call(calls);
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return 0;
}
