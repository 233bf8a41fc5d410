/* SPDX-License-Identifier: MIT
 *	phases_of_threads PHASES THREADS
 * Each thread goes through so many regions, ten in a "group", and loads lines of one
 * table in each: some more than others, and late threads more than early ones.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cachepeek.h"

#define MOST 64
#define BYTES (1 << 20)

static volatile char table[BYTES];
static int phases;

static void *run(void *number)
{
	int steps = 3 * (1 + (int)(intptr_t)number);
	char name[32];

	for (int phase = 0; phase < phases; phase++) {
		if (phase % 10 == 0)
			CACHEPEEK_BEGIN("group");
		snprintf(name, sizeof(name), "phase-%03d", phase);
		cachepeek_begin_named(name);
		for (int i = 0; i < (phase % 7 + 1) * steps; i++)
			table[i * 64 * (phase % 5 + 1) % BYTES]++;
		cachepeek_end_named(name);
		if (phase % 10 == 9 || phase + 1 == phases)
			CACHEPEEK_END("group");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t others[MOST];

	phases = argc > 1 ? atoi(argv[1]) : 3;
	if (threads < 1 || threads > MOST)
		return 2;
	for (int i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, run, (void *)(intptr_t)i) != 0)
			return 1;
	run(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	return 0;
}
