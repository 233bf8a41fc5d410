/* SPDX-License-Identifier: MIT
 *	vm_pages
 * Loads and stores, one per page, over 16 and over 1024 pages that are there
 * already: each walk once without a region, then REPEATS executions of
 * load-16, load-1024, store-16, store-1024, and of "nothing".  The thread
 * "walker" does the same, twice as often.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cachepeek.h"

enum { PAGE = 4096, MOST = 1024, REPEATS = 4 };

/* Not inlined: the same instructions for every number of pages. */
static __attribute__((noinline)) void load_pages(volatile char *at, unsigned pages)
{
	for (; pages > 0; pages--, at += PAGE)
		(void)*at;
}

static __attribute__((noinline)) void store_pages(volatile char *at, unsigned pages)
{
	for (; pages > 0; pages--, at += PAGE)
		*at = 1;
}

static void walk(volatile char *memory, const char *name,
	void (*pages)(volatile char *, unsigned), unsigned count, unsigned repeats)
{
	cachepeek_region region = cachepeek_region_register(name);

	for (unsigned i = 0; i <= repeats; i++) {
		if (i)
			cachepeek_begin(region);
		pages(memory, count);
		if (i)
			cachepeek_end(region);
	}
}

static void walk_all(unsigned repeats)
{
	char *memory = mmap(NULL, MOST * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	madvise(memory, MOST * PAGE, MADV_NOHUGEPAGE);
	memset(memory, 1, MOST * PAGE);
	walk(memory, "load-1024", load_pages, MOST, repeats);
	walk(memory, "load-16", load_pages, 16, repeats);
	walk(memory, "store-1024", store_pages, MOST, repeats);
	walk(memory, "store-16", store_pages, 16, repeats);
	walk(memory, "nothing", load_pages, 0, repeats);
}

static void *run(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "walker");
	walk_all(2 * REPEATS);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	walk_all(REPEATS);
	if (pthread_create(&thread, NULL, run, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
