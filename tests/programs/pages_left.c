/* SPDX-License-Identifier: MIT
 *	pages_left PAGES HOW
 * Four threads and a child, which is waited for, touch so many new pages each;
 * then the process ends: by SIGKILL (kill), by a system call that nobody sees
 * (raw), or as usual (return).
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw_exit.h"

enum { THREADS = 4 };

static size_t pages;

static void *touch(void *unused)
{
	volatile char *memory = mmap(NULL, (pages + 1) * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	madvise((void *)memory, (pages + 1) * 4096, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * 4096] = 1;
	return unused;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "return";
	pthread_t thread[THREADS];
	pid_t child;

	pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, touch, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	child = fork();
	if (child == 0) {
		touch(NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "raw"))
		raw_exit(22);
	return 3;
}
