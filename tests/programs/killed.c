/* SPDX-License-Identifier: MIT
 *	killed FILE
 * Four threads run "outer" with "inner" twice inside, for ever; FILE (shared
 * memory) gets how often each thread has completed them (outer then inner),
 * and then the threads' ids.  SIGTERM strikes one of them, not main.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cachepeek.h"

enum { THREADS = 4, PAGES = 8 };

static volatile uint64_t *done;

/* Something for the kernel to count. */
static void touch(char *memory)
{
	for (int i = 0; i < PAGES; i++)
		*(volatile char *)(memory + i * 4096) = 1;
	madvise(memory, PAGES * 4096, MADV_DONTNEED);
}

static void *work(void *argument)
{
	size_t index = (size_t)argument;
	char *memory = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	done[2 * THREADS + index] = (uint64_t)gettid();
	for (;;) {
		CACHEPEEK_BEGIN("outer");
		for (int i = 0; i < 2; i++) {
			CACHEPEEK_BEGIN("inner");
			touch(memory);
			CACHEPEEK_END("inner");
			done[2 * index + 1]++;
		}
		CACHEPEEK_END("outer");
		done[2 * index]++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR) : -1;
	pthread_t thread;
	sigset_t term;

	done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (done == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	for (;;)
		pause();
}
