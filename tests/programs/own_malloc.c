/* SPDX-License-Identifier: MIT
 * Has an allocator of its own, with a lock and a region in it, and prints how
 * often it was called since main began.  Four threads; 300 regions "work", each
 * with one allocation inside.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cachepeek.h"

enum { THREADS = 3, TIMES = 100 };

static char memory[64 << 20] __attribute__((aligned(16)));
static size_t used, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cachepeek_region in_malloc, work;

void *malloc(size_t size)
{
	size_t *block;

	pthread_mutex_lock(&lock);
	cachepeek_begin(in_malloc);
	count++;
	size = (size + 15) / 16 * 16 + 16;
	block = size > sizeof(memory) - used ? NULL : (void *)(memory + used);
	if (block) {
		used += size;
		block[0] = size - 16;
	} else {
		errno = ENOMEM;
	}
	cachepeek_end(in_malloc);
	pthread_mutex_unlock(&lock);
	return block ? block + 2 : NULL;
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t number, size_t size)
{
	void *block = malloc(number * size);

	return block ? memset(block, 0, number * size) : NULL;
}

void *realloc(void *old, size_t size)
{
	size_t had = old ? ((size_t *)old)[-2] : 0;
	void *block = malloc(size);

	return block && old ? memcpy(block, old, had < size ? had : size) : block;
}

static void *allocate(void *argument)
{
	for (int i = 0; i < TIMES; i++) {
		void *volatile block;

		cachepeek_begin(work);
		block = malloc(100);
		cachepeek_end(work);
		free(block);
	}
	return argument;
}

int main(void)
{
	pthread_t thread[THREADS];
	size_t before = count;

	in_malloc = cachepeek_region_register("malloc");
	work = cachepeek_region_register("work");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, allocate, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	before = count - before;
	printf("%zu\n", before);
	return 0;
}
