/* SPDX-License-Identifier: MIT
 *	vm_loops COUNT TIMES
 * Main and then the threads loop-1 and loop-2 run TIMES executions of the
 * regions "one", a loop of one turn, and "loop": COUNT turns in main, twice
 * and three times as many in the threads, which live at the same time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cachepeek.h"
#include "loop.h"

static uint64_t turns;
static unsigned times;
static cachepeek_region one_turn, all_turns;

/* Both from the same call, so that what surrounds the loop costs the same. */
static void repeat(uint64_t count)
{
	const cachepeek_region regions[2] = {one_turn, all_turns};
	const volatile uint64_t counts[2] = {1, count};

	for (unsigned i = 0; i < 2 * times; i++) {
		cachepeek_begin(regions[i % 2]);
		loop(counts[i % 2]);
		cachepeek_end(regions[i % 2]);
	}
}

static void *run(void *argument)
{
	unsigned index = (unsigned)(uintptr_t)argument;
	char name[16];

	snprintf(name, sizeof(name), "loop-%u", index);
	pthread_setname_np(pthread_self(), name);
	repeat(turns * (index + 1));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	times = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	one_turn = cachepeek_region_register("one");
	all_turns = cachepeek_region_register("loop");
	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(i + 1)))
			return 1;
	repeat(turns);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
