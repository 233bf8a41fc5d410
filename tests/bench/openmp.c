/* SPDX-License-Identifier: MIT
 *	openmp THREADS
 * Prints the median time of an empty parallel region, in ns.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 500, REGIONS = 20 };

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static int compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
	static uint64_t times[ROUNDS];
	int threads = argc > 1 ? atoi(argv[1]) : 2;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = now();

		for (int i = 0; i < REGIONS; i++)
#pragma omp parallel num_threads(threads)
			__asm__ volatile("");
		times[round] = (now() - begin) / REGIONS;
	}
	qsort(times, ROUNDS, sizeof(times[0]), compare);
	printf("%lu\n", (unsigned long)times[ROUNDS / 2]);
	return 0;
}
