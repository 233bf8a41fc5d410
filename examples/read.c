/* SPDX-License-Identifier: MIT
 *
 * A program that reads its own counts, and works without them too:
 *
 *     cc -O1 $(pkg-config --cflags cachepeek) -o read read.c
 *     CACHEPEEK_EVENTS=l1d_misses LD_PRELOAD=libcachepeek.so ./read
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <cachepeek.h>

#define LINES 1000
#define LINE 64

static void touch(volatile char *bytes)
{
	for (int i = 0; i < LINES; i++)
		bytes[(size_t)i * LINE];
}

static const char *why_not(int error)
{
	switch (error) {
	case -ENOSYS:
		return "the library is not preloaded";
	case -ENOENT:
		return "not asked for: CACHEPEEK_EVENTS=l1d_misses";
	default:
		return "cannot be counted here";
	}
}

int main(void)
{
	char *bytes = calloc(LINES, LINE);
	uint64_t before, after;
	int error = cachepeek_read("l1d_misses", &before);

	if (!bytes)
		return 1;
	touch(bytes);
	if (!error)
		error = cachepeek_read("l1d_misses", &after);
	if (error)
		printf("l1d_misses: %s\n", why_not(error));
	else
		printf("l1d_misses: %llu\n", (unsigned long long)(after - before));
	free(bytes);
	return 0;
}
