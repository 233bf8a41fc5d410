/* SPDX-License-Identifier: MIT
 *
 * Timers that send a signal all the time are stopped, and then the signal ends a program
 * again: what they have sent is handled before.  Prints how many were not.  Each timer
 * runs until it has sent one: a fast processor computes for less than its period.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

enum { ROUNDS = 50, PERIOD_US = 1000 };

static volatile sig_atomic_t handled;

static void handle(int number)
{
	(void)number;
	handled++;
}

static void compute(void)
{
	static volatile long sum;

	for (long i = 0; i < 300000; i++)
		sum += i;
}

static void set_interval(long microseconds)
{
	struct itimerval timer = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void set_timer(timer_t timer, long microseconds)
{
	struct itimerspec time = {{0, 1000 * microseconds}, {0, 1000 * microseconds}};

	timer_settime(timer, 0, &time, NULL);
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	long late = 0;
	timer_t timer;

	timer_create(CLOCK_MONOTONIC, &event, &timer);
	for (int round = 0; round < ROUNDS; round++) {
		sig_atomic_t before = handled;

		signal(SIGALRM, handle);
		if (round % 2)
			set_timer(timer, PERIOD_US);
		else
			set_interval(PERIOD_US);
		do
			compute();
		while (handled == before);
		set_timer(timer, 0);
		set_interval(0);
		before = handled;
		signal(SIGALRM, SIG_DFL);
		compute();
		late += handled != before;
	}
	printf("-- late\n%ld\n-- handled\n%d\n", late, handled >= ROUNDS);
	return 0;
}
