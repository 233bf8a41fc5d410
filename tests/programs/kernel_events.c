/* SPDX-License-Identifier: MIT
 *	kernel_events
 * One region for each thing that the kernel counts in software, and a line for each:
 * "REGION inner MINFLT MAJFLT SWITCHES outer MINFLT MAJFLT SWITCHES", what
 * getrusage(2) says of the thread between the two markers and around both.  A
 * correct count lies between them.  "migrations N" is what was caused.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cachepeek.h"
#include "fresh.h"

#define WORK(X) X(faults) X(sleeps) X(yields) X(reads)

static void faults(void)
{
	store_each(fresh(500 * PAGE), 500, PAGE);
}

static void sleeps(void)
{
	const struct timespec millisecond = {0, 1000000};

	for (int i = 0; i < 40; i++)
		nanosleep(&millisecond, NULL);
}

static void yields(void)
{
	for (int i = 0; i < 300; i++)
		sched_yield();
}

/* Faults that the kernel takes while it copies from memory of the program. */
static void reads(void)
{
	volatile char *memory = fresh(100 * PAGE);
	int out[2];

	if (pipe(out) != 0)
		exit(1);
	for (int i = 0; i < 100; i++)
		if (write(out[1], (const void *)(uintptr_t)(memory + i * PAGE), 1) != 1)
			exit(1);
	close(out[0]);
	close(out[1]);
}

static void print(const char *when, const struct rusage *from, const struct rusage *to)
{
	printf(" %s %ld %ld %ld", when, to->ru_minflt - from->ru_minflt,
		to->ru_majflt - from->ru_majflt,
		to->ru_nvcsw + to->ru_nivcsw - from->ru_nvcsw - from->ru_nivcsw);
}

/* Nothing is printed before all four readings are taken. */
#define MEASURE(name)                                                                    \
	static void measure_##name(void)                                                 \
	{                                                                                \
		struct rusage at[4];                                                     \
                                                                                         \
		getrusage(RUSAGE_THREAD, &at[0]);                                        \
		CACHEPEEK_BEGIN(#name);                                                  \
		getrusage(RUSAGE_THREAD, &at[1]);                                        \
		name();                                                                  \
		getrusage(RUSAGE_THREAD, &at[2]);                                        \
		CACHEPEEK_END(#name);                                                    \
		getrusage(RUSAGE_THREAD, &at[3]);                                        \
		printf(#name);                                                           \
		print("inner", &at[1], &at[2]);                                          \
		print("outer", &at[0], &at[3]);                                          \
		printf("\n");                                                            \
	}
WORK(MEASURE)

/* From one processor to another and back, where there are two. */
static void migrate(void)
{
	cpu_set_t all, one;
	int cpu[2], found = 0, moved = 0;

	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET(i, &all))
			cpu[found++] = i;
	for (int i = 0; i <= 20 && found == 2; i++) {
		CPU_ZERO(&one);
		CPU_SET(cpu[i % 2], &one);
		sched_setaffinity(0, sizeof(one), &one);
		if (i == 0)
			CACHEPEEK_BEGIN("migrations");
		else
			moved++;
	}
	if (found == 2)
		CACHEPEEK_END("migrations");
	sched_setaffinity(0, sizeof(all), &all);
	printf("migrations %d\n", moved);
}

static void *run(void *unused)
{
	(void)unused;
#define CALL(name) measure_##name();
	WORK(CALL)
	WORK(CALL) /* the first time code and stack are touched, too */
	migrate();
	fflush(stdout);
	return NULL;
}

/* In a thread as well as in main. */
int main(void)
{
	pthread_t thread;

	run(NULL);
	if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
		return 1;
	return 0;
}
