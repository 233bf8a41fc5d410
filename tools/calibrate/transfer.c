/* SPDX-License-Identifier: MIT
 *
 * A line that two cores write in turn: half of what both turns take.  Few turns at a time
 * are timed, so that among the batches are some during which both cores ran.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tools/calibrate/calibrate.h"

enum { TURNS = 100, MOST_BATCHES = 200, MOST_CYCLES = 20000 };
enum { FAR = 37 * 4096 + 3 * CP_LINE }; /* a multiple of a line */
#define MOST_NS 200e6                   /* of all batches */

struct pair {
	_Alignas(CP_LINE) atomic_uint turn; /* even: ours */
	_Alignas(CP_LINE) atomic_bool over;
	int cpu;
	bool is_alone; /* the other thread's CPU could not be chosen */
};

/* Returns false when it is over. */
static bool wait_for(struct pair *pair, unsigned parity)
{
	for (unsigned long i = 0; atomic_load(&pair->turn) % 2 != parity; i++) {
		if (atomic_load(&pair->over))
			return false;
		if (i > 10000) /* the other one may need this CPU */
			sched_yield();
	}
	return true;
}

static void *run_other(void *context)
{
	struct pair *pair = context;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(pair->cpu, &one);
	/* On the CPU of the other thread, turns would be the scheduler's. */
	pair->is_alone = sched_setaffinity(0, sizeof(one), &one) < 0;
	if (pair->is_alone)
		atomic_store(&pair->over, true);
	while (wait_for(pair, 1))
		atomic_fetch_add(&pair->turn, 1);
	return NULL;
}

static void run_batch(void *context)
{
	struct pair *pair = context;

	for (unsigned i = 0; i < TURNS; i++) {
		atomic_fetch_add(&pair->turn, 1);
		(void)wait_for(pair, 0);
	}
}

void cp_measure_transfers(struct cp_host *host, struct cp_round *round)
{
	/* Another line in each round: each is as far from both cores as its address says.
	 */
	struct pair *pair = (struct pair *)(void *)(host->pages + host->round * FAR);
	double best = NAN, all = 0;
	pthread_t thread;

	if (host->other_cpu < 0)
		return;
	*pair = (struct pair){.cpu = host->other_cpu};
	if (pthread_create(&thread, NULL, run_other, pair) != 0)
		return;
	for (unsigned i = 0; i < MOST_BATCHES && all < MOST_NS; i++) {
		double one = cp_best(1, 2 * TURNS, run_batch, pair);

		all += one * 2 * TURNS;
		if (isnan(best) || one < best)
			best = one;
	}
	atomic_store(&pair->over, true);
	pthread_join(thread, NULL);
	/* In more than that the scheduler had its turns, too: the two never ran at once.
	 */
	if (!pair->is_alone && best / host->ns < MOST_CYCLES)
		round->value[CP_FIGURE_TRANSFER] = best / host->ns;
}
