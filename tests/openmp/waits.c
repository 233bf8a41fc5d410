/* SPDX-License-Identifier: MIT
 * While a thread waits for the others, at a barrier or at the end of a region, a
 * signal makes it touch 1000 pages: those are no part of the region.  Each touches
 * 10 pages itself.  Needs OMP_WAIT_POLICY=passive.
 */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "touch.h"

static volatile int handled, ready;
static pthread_t waiter;
static volatile pid_t waiter_tid;

static void handler(int number)
{
	(void)number;
	touch(1000);
	handled++;
}

static int sleeps(pid_t tid)
{
	char path[64], text[512] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	end = strrchr(text, ')');
	return end && end[2] == 'S';
}

/* Thread 1 goes to wait; thread 0 sends it the signal there. */
static void part(void)
{
	if (omp_get_thread_num() == 1) {
		touch(10);
		waiter = pthread_self();
		waiter_tid = gettid();
		__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
		return;
	}
	while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		usleep(100);
	for (int asleep = 0; asleep < 5; asleep = sleeps(waiter_tid) ? asleep + 1 : 0)
		usleep(1000);
	handled = 0;
	pthread_kill(waiter, SIGUSR1);
	while (!handled)
		usleep(100);
	ready = 0;
}

static void at_barrier(void)
{
#pragma omp parallel num_threads(2)
	{
		part();
#pragma omp barrier
		touch(10);
	}
}

static void at_loop(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp for schedule(static, 1)
		for (int i = 0; i < 2; i++)
			part();
		touch(10);
	}
}

static void at_sections(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp sections
		{
#pragma omp section
			;
		}
		part();
	}
}

static void at_end(void)
{
#pragma omp parallel num_threads(2)
	part();
}

/* Nothing comes after this one. */
static void last(void)
{
#pragma omp parallel num_threads(2)
	touch(10);
}

int main(void)
{
	signal(SIGUSR1, handler);
	at_end();
	at_barrier();
	at_loop();
	at_sections();
	last();
	return 0;
}
