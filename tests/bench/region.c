/* SPDX-License-Identifier: MIT
 *	region pair | many N | threads N
 * What regions cost: pair: ns of a begin/end pair; many: N regions, once each,
 * and bytes of memory for each; threads: N threads with a region each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cachepeek.h"

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

/* The least of many rounds: whatever else runs only adds. */
static void pair(void)
{
	cachepeek_region region = cachepeek_region_register("pair");
	double least = 1e9;

	for (int round = 0; round < 500; round++) {
		double began = now();

		for (int i = 0; i < 10000; i++) {
			cachepeek_begin(region);
			cachepeek_end(region);
		}
		began = (now() - began) / 10000;
		least = began < least ? began : least;
	}
	printf("%.1f\n", least);
}

static long resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss * 1024;
}

static void many(int count)
{
	char name[32];
	long before = resident();

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		cachepeek_begin_named(name);
		cachepeek_end_named(name);
	}
	printf("%ld\n", (resident() - before) / count);
}

static void *one(void *unused)
{
	CACHEPEEK_BEGIN("thread");
	CACHEPEEK_END("thread");
	return unused;
}

static void threads(int count)
{
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, one, NULL) == 0)
			pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;

	if (argc > 1 && !strcmp(argv[1], "pair"))
		pair();
	if (argc > 1 && !strcmp(argv[1], "many"))
		many(count);
	if (argc > 1 && !strcmp(argv[1], "threads"))
		threads(count);
	return 0;
}
