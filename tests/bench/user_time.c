/* SPDX-License-Identifier: MIT
 *
 * Preloaded into a native run by clock.py: appends what the process takes from here on,
 * as the simulated PMU counts it, without the loader before it.  A line of the file that
 * USER_TIME names: CPU seconds, which are precise, and their parts by ticks, in user mode
 * and in the kernel.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int file = -1;
static double begin;
static struct rusage before;

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds_between(struct timeval from, struct timeval to)
{
	return (double)(to.tv_sec - from.tv_sec) +
	       (double)(to.tv_usec - from.tv_usec) / 1e6;
}

__attribute__((constructor)) static void note_begin(void)
{
	const char *name = getenv("USER_TIME");

	if (!name)
		return;
	file = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	unsetenv("LD_PRELOAD"); /* what it starts is not meant */
	getrusage(RUSAGE_SELF, &before);
	begin = cpu_seconds();
}

__attribute__((destructor)) static void note_end(void)
{
	double took = cpu_seconds() - begin;
	struct rusage after;

	if (file < 0)
		return;
	getrusage(RUSAGE_SELF, &after);
	dprintf(file, "%.9f %.6f %.6f\n", took,
		seconds_between(before.ru_utime, after.ru_utime),
		seconds_between(before.ru_stime, after.ru_stime));
}
