/* SPDX-License-Identifier: MIT
 *
 *	go_like PAGES
 *
 * A program that looks to the library like one in Go: it has the note of Go's linker, and
 * ends by a system call of its own, with status 3.  Before that it touches the pages,
 * and sleeps for a second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "raw_exit.h"

__asm__(".pushsection .note.go.buildid, \"a\", %note\n"
	".balign 4\n"
	".long 4, 8, 4\n"
	".ascii \"Go\\0\\0\"\n"
	".ascii \"build-id\"\n"
	".popsection\n");

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	volatile char *at = mmap(NULL, pages * 4096 + 1, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < pages; i++)
		at[i * 4096] = 1;
	printf("touched %zu\n", pages);
	fflush(stdout);
	sleep(1);
	raw_exit(3);
	return 1;
}
