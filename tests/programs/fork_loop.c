/* SPDX-License-Identifier: MIT
 *	fork_loop COUNT PAGES
 * Makes so many children, one after the other, each of which touches so many new
 * pages in a region.  Of ten one returns 3 and one dies of SIGSEGV.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachepeek.h"

static void touch(long pages)
{
	char *memory = mmap(NULL, (size_t)pages * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CACHEPEEK_BEGIN("touch");
	for (long i = 0; i < pages; i++)
		((volatile char *)memory)[i * 4096] = 1;
	CACHEPEEK_END("touch");
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 10, pages = argc > 2 ? atol(argv[2]) : 5;
	const struct rlimit none = {0, 0};
	long ends[3] = {0};

	setrlimit(RLIMIT_CORE, &none);
	for (long i = 0; i < count; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0) {
			touch(pages);
			if (i % 10 == 1)
				*(volatile int *)8 = 1;
			_exit(i % 10 == 2 ? 3 : 0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		ends[WIFSIGNALED(status) ? 2 : WEXITSTATUS(status) == 3]++;
	}
	printf("%ld %ld %ld\n", ends[0], ends[1], ends[2]);
	return 0;
}
