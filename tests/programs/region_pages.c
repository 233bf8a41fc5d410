/* SPDX-License-Identifier: MIT
 *	region_pages PAGES THREADS
 * Main touches PAGES fresh pages in the region "touch"; thread i, named
 * page-i, PAGES + i + 1 of them, while the others do too.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "cachepeek.h"
#include "fresh.h"

static size_t pages;

/* Code and stack of the measured part have their own first touch in "warm". */
static void touch(size_t count)
{
	volatile char *memory = fresh(count * PAGE);

	CACHEPEEK_BEGIN("warm");
	store_each(memory, 0, PAGE);
	CACHEPEEK_END("warm");
	CACHEPEEK_BEGIN("touch");
	store_each(memory, count, PAGE);
	CACHEPEEK_END("touch");
}

static void *run(void *argument)
{
	unsigned index = (unsigned)(uintptr_t)argument;
	char name[16];

	snprintf(name, sizeof(name), "page-%u", index);
	pthread_setname_np(pthread_self(), name);
	touch(pages + index + 1);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	pthread_t *thread = calloc(count + 1, sizeof(*thread));

	pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	for (uintptr_t i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			return 1;
	touch(pages);
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return 0;
}
