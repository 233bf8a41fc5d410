/* SPDX-License-Identifier: MIT
 *	shadow_regions MS [HOW]
 * For CACHEPEEK_ENGINE=shadow: for so many ms of CPU time a region "outer" with "small"
 *and "walk" in it: a walk is four instructions for each line of 128 KB, which all miss an
 *LRU cache of half the size.  Prints how often.  HOW: "calls": each walk makes a system
 *call; "long": they are all in one region "all"; "twice": two threads do it; "plain":
 *without regions.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "cachepeek.h"

#define LINES 2048
#define TURNS 100 /* between looks whether it is over */

static char lines[2][LINES][64] __attribute__((aligned(64)));
static volatile sig_atomic_t is_over;
static char how = ' ';

static void on_time(int number)
{
	(void)number;
	is_over = 1;
}

/* Four instructions a line. */
__attribute__((noinline)) void walk_lines(char *at)
{
#if defined(__x86_64__)
	unsigned long n = LINES, got;

	__asm__ volatile("1: mov (%1), %2\n\tadd $64, %1\n\tdec %0\n\tjnz 1b"
			 : "+r"(n), "+r"(at), "=&r"(got)
			 :
			 : "memory", "cc");
#else
	(void)at;
#endif
}

/* Five a turn, which take long. */
__attribute__((noinline)) void multiply(unsigned long turns)
{
#if defined(__x86_64__)
	unsigned long x = 3;

	__asm__ volatile(
		"1: imul %1, %1\n\timul %1, %1\n\timul %1, %1\n\tdec %0\n\tjnz 1b"
		: "+r"(turns), "+r"(x)
		:
		: "cc");
#else
	(void)turns;
#endif
}

static void turn(char *at, unsigned random)
{
	bool marks = how != 'p';

	if (marks)
		cachepeek_begin_named("outer");
	if (marks)
		cachepeek_begin_named("small");
	multiply(200 + (random >> 24));
	if (marks)
		cachepeek_end_named("small");
	if (marks)
		cachepeek_begin_named("walk");
	walk_lines(at);
	if (how == 'c')
		usleep(0);
	if (marks)
		cachepeek_end_named("walk");
	if (marks)
		cachepeek_end_named("outer");
	multiply(6000);
}

static void *work(void *at)
{
	unsigned random = 1;
	size_t turns = 0;

	while (!is_over) {
		for (unsigned i = 0; i < TURNS; i++) {
			random = random * 1664525 + 1013904223;
			turn(at, random);
		}
		turns += TURNS;
	}
	return (void *)turns;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 1000;
	struct itimerval time = {{0, 0}, {ms / 1000, ms % 1000 * 1000}};
	void *turns, *more = NULL;
	pthread_t other;

	if (argc > 2)
		how = argv[2][0];
	signal(SIGPROF, on_time);
	setitimer(ITIMER_PROF, &time, NULL);
	if (how == 't' && pthread_create(&other, NULL, work, lines[1]) != 0)
		return 1;
	if (how == 'l')
		cachepeek_begin_named("all");
	turns = work(lines[0]);
	if (how == 'l')
		cachepeek_end_named("all");
	if (how == 't')
		pthread_join(other, &more);
	printf("%zu\n", (size_t)turns + (size_t)more);
	return 0;
}
