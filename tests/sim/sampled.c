/* SPDX-License-Identifier: MIT
 *
 * Samples a stream of misses whose every one is known (--profile-misses), as a ring
 * of the kernel's does, with the product's own periods, estimates and error bars,
 * and tells how often the truth lies in the interval.
 *
 *	sampled MISSES PERIOD SEEDS SHIFT
 *
 * A place is 2^SHIFT bytes of code.  PERIOD 0: so that there are 1,000 samples.  Prints
 *for each of the ten largest places how many of the seeds have the truth in the interval,
 *and the median of the intervals' halves in percent of the estimate.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/engine/period.h"
#include "tools/profile/model/estimate.h"

#define TOP 10
#define MAX_THREADS 8
/* A ring is emptied, and the period changed, after so many. */
#define PER_DRAIN CP_PERIOD_SAMPLES

struct place {
	uint64_t instruction, true_count;
	struct {
		uint64_t samples;
		double periods;
	} thread[MAX_THREADS];
	unsigned covered;
};

struct thread {
	struct cp_period next;
	struct cp_population population;
};

static uint64_t *misses;
static size_t nmisses, nplaces;
static struct place *places;

/* The place of each miss, by thread. */
static struct stream {
	size_t n;
	uint32_t *place;
} streams[MAX_THREADS];

static void read_misses(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file || fseek(file, 0, SEEK_END) != 0)
		exit(2);
	nmisses = (size_t)ftell(file) / sizeof(*misses);
	rewind(file);
	misses = malloc((nmisses + 1) * sizeof(*misses));
	if (fread(misses, sizeof(*misses), nmisses, file) != nmisses)
		exit(2);
	fclose(file);
}

static int by_count(const void *a, const void *b)
{
	const struct place *x = *(struct place *const *)a, *y = *(struct place *const *)b;

	return x->true_count > y->true_count ? -1 : x->true_count < y->true_count;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* shift: places are that many bits of code. */
static uint64_t place_at(uint64_t miss, unsigned shift)
{
	return (miss & 0xffffffffffff) >> shift;
}

#define SLOTS ((size_t)1 << 20)

static uint32_t place_of(uint64_t instruction)
{
	static uint32_t *slots;
	size_t i = (instruction * 0x9e3779b97f4a7c15u) >> 44;

	if (!slots) {
		slots = calloc(SLOTS, sizeof(*slots));
		places = calloc(SLOTS / 2, sizeof(*places));
	}
	while (slots[i] && places[slots[i] - 1].instruction != instruction)
		i = (i + 1) % SLOTS;
	if (!slots[i]) {
		if (nplaces == SLOTS / 2)
			exit(2);
		places[nplaces].instruction = instruction;
		slots[i] = (uint32_t)++nplaces;
	}
	return slots[i] - 1;
}

static void find_places(unsigned shift)
{
	for (size_t i = 0; i < nmisses; i++)
		streams[(misses[i] >> 48) % MAX_THREADS].n++;
	for (unsigned t = 0; t < MAX_THREADS; t++) {
		streams[t].place = malloc((streams[t].n + 1) * sizeof(uint32_t));
		streams[t].n = 0;
	}
	for (size_t i = 0; i < nmisses; i++) {
		struct stream *stream = &streams[(misses[i] >> 48) % MAX_THREADS];
		uint32_t place = place_of(place_at(misses[i], shift));

		places[place].true_count++;
		stream->place[stream->n++] = place;
	}
}

/* Events between two samples only have to be counted. */
static void sample_thread(unsigned number, struct thread *t)
{
	const struct stream *stream = &streams[number];
	uint64_t period = cp_period_next(&t->next), at = period;

	t->population = (struct cp_population){.total = (double)stream->n};
	for (; at <= stream->n; at += period) {
		struct place *p = &places[stream->place[at - 1]];

		t->population.samples++;
		t->population.periods += (double)period;
		p->thread[number].samples++;
		p->thread[number].periods += (double)period;
		if (t->population.samples % PER_DRAIN == 0)
			period = cp_period_next(&t->next);
	}
}

static void sample(uint64_t period, uint64_t seed, struct thread *threads)
{
	for (size_t i = 0; i < nplaces; i++)
		memset(places[i].thread, 0, sizeof(places[i].thread));
	for (unsigned t = 0; t < MAX_THREADS; t++) {
		threads[t].next = (struct cp_period){period, 1, seed * 977 + t};
		sample_thread(t, &threads[t]);
	}
}

/* How far all estimates together are, relatively, from all misses of threads that
 * have samples. */
static double surplus(const struct thread *threads)
{
	double sum = 0, all = 0;

	for (unsigned t = 0; t < MAX_THREADS; t++)
		all += threads[t].population.samples ? threads[t].population.total : 0;

	for (size_t i = 0; i < nplaces; i++) {
		struct cp_estimate estimate = {0, 0};

		for (unsigned t = 0; t < MAX_THREADS; t++)
			cp_estimate_add(&estimate, &threads[t].population,
				places[i].thread[t].samples, places[i].thread[t].periods);
		sum += estimate.value;
	}
	return fabs(sum / all - 1);
}

static double worst_surplus;

static void try_seed(uint64_t period, uint64_t seed, struct place **top, unsigned ntop,
	double *halves, size_t *nhalves)
{
	static struct thread threads[MAX_THREADS];

	sample(period, seed, threads);
	if (surplus(threads) > worst_surplus)
		worst_surplus = surplus(threads);
	for (unsigned i = 0; i < ntop; i++) {
		struct cp_estimate estimate = {0, 0};
		double error, off;

		for (unsigned t = 0; t < MAX_THREADS; t++)
			cp_estimate_add(&estimate, &threads[t].population,
				top[i]->thread[t].samples, top[i]->thread[t].periods);
		if (estimate.value <= 0)
			continue; /* it is in no report: not covered */
		error = cp_estimate_error(&estimate, (double)nmisses);
		off = estimate.value - (double)top[i]->true_count;
		top[i]->covered += off <= error && -off <= error;
		halves[(*nhalves)++] = 100 * error / estimate.value;
	}
}

int main(int argc, char **argv)
{
	struct place **top;
	unsigned ntop, seeds;
	uint64_t period;
	double *halves;
	size_t nhalves = 0;

	if (argc < 5)
		return 2;
	read_misses(argv[1]);
	period = strtoull(argv[2], NULL, 10);
	seeds = (unsigned)atoi(argv[3]);
	find_places((unsigned)atoi(argv[4]));
	if (!period)
		period = nmisses / 1000;
	top = calloc(nplaces + 1, sizeof(*top));
	for (size_t i = 0; i < nplaces; i++)
		top[i] = &places[i];
	qsort(top, nplaces, sizeof(*top), by_count);
	ntop = nplaces < TOP ? (unsigned)nplaces : TOP;
	halves = calloc((size_t)TOP * seeds, sizeof(*halves));
	for (unsigned seed = 1; seed <= seeds; seed++)
		try_seed(period, seed, top, ntop, halves, &nhalves);
	qsort(halves, nhalves, sizeof(*halves), by_value);
	printf("misses %zu places %zu period %lu median %.2f surplus %.12f", nmisses,
		nplaces, (unsigned long)period, nhalves ? halves[nhalves / 2] : 0.0,
		worst_surplus);
	for (unsigned i = 0; i < ntop; i++)
		printf(" %.2f%%:%u", 100.0 * (double)top[i]->true_count / (double)nmisses,
			top[i]->covered);
	printf("\n");
	return 0;
}
