/* SPDX-License-Identifier: MIT
 *
 * For CACHEPEEK_ENGINE=shadow: follows a random cycle through lines of 4 MB, three
 * instructions and one load a step, for so many ms of CPU time; each step misses an LRU
 * cache that is smaller.  Prints the steps, then how often a child or SIGCHLD was seen:
 * there is none of its own.  It reads no clock: what registers held of one would differ.
 * With the argument "looks" it looks for children all the time; with "adds" a step is
 * three instructions without a load; with "forks" a fork child does the same.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES 65536
#define STEPS 100000 /* between looks whether it is over */

static struct line {
	struct line *next;
	char rest[56];
} lines[LINES] __attribute__((aligned(64)));
static unsigned order[LINES];
static volatile sig_atomic_t signals, is_over;

static void on_child(int number)
{
	(void)number;
	signals++;
}

static void shuffle(void)
{
	unsigned random = 1;

	for (unsigned i = 0; i < LINES; i++)
		order[i] = i;
	for (unsigned i = LINES - 1; i > 0; i--) {
		unsigned with, was = order[i];

		random = random * 1664525 + 1013904223;
		with = (random >> 8) % i;
		order[i] = order[with];
		order[with] = was;
	}
	for (unsigned i = 0; i < LINES; i++)
		lines[order[i]].next = &lines[order[(i + 1) % LINES]];
}

/* Three instructions a step. */
static struct line *follow(struct line *at)
{
#if defined(__x86_64__)
	unsigned long steps = STEPS;

	__asm__ volatile("1: mov (%0), %0\n\tdec %1\n\tjnz 1b"
			 : "+r"(at), "+r"(steps)
			 :
			 : "memory", "cc");
#else
	for (unsigned i = 0; i < STEPS; i++)
		at = at->next;
#endif
	return at;
}

static void add(void)
{
#if defined(__x86_64__)
	unsigned long steps = STEPS, sum = 0;

	__asm__ volatile("1: add %1, %0\n\tdec %1\n\tjnz 1b"
			 : "+r"(sum), "+r"(steps)
			 :
			 : "cc");
#endif
}

static void on_time(int number)
{
	(void)number;
	is_over = 1;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 1000, steps = 0, children = 0;
	bool forks = argc > 2 && argv[2][0] == 'f';
	pid_t child = forks ? fork() : -1;
	struct itimerval time = {{0, 0}, {ms / 1000, ms % 1000 * 1000}};
	struct line *at = lines;
	const char *how = argc > 2 ? argv[2] : "follows";

	signal(SIGCHLD, on_child);
	signal(SIGPROF, on_time);
	shuffle();
	setitimer(ITIMER_PROF, &time, NULL);
	for (; !is_over; steps += STEPS) {
		if (how[0] == 'a')
			add();
		else
			at = follow(at);
		if (how[0] == 'l')
			children += waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
	}
	if (child == 0)
		return 0;
	if (forks)
		waitpid(child, NULL, 0);
	children += waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
	printf("%ld %ld %d\n", steps, children, (int)signals);
	return at ? 3 : 4;
}
