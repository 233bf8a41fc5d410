/* SPDX-License-Identifier: MIT
 *	vm_loops COUNT TIMES
 * Main and then the threads loop-1 and loop-2 run TIMES executions of the
 * region "loop": COUNT turns in main, COUNT + 1000 and COUNT + 2000 in the
 * threads, which live at the same time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cachepeek.h"
#include "loop.h"

static uint64_t turns;
static unsigned times;

/* Each from the same call, so that it costs the same around the loop. */
static void repeat(uint64_t count)
{
	CACHEPEEK_BEGIN("warm");
	CACHEPEEK_END("warm");
	for (unsigned i = 0; i < times; i++) {
		CACHEPEEK_BEGIN("loop");
		loop(count);
		CACHEPEEK_END("loop");
	}
}

static void *run(void *argument)
{
	unsigned index = (unsigned)(uintptr_t)argument;
	char name[16];

	snprintf(name, sizeof(name), "loop-%u", index);
	pthread_setname_np(pthread_self(), name);
	repeat(turns + 1000 * index);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	times = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(i + 1)))
			return 1;
	repeat(turns);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
