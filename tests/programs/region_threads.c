/* SPDX-License-Identifier: MIT
 *	region_threads THREADS
 * Thread i (of 16 at most), named walk-i, loads 8 (i + 1) new lines in the region "walk",
 *all of the threads being alive.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "cachepeek.h"
#include "fresh.h"

enum { MOST = 16 };

static char memory[MOST][8 * MOST * LINE] __attribute__((aligned(PAGE)));
static pthread_barrier_t all_alive;

static void *walk(void *argument)
{
	size_t index = (uintptr_t)argument, lines = 8 * (index + 1);
	char name[16];

	snprintf(name, sizeof(name), "walk-%u", (unsigned)index);
	pthread_setname_np(pthread_self(), name);
	CACHEPEEK_BEGIN("warm");
	load_each(memory[index], 0, LINE);
	CACHEPEEK_END("warm");
	pthread_barrier_wait(&all_alive);
	CACHEPEEK_BEGIN("walk");
	load_each(memory[index], lines, LINE);
	CACHEPEEK_END("walk");
	pthread_barrier_wait(&all_alive);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 8;
	pthread_t *thread = calloc(count, sizeof(*thread));

	if (count > MOST)
		return 2;
	pthread_barrier_init(&all_alive, NULL, count);
	for (uintptr_t i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, walk, (void *)i))
			return 1;
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return 0;
}
