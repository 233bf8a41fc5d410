/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The model with its filters, and that of machines that are not plain, against
 * the plain reference: every counter of every core equal after a million random
 * references, on many machines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/model.h"
#include "duel.h"
#include "laws.h"

/* Returns how many counters differ and laws are broken; a step is a batch of a few
 * references. */
static int run_case(
	const struct machine *m, int ncores, int with_huge, long steps, uint64_t *made)
{
	static struct duel d;
	int different, lawless = 0;

	l1_oldest_host = (int)random_below(2);
	duel_start(&d, m, ncores, with_huge);
	for (long i = 0; i < steps; i++) {
		duel_step(&d);
		if (i % 3989 == 0) /* Each pair of lines is looked at. */
			lawless += laws_of_coherence(&d.ref);
	}
	different = duel_differences(&d) + lawless + laws_of_conservation(&d.ref);
	*made = duel_references(&d);
	duel_end(&d);
	return different;
}

static int run_couple(const struct model_couple *c, int ncores, int is_guest, long steps)
{
	static struct duel d;
	int different;

	duel_start(&d, &c->m[0], ncores, 1);
	duel_join(&d, c, is_guest);
	for (long i = 0; i < steps; i++)
		duel_step(&d);
	different = duel_differences(&d);
	duel_end(&d);
	return different;
}

#define NPICKED 40

static int test, failed;

static void run(
	const char *name, const struct machine *m, int ncores, int with_huge, long steps)
{
	uint64_t made;
	int bad = run_case(m, ncores, with_huge, steps, &made);

	printf("%sok %d - %s, cores: %d%s, references: %llu\n", bad ? "not " : "", ++test,
		name, ncores, with_huge ? ", huge pages" : "", (unsigned long long)made);
	fflush(stdout);
	failed |= bad != 0;
}

static void check(int good, const char *what, const char *name, int ncores)
{
	printf("%sok %d - %s: %s, cores: %d\n", good ? "" : "not ", ++test, what, name,
		ncores);
	fflush(stdout);
	failed |= !good;
}

static void check_couple(const struct model_couple *c, long steps)
{
	for (int ncores = 1; ncores <= REF_CORES; ncores += REF_CORES - 1) {
		check(!run_couple(c, ncores, 0, steps), "the first", c->name, ncores);
		check(!run_couple(c, ncores, 1, steps), "the second", c->name, ncores);
	}
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 1300000;
	char name[32];

	printf("1..%d\n", 2 * model_ncases + NPICKED + 4 * model_ncouples);
	for (int n = 0; n < model_ncases; n++) {
		run(model_cases[n].name, &model_cases[n].m, 1,
			!!strstr(model_cases[n].name, "huge"), steps);
		run(model_cases[n].name, &model_cases[n].m, REF_CORES, 1, steps);
	}
	for (int n = 0; n < NPICKED; n++) {
		struct machine m;

		random_seed = 1000003ull * (unsigned)n + 17;
		for (int i = 0; i < 10; i++)
			random_below(2);
		m = pick_machine();
		snprintf(name, sizeof(name), "random machine %d", n);
		run(name, &m, 1 + n % REF_CORES, n % 3 != 0, steps);
	}
	for (int n = 0; n < model_ncouples; n++)
		check_couple(&model_couples[n], steps);
	return failed;
}
