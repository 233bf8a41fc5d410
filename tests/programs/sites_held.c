/* SPDX-License-Identifier: MIT
 *	sites_held RUNTIME LOCK SITES SIZE COUNT EXECUTIONS
 * For CACHEPEEK_ENGINE=shadow: two threads execute a region so many times while somebody
 * else looks for a region's number: this program has the lock.  Prints how many
 *executions were begun, and how many have a number.  RUNTIME is where in the library's
 *memory the pointer to the state of shadows is; the others are places in that state, the
 *size of a region's part of it, how many there are, and the place in a part of its
 *executions.
 */
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cachepeek.h"

#define TURNS 1000
#define LONG_US 200000

static int find(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libcachepeek.so"))
		return 0;
	*(char **)base = (char *)info->dlpi_addr;
	return 1;
}

static void *work(void *argument)
{
	for (int i = 0; i < TURNS; i++) {
		cachepeek_begin_named("turn");
		cachepeek_end_named("turn");
	}
	return argument;
}

int main(int argc, char **argv)
{
	unsigned long at[6];
	uint64_t numbered = 0;
	char *base = NULL, *state;
	pthread_t thread[2];
	int *lock;

	if (argc != 7)
		return 2;
	for (int i = 0; i < 6; i++)
		at[i] = strtoul(argv[i + 1], NULL, 0);
	dl_iterate_phdr(find, &base);
	state = base ? *(char **)(base + at[0]) : NULL;
	if (!state)
		return 3;
	lock = (int *)(state + at[1]);
	__atomic_store_n(lock, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, work, NULL) != 0)
			return 4;
	usleep(LONG_US);
	__atomic_store_n(lock, 0, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (unsigned long i = 0; i < at[4]; i++)
		numbered += *(uint64_t *)(state + at[2] + i * at[3] + at[5]);
	printf("%d %lu\n", 2 * TURNS, (unsigned long)numbered);
	return 0;
}
