#!/bin/sh
# SPDX-License-Identifier: MIT
# glibc 2.43 on Linux 6.13 and newer: the guard of a thread's stack is made by
# madvise(MADV_GUARD_INSTALL), not by a mapping that allows nothing: in /proc/self/maps the stacks
# of threads are one line, and what is mapped beside them is in it.
# Seen: four stacks in one mapping of 4 times their size or more; a touch of a guard ends with SIGSEGV.
. "$(dirname "$0")/common.sh"
[ "$(getconf GNU_LIBC_VERSION)" = "glibc 2.43" ] || cannot "another C library"
[ "$(uname -r | awk -F. '{ print ($1 > 6 || ($1 == 6 && $2 >= 13)) ? "new" : "old" }')" = new ] || cannot "Linux before 6.13"
cat > stacks.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };
static pthread_barrier_t all;
static char *place[THREADS];

static void *run(void *argument)
{
	char here;
	place[(long)argument] = &here;
	pthread_barrier_wait(&all);
	pthread_barrier_wait(&all);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	char line[512];
	FILE *maps;
	pthread_barrier_init(&all, NULL, THREADS + 1);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	pthread_barrier_wait(&all);
	maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		int stacks = 0;
		sscanf(line, "%lx-%lx", &from, &to);
		for (int i = 0; i < THREADS; i++)
			stacks += (unsigned long)place[i] >= from && (unsigned long)place[i] < to;
		if (stacks)
			printf("%d\n", stacks);
	}
	pthread_barrier_wait(&all);
	exit(0);
}
END
cc -o stacks stacks.c -pthread
same "stacks in each mapping" 4 "$(./stacks | paste -sd ' ')"
