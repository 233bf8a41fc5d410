/* SPDX-License-Identifier: MIT
 *	region_short EXECUTIONS THREADS
 * In each thread "outer" has EXECUTIONS of "page", of one fresh page, with two
 * more before each; then SLOW of "slow", too long for its boundaries to matter.
 */
#include <pthread.h>

#include "cachepeek.h"
#include "fresh.h"

enum { SLOW = 40, SLOW_PAGES = 300 };

static size_t executions;

static void warm(volatile char *memory)
{
	CACHEPEEK_BEGIN("warm");
	store_each(memory, 0, PAGE);
	CACHEPEEK_END("warm");
}

static void *run(void *unused)
{
	volatile char *next = fresh(3 * executions * PAGE);

	warm(next);
	CACHEPEEK_BEGIN("outer");
	for (size_t i = 0; i < executions; i++, next += 3 * PAGE) {
		store_each(next, 2, PAGE);
		CACHEPEEK_BEGIN("page");
		store_each(next + 2 * PAGE, 1, PAGE);
		CACHEPEEK_END("page");
	}
	CACHEPEEK_END("outer");
	next = fresh(SLOW * SLOW_PAGES * PAGE);
	for (int i = 0; i < SLOW; i++, next += SLOW_PAGES * PAGE) {
		CACHEPEEK_BEGIN("slow");
		store_each(next, SLOW_PAGES, PAGE);
		CACHEPEEK_END("slow");
	}
	return unused;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	pthread_t *thread = calloc(count + 1, sizeof(*thread));

	executions = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, run, NULL))
			return 1;
	run(NULL);
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return 0;
}
