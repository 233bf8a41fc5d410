// SPDX-License-Identifier: MIT
// Threads whose stacks lie side by side, with other memory beside them, where no mapping
// is between: each touches PAGES_OF_STACK pages of its own stack, and the main thread,
// while they live, those beside.
//	stacks WAY [THREADS]
// WAY: own: stacks of one mapping.  guarded: so with guards that are no mappings.
//      libc: the C library's, without guards.  heap: in a block of the heap.
//      short: of sizes that are no whole pages, in a static array.
//	stacks shared
// Two threads write to a word each of one line beside the stacks, in turn; others begin
// and end in between.
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGE 4096
#define MAX_THREADS 8
#define SIZE ((size_t)96 * PAGE)
#define SHORT (SIZE - 1008)
#define BESIDE ((size_t)64 * PAGE)
#define PAGES_OF_STACK 40
#define ROUNDS 200
#define LINE 64
#define NOT_INLINED __attribute__((noinline, noclone))

static pthread_barrier_t begun, done;
static char array[MAX_THREADS * SIZE] __attribute__((aligned(PAGE)));

/* One load of each line, and before that a store to each page. */
static NOT_INLINED void touch(volatile char *at, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		at[i] = 1;
	for (size_t i = 0; i < size; i += LINE)
		(void)at[i];
}

static NOT_INLINED void touch_stack(void)
{
	char *at = alloca((size_t)(PAGES_OF_STACK + 2) * PAGE);

	touch((char *)(((uintptr_t)at + PAGE - 1) & ~(uintptr_t)(PAGE - 1)),
		(size_t)PAGES_OF_STACK * PAGE);
}

static void *work(void *argument)
{
	pthread_barrier_wait(&begun);
	touch_stack();
	pthread_barrier_wait(&done);
	return argument;
}

static char *map_at(char *at, size_t size)
{
	char *mapped = mmap(at, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (mapped == MAP_FAILED)
		exit(1);
	return mapped;
}

/* A mapping of stacks between two of other memory; in none of them is anything else. */
static char *stacks_between(size_t n, char *beside[2])
{
	char *all = mmap(NULL, n * SIZE + 4 * BESIDE, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (all == MAP_FAILED)
		exit(1);
	all += BESIDE;
	beside[0] = map_at(all, BESIDE); /* the memory beside */
	beside[1] = map_at(all + BESIDE + n * SIZE, BESIDE);
	return map_at(all + BESIDE, n * SIZE);
}

static char *stacks_in_heap(size_t n, char *beside[2])
{
	char *stacks;

	beside[0] = malloc(BESIDE); /* the first block */
	stacks = malloc(n * SIZE);  /* the block of stacks */
	beside[1] = malloc(BESIDE); /* the second block */
	return stacks;
}

static char *find_stacks(const char *way, size_t n, char *beside[2])
{
	static char places[2][BESIDE] __attribute__((aligned(PAGE)));

	if (strcmp(way, "heap") == 0)
		return stacks_in_heap(n, beside);
	if (strcmp(way, "short") != 0)
		return stacks_between(n, beside);
	beside[0] = places[0];
	beside[1] = places[1];
	return array;
}

static void start(pthread_t *thread, const char *way, char *stack)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	if (strcmp(way, "libc") == 0) {
		pthread_attr_setstacksize(&attributes, SIZE);
		pthread_attr_setguardsize(&attributes, 0);
	} else if (pthread_attr_setstack(&attributes, stack,
			   strcmp(way, "short") == 0 ? SHORT : SIZE) != 0) {
		exit(1);
	}
	if (strcmp(way, "guarded") == 0 && madvise(stack, PAGE, 102) != 0)
		exit(77);
	if (pthread_create(thread, &attributes, work, NULL) != 0)
		exit(1);
	pthread_attr_destroy(&attributes);
}

static volatile long *line_beside;

static void *write_second(void *argument)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&begun);
		line_beside[1]++;
		pthread_barrier_wait(&done);
	}
	return argument;
}

static void *end_at_once(void *argument)
{
	return argument;
}

static void run_on(char *stack, void *(*function)(void *), pthread_t *thread)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, stack, SIZE) != 0 ||
		pthread_create(thread, &attributes, function, NULL) != 0)
		exit(1);
}

static int write_line_beside(void)
{
	pthread_t second, other;
	char *beside[2], *stacks = stacks_between(2, beside);

	pthread_barrier_init(&begun, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	line_beside = (volatile long *)beside[0];
	run_on(stacks, write_second, &second);
	for (int i = 0; i < ROUNDS; i++) {
		line_beside[0]++;
		run_on(stacks + SIZE, end_at_once, &other);
		pthread_join(other, NULL);
		pthread_barrier_wait(&begun);
		pthread_barrier_wait(&done);
	}
	return pthread_join(second, NULL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "own";
	size_t n = argc > 2 ? (size_t)atoi(argv[2]) : 4;
	pthread_t threads[MAX_THREADS];
	char *beside[2], *stacks;

	if (sysconf(_SC_PAGESIZE) != PAGE || n > MAX_THREADS)
		return 77;
	if (strcmp(way, "shared") == 0)
		return write_line_beside();
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	pthread_barrier_init(&begun, NULL, (unsigned)n + 1);
	pthread_barrier_init(&done, NULL, (unsigned)n + 1);
	stacks = find_stacks(way, n, beside);
	for (size_t i = 0; i < n; i++)
		start(&threads[i], way,
			stacks + i * (strcmp(way, "short") == 0 ? SHORT : SIZE));
	pthread_barrier_wait(&begun);
	touch(beside[0], BESIDE);
	touch(beside[1], BESIDE);
	pthread_barrier_wait(&done);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
