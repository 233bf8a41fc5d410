/* SPDX-License-Identifier: MIT
 *	stride N SEED
 * Sums a table of N * 512 bytes once, in regions, STRIDE elements from one to the
 * next: each build reads the same elements.  SEED adds what differs from run to
 * run: other work, in another region and in this one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cachepeek.h"

#ifndef STRIDE
#define STRIDE 1
#endif

static uint64_t state;

static uint64_t any(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static double sum_table(const volatile double *table, size_t size)
{
	double sum = 0;

	for (size_t start = 0; start < STRIDE; start++)
		for (size_t i = start; i < size; i += STRIDE)
			sum += table[i];
	return sum;
}

static void wander(volatile double *table, size_t size)
{
	for (uint64_t steps = 100 + any() % 100; steps > 0; steps--)
		table[any() % size] += 1;
}

int main(int argc, char **argv)
{
	size_t size = 64 * (argc > 1 ? strtoul(argv[1], NULL, 0) : 256);
	volatile double *table = calloc(size, sizeof(*table));
	double sum;

	state = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	for (int i = 0; i < 10; i++)
		any();
	if (!table)
		return 1;
	CACHEPEEK_BEGIN("wander");
	wander(table, size);
	CACHEPEEK_END("wander");
	CACHEPEEK_BEGIN("sum");
	wander(table, size);
	sum = sum_table(table, size);
	CACHEPEEK_END("sum");
	printf("%s\n", sum > 0 ? "done" : "empty");
	return 0;
}
