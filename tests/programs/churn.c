/* SPDX-License-Identifier: MIT
 *	churn THREADS
 * So many short threads, one after the other; each touches one new page, the
 * tenth one in a region, and the first has one of its own.  Prints by how many kilobytes
 *the process has grown since half of them, and what each thread took, in microseconds: in
 *time and of the processors.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cachepeek.h"

static volatile char *page;

static void touch(void)
{
	*page = 1;
	madvise((void *)page, 4096, MADV_DONTNEED);
}

static void *work(void *number)
{
	if ((size_t)number % 10)
		return NULL;
	if (!number) {
		CACHEPEEK_BEGIN("first");
		CACHEPEEK_END("first");
	}
	CACHEPEEK_BEGIN("tenth");
	CACHEPEEK_BEGIN("page");
	touch();
	CACHEPEEK_END("page");
	CACHEPEEK_END("tenth");
	return NULL;
}

/* A field of /proc/self/statm, in pages: size or resident. */
static long pages(int field)
{
	long value[2] = {0, 0};
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld %ld", &value[0], &value[1]) != 2)
		return 0;
	fclose(file);
	return value[field];
}

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double used_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	long size = 0, resident = 0;
	double began = now_us();
	pthread_t thread;

	page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < count; i++) {
		if (pthread_create(&thread, NULL, work, (void *)i))
			return 1;
		pthread_join(thread, NULL);
		if (i == count / 2) {
			size = pages(0);
			resident = pages(1);
		}
	}
	printf("grown %ld %ld\n", (pages(0) - size) * 4, (pages(1) - resident) * 4);
	printf("us %.2f %.2f\n", (now_us() - began) / (double)count,
		used_us() / (double)count);
	return 0;
}
