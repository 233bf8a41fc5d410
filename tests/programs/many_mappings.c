/* SPDX-License-Identifier: MIT
 *	many_mappings N
 * A child of a process that has so many mappings.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096ul

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	char *memory =
		mmap(NULL, n * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int status = 1;

	/* Neighbours of other rights are mappings of their own. */
	for (unsigned long i = 0; memory != MAP_FAILED && i < n; i += 2)
		if (mprotect(memory + i * PAGE, PAGE, PROT_NONE) < 0)
			return 1;
	child = fork();
	if (child == 0)
		return 0;
	waitpid(child, &status, 0);
	puts("mapped");
	return status;
}
