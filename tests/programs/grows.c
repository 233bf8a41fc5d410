/* SPDX-License-Identifier: MIT
 *
 *	grows [N]
 *
 * A mapping grows downwards, and then others are made: prints how many of them lie in it,
 * and what it has.  Before it N others are made that may grow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ROOM = 2048, FIRST = 2000, GROWN = 100, OTHERS = 3000 };
enum { RW = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS };

static int count_within(const char *start, const char *end)
{
	int within = 0;

	for (int i = 0; i < OTHERS; i++) {
		char *other = mmap(NULL, 2L * PAGE, RW, ANON, -1, 0);

		if (other == MAP_FAILED)
			return -1;
		within += other < end && other + 2L * PAGE > start;
		memset(other, 'x', 2L * PAGE);
	}
	return within;
}

static void make_more(int count)
{
	while (count-- > 0)
		mmap(NULL, PAGE, RW, ANON | MAP_GROWSDOWN, -1, 0);
}

int main(int argc, char **argv)
{
	char *room = mmap(NULL, (size_t)ROOM * PAGE, RW, ANON | MAP_NORESERVE, -1, 0);
	char *first = room + (size_t)FIRST * PAGE, *lowest = first - (size_t)GROWN * PAGE;

	munmap(room, (size_t)ROOM * PAGE);
	make_more(argc > 1 ? atoi(argv[1]) : 0);
	if (mmap(first, PAGE, RW, ANON | MAP_FIXED | MAP_GROWSDOWN, -1, 0) != first)
		return 1;
	for (char *page = first; page >= lowest; page -= PAGE)
		strcpy(page, "grown");
	printf("%d\n", count_within(lowest, first));
	for (char *page = lowest; page <= first; page += 50L * PAGE)
		printf("%s\n", page);
	printf("%d\n", munmap(lowest, (size_t)(GROWN + 1) * PAGE));
	return 0;
}
