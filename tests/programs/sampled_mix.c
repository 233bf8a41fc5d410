/* SPDX-License-Identifier: MIT
 *	sampled_mix [THREADS]
 * For CACHEPEEK_SAMPLE: each thread (one, or so many besides the first) looks up places
 *of a table at random (region "tables"), walks an array that no L2 holds ("stream"), and
 *does little 4000 times ("often") and once ("once").
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cachepeek.h"

enum { TABLE = 1 << 15, ARRAY = 4 << 20, LINE = 64 };

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static uint32_t look_up(uint32_t *table, unsigned times, uint64_t *state)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < times; i++)
		sum += table[next(state) % TABLE]++;
	return sum;
}

static uint32_t walk(const char *array, unsigned passes)
{
	uint32_t sum = 0;

	for (unsigned pass = 0; pass < passes; pass++)
		for (unsigned i = 0; i < ARRAY; i += LINE)
			sum += (uint32_t)array[i] ^ pass;
	return sum;
}

static void *work(void *unused)
{
	uint32_t *table = calloc(TABLE, sizeof(*table)), sum = 0;
	char *array = calloc(ARRAY, 1);
	uint64_t state = 1;

	(void)unused;
	if (!table || !array)
		exit(1);
	CACHEPEEK_BEGIN("tables");
	sum += look_up(table, 3000000, &state);
	CACHEPEEK_END("tables");
	CACHEPEEK_BEGIN("stream");
	sum += walk(array, 60);
	CACHEPEEK_END("stream");
	for (int i = 0; i < 4000; i++) {
		CACHEPEEK_BEGIN("often");
		sum += look_up(table, 400, &state);
		CACHEPEEK_END("often");
	}
	CACHEPEEK_BEGIN("once");
	sum += look_up(table, 400, &state);
	CACHEPEEK_END("once");
	free(array);
	free(table);
	return (void *)(uintptr_t)(sum == 1);
}

int main(int argc, char **argv)
{
	pthread_t thread[16];
	int threads = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	work(NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
