/* SPDX-License-Identifier: MIT
 * What a call of a small function costs, in ns; built with and without
 * -finstrument-functions.
 */
#include <stdio.h>
#include <time.h>

#define NOT_TIMED __attribute__((no_instrument_function))

__attribute__((noinline)) static void small(void)
{
	__asm__ volatile("");
}

static NOT_TIMED double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

/* The least of many rounds: whatever else runs only adds. */
NOT_TIMED int main(void)
{
	double least = 1e9;

	for (int round = 0; round < 500; round++) {
		double began = now();

		for (int i = 0; i < 10000; i++)
			small();
		began = (now() - began) / 10000;
		least = began < least ? began : least;
	}
	printf("%.1f\n", least);
	return 0;
}
