/* SPDX-License-Identifier: MIT
 *	region_scale REGIONS THREADS
 * Many regions; threads that all live at once, with a region each.  Without
 * arguments names of every byte, the longest that are kept, one byte longer, and
 * the empty one.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cachepeek.h"

static pthread_barrier_t all_here;

static void *work(void *unused)
{
	pthread_barrier_wait(&all_here);
	for (int i = 0; i < 3; i++) {
		CACHEPEEK_BEGIN("thread");
		CACHEPEEK_END("thread");
	}
	return unused;
}

static void run_threads(unsigned count)
{
	pthread_t *threads = calloc(count, sizeof(*threads));
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_barrier_init(&all_here, NULL, count);
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&threads[i], &small, work, NULL) != 0)
			abort();
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void once(const char *name)
{
	cachepeek_begin_named(name);
	cachepeek_end_named(name);
}

static void odd_names(void)
{
	char name[4098], bytes[256];

	for (int i = 1; i < 256; i++)
		bytes[i - 1] = (char)i;
	bytes[255] = '\0';
	once(bytes);
	for (size_t length = 4096; length <= 4097; length++) {
		memset(name, 'x', length);
		name[length] = '\0';
		once(name);
	}
	once("");
}

int main(int argc, char **argv)
{
	int regions = argc > 1 ? atoi(argv[1]) : 0;
	char name[32];

	if (argc == 1)
		odd_names();
	for (int i = 0; i < regions; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		once(name);
	}
	if (argc > 2)
		run_threads((unsigned)atoi(argv[2]));
	return 0;
}
