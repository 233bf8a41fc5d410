/* SPDX-License-Identifier: MIT
 *
 * numa: two threads.  Each writes the first line of each of its 64 pages; then the main
 * one reads lines 1 to 31 of its own pages ("own"), the other one lines 32 to 63 of those
 * of the main one ("remote"), and the lines that that has written ("written").
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "regions/cachepeek.h"

enum { PAGES = 64, PAGE = 4096, LINE = 64 };

static volatile char *pages_of[2];
static pthread_barrier_t both;

static void write_pages(int mine)
{
	char *area = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		exit(1);
	madvise(area, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
	pages_of[mine] = area;
	for (int i = 0; i < PAGES; i++)
		pages_of[mine][i * PAGE] = 1;
}

static void read_lines(const volatile char *area, int first, int end)
{
	for (int i = 0; i < PAGES; i++)
		for (int line = first; line < end; line++)
			(void)area[i * PAGE + line * LINE];
}

static void *other(void *unused)
{
	write_pages(1);
	pthread_barrier_wait(&both);
	CACHEPEEK_BEGIN("remote");
	read_lines(pages_of[0], 32, PAGE / LINE);
	CACHEPEEK_END("remote");
	CACHEPEEK_BEGIN("written");
	read_lines(pages_of[0], 0, 1);
	CACHEPEEK_END("written");
	pthread_barrier_wait(&both);
	return unused;
}

int main(void)
{
	pthread_t thread;

	write_pages(0);
	if (pthread_barrier_init(&both, NULL, 2) ||
		pthread_create(&thread, NULL, other, NULL))
		return 1;
	pthread_barrier_wait(&both);
	CACHEPEEK_BEGIN("own");
	read_lines(pages_of[0], 1, 32);
	CACHEPEEK_END("own");
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);
	return 0;
}
