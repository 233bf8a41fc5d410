/* SPDX-License-Identifier: MIT
 * Every kind of parallel region, each in a function of its name; thread i, or
 * whoever is given item i, touches (i + 1) * 10 pages in the region "measured".
 * Before that all is done once without any, so that what the runtime touches for
 * the first time is elsewhere.
 */
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cachepeek.h"
#include "touch.h"

static int scale;

static void item(int i)
{
	touch(scale * (i + 1));
}

static void simple(void)
{
#pragma omp parallel num_threads(3)
	item(omp_get_thread_num());
}

static void statically(void)
{
#pragma omp parallel for schedule(static, 1) num_threads(3)
	for (int i = 0; i < 3; i++)
		item(i);
}

static void dynamically(void)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(3)
	for (int i = 0; i < 3; i++)
		item(i);
}

static void guided(void)
{
#pragma omp parallel for schedule(guided) num_threads(3)
	for (int i = 0; i < 3; i++)
		item(i);
}

static void at_runtime(void)
{
#pragma omp parallel for schedule(runtime) num_threads(3)
	for (int i = 0; i < 3; i++)
		item(i);
}

static int reduced(void)
{
	int sum = 0;

#pragma omp parallel for reduction(+ : sum) num_threads(3)
	for (int i = 0; i < 3; i++) {
		item(i);
		sum += i;
	}
	return sum;
}

static int reduced_by_tasks(void)
{
	int sum = 0;

#pragma omp parallel reduction(task, + : sum) num_threads(3)
	{
		item(omp_get_thread_num());
#pragma omp task in_reduction(+ : sum)
		sum++;
	}
	return sum;
}

static void sections(void)
{
#pragma omp parallel sections num_threads(3)
	{
#pragma omp section
		item(0);
#pragma omp section
		item(1);
#pragma omp section
		item(2);
	}
}

static void alone(void)
{
#pragma omp parallel num_threads(1)
	item(0);
}

/* Nobody goes on before @people have come: a thread of an inner team that is through
 * early could otherwise be lent to the other one, and be there for both. Gives up after
 * a while, since a test that fails says more than one that hangs. */
static void wait_for_all(int people)
{
	static atomic_int came;
	int last = (atomic_fetch_add(&came, 1) / people + 1) * people;

	for (int i = 0; i < 10000000 && atomic_load(&came) < last; i++)
		sched_yield();
}

static void nested(void)
{
#pragma omp parallel num_threads(2)
	{
		int outer = omp_get_thread_num();

#pragma omp parallel num_threads(2)
		{
			item(2 * outer + omp_get_thread_num());
			wait_for_all(4);
		}
	}
}

/* Left over until the end of the region, when its body has long returned. */
static void tasks(void)
{
#pragma omp parallel num_threads(2)
	for (int i = 0; i < 8 && omp_get_thread_num() == 0; i++) {
#pragma omp task
		item(i);
	}
}

static int loop_of_tasks(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(1) reduction(+ : sum)
	for (int i = 0; i < 6; i++) {
		item(i);
		sum += i;
	}
	return sum;
}

/* One waits in a barrier for what the other does. */
static void barrier(void)
{
#pragma omp parallel num_threads(2)
	{
		item(omp_get_thread_num());
#pragma omp barrier
		item(omp_get_thread_num());
	}
}

static void loops_inside(void)
{
#pragma omp parallel num_threads(3)
	for (int k = 0; k < 2; k++) {
#pragma omp for schedule(static, 1)
		for (int i = 0; i < 3; i++)
			item(i);
	}
}

static void teams(void)
{
#pragma omp teams num_teams(2)
	{
		int team = omp_get_team_num();

#pragma omp parallel num_threads(1)
		item(team);
	}
}

static int all(void)
{
	int sums = 0;

	simple();
	statically();
	dynamically();
	guided();
	at_runtime();
	sums += reduced();
	sums += reduced_by_tasks();
	sections();
	alone();
	nested();
	tasks();
	sums += loop_of_tasks();
	barrier();
	loops_inside();
	teams();
	return sums;
}

int main(void)
{
	int sums;

	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
	sums = all();
	scale = 10;
	CACHEPEEK_BEGIN("measured");
	sums += all();
	CACHEPEEK_END("measured");
	printf("%d\n", sums);
	return 0;
}
