/* SPDX-License-Identifier: MIT
 *
 * A comparison of what was sampled (CACHEPEEK_SAMPLE): the 95 % interval of a value, and
 * of the difference between two machines.
 *
 * Machines of one run had the same bursts and the same sets, so what a sample has too
 * much of, all of them have: the interval of a difference is often much shorter than
 * those of its sides.  So for a difference, as well as for a metric, which is made of
 * several counts of one sample, the value is computed again without one group of bursts,
 * or without one of the sets, for each of these; how much that changes tells how well it
 * is known (the jackknife).  What no such change shows is added for each count by itself.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/report/report_parts.h"
#include "tools/compare/compare.h"

/* ---- what is asked for ---- */

/* The option's, or else the variable's, which is set anew for each run. */
static bool find_sample(struct cp_comparison *c)
{
	const char *set = getenv("CACHEPEEK_SAMPLE"),
		   *timing = getenv("CACHEPEEK_TIMING");

	if (!c->sample && set && *set)
		c->sample = cp_arena_copy(&c->arena, set, strlen(set));
	if (!c->sample || !timing || strcmp(timing, "on") != 0)
		return c->sample != NULL;
	fputs("cachepeek: --sample (CACHEPEEK_SAMPLE): not together with "
	      "CACHEPEEK_TIMING=on (everything is simulated, which takes longer)\n",
		stderr);
	c->sample = NULL;
	return false;
}

bool cp_compare_plan_samples(struct cp_comparison *c)
{
	struct cp_sample_plan plan;
	char error[256];

	if (!find_sample(c))
		return true;
	if (cp_sample_parse(&plan, c->sample, error, sizeof(error)) < 0) {
		fprintf(stderr, "cachepeek: --sample (CACHEPEEK_SAMPLE): %s\n", error);
		return false;
	}
	for (unsigned i = 0; i < c->nmachines; i++) {
		struct cp_compared *compared = &c->of[i];

		compared->sample = plan;
		compared->machine.sampled =
			cp_sample_fit(&compared->sample, &compared->machine,
				compared->unsampled, sizeof(compared->unsampled)) == 0;
	}
	return true;
}

void cp_compare_join_groups(struct cp_comparison *c)
{
	for (unsigned i = 0; i < c->nmachines; i++)
		for (unsigned j = 0; j < c->nmachines; j++)
			if (c->of[j].run == c->of[i].run &&
				c->of[j].sample.groups < c->of[i].sample.groups)
				c->of[i].sample.groups = c->of[j].sample.groups;
}

/* ---- the samples ---- */

static void add_term(struct cp_pool *pool, const struct cp_compared *compared, int sign,
	const struct cp_counter *counter)
{
	bool bursts = counter->mirror < CP_SIM_SAMPLE_AT(CP_SIM_NBURST, 0);
	double *to = bursts ? pool->bursts : pool->sets;

	if (!counter->sampled) {
		pool->exact += sign * (double)compared->count[counter->mirror];
		return;
	}
	*(bursts ? &pool->in_bursts : &pool->in_sets) = true;
	for (unsigned p = 0; p < CP_SAMPLE_PARTS; p++)
		to[p] += (p == CP_SAMPLE_UNSURE ? 1 : sign) *
			 (double)compared->parts[counter->mirror - CP_SIM_SAMPLE + p];
}

struct cp_pool cp_compare_pool(
	const struct cp_compared *compared, const struct cp_quantity *quantity)
{
	const uint64_t *in =
		compared->parts + CP_SIM_BURST_instructions * CP_SAMPLE_PARTS;
	struct cp_pool pool = {.nsets = compared->sample.sets,
		.ngroups = compared->sample.groups,
		.instructions = (double)compared->count[CP_SIM_instructions],
		.full = (double)in[CP_SAMPLE_GROUPS]};

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++)
		pool.in[g] = (double)in[g];
	for (unsigned i = 0; i < quantity->nterms; i++)
		add_term(&pool, compared, quantity->terms[i].sign,
			&compared->set.counters[quantity->terms[i].counter]);
	return pool;
}

static bool is_sampled(
	const struct cp_compared *compared, const struct cp_quantity *quantity)
{
	for (unsigned i = 0; quantity->available && i < quantity->nterms; i++)
		if (compared->set.counters[quantity->terms[i].counter].sampled)
			return true;
	return false;
}

/* As the comparison is looked at now. */
static double value_of_pool(const struct cp_comparison *c,
	const struct cp_compared *compared, const struct cp_quantity *quantity,
	const struct cp_pool *pool)
{
	const struct cp_compared_view *view = &c->view;
	bool same_run = compared->run == view->run;
	double value = cp_pool_without(
		pool, same_run ? view->burst : -1, same_run ? view->set : -1);

	if (view->nudged == quantity)
		value += sqrt(cp_pool_unseen(pool)) + cp_pool_unsure(pool);
	return value;
}

struct cp_value cp_compare_sampled(const struct cp_comparison *c,
	const struct cp_compared *compared, const struct cp_quantity *quantity)
{
	struct cp_pool pool = cp_compare_pool(compared, quantity);
	struct cp_pooled estimate;
	double value;

	if (!is_sampled(compared, quantity))
		return (struct cp_value){.value = pool.exact, .status = CP_SIMULATED};
	estimate = cp_pool_estimate(&pool);
	if (estimate.none)
		return cp_unavailable(estimate.none);
	value = c->view.run ? value_of_pool(c, compared, quantity, &pool)
			    : estimate.value;
	if (value < 0)
		value = 0;
	return (struct cp_value){.value = c->view.run ? value : floor(value + 0.5),
		.status = CP_ESTIMATED};
}

/* ---- what is looked at ---- */

/* A value of a machine, or how much more it is there than on another. */
struct subject {
	const char *quantity;
	const struct cp_metric *metric; /* NULL: the quantity */
	unsigned one, other;            /* the same: the value itself */
};

static bool one_value(
	struct cp_comparison *c, const struct subject *s, unsigned machine, double *to)
{
	struct cp_value value = s->metric ? cp_compare_metric(c, machine, s->metric)
					  : cp_compare_quantity(c, machine, s->quantity);

	*to = value.value;
	return value.status != CP_UNAVAILABLE;
}

static bool subject_value(struct cp_comparison *c, const struct subject *s, double *to)
{
	double other = 0;

	if (!one_value(c, s, s->one, to) ||
		(s->other != s->one && !one_value(c, s, s->other, &other)))
		return false;
	*to -= other;
	return true;
}

/* ---- how much it changes ---- */

struct changes {
	unsigned n, missing; /* missing: without that part there is no value */
	double sum, squares;
};

static void add_change(struct cp_comparison *c, const struct subject *s,
	struct cp_compared_view view, struct changes *changes)
{
	double value;

	c->view = view;
	if (subject_value(c, s, &value)) {
		changes->n++;
		changes->sum += value;
		changes->squares += value * value;
	} else {
		changes->missing++;
	}
	c->view = (struct cp_compared_view){.run = 0};
}

/* The square of the half-width; share: of all there could be.  A part that it does not go
 * without tells most of it, so what the others tell is no interval. */
static double square_of(const struct changes *changes, double share)
{
	double n = changes->n, spread;

	if (changes->missing)
		return INFINITY;
	if (changes->n < 2)
		return 0;
	spread = changes->squares - changes->sum * changes->sum / n;
	if (spread < 0)
		spread = 0;
	return cp_student(n - 1) * cp_student(n - 1) * (n - 1) / n * spread * (1 - share);
}

/* All machines of a run have the same sample. */
static double square_of_run(
	struct cp_comparison *c, const struct subject *s, const struct cp_compared *of)
{
	struct changes bursts = {.n = 0}, sets = {.n = 0};
	struct cp_compared_view view = {.run = of->run, .burst = -1, .set = -1};

	for (view.burst = 0; view.burst < CP_SAMPLE_GROUPS; view.burst++)
		if (of->parts[view.burst]) /* instructions */
			add_change(c, s, view, &bursts);
	view.burst = -1;
	for (view.set = 0; view.set < (int)of->sample.sets; view.set++)
		add_change(c, s, view, &sets);
	return square_of(&bursts, 0) +
	       square_of(&sets, (double)of->sample.sets / of->sample.groups);
}

static double square_of_unseen(
	struct cp_comparison *c, const struct subject *s, unsigned machine, double value)
{
	const struct cp_event_set *set = &c->of[machine].set;
	struct cp_compared_view view = {.run = c->of[machine].run, -1, -1, NULL};
	double square = 0;

	for (unsigned q = 0; q < set->nquantities; q++) {
		struct changes change = {.n = 0};

		if (!is_sampled(&c->of[machine], &set->quantities[q]))
			continue;
		view.nudged = &set->quantities[q];
		add_change(c, s, view, &change);
		if (change.missing)
			return INFINITY;
		if (change.n)
			square += (change.sum - value) * (change.sum - value);
	}
	return square;
}

static double error_of(struct cp_comparison *c, const struct subject *s, double value)
{
	const struct cp_compared *one = &c->of[s->one], *other = &c->of[s->other];
	double square = 0;

	if (one->machine.sampled)
		square +=
			square_of_run(c, s, one) + square_of_unseen(c, s, s->one, value);
	if (other != one && other->machine.sampled)
		square += (other->run == one->run ? 0 : square_of_run(c, s, other)) +
			  square_of_unseen(c, s, s->other, value);
	return sqrt(square);
}

static double error_of_count(const struct cp_compared *compared, const char *name)
{
	for (unsigned q = 0; q < compared->set.nquantities; q++) {
		const struct cp_quantity *quantity = &compared->set.quantities[q];
		struct cp_pool pool;
		struct cp_pooled estimate;

		if (strcmp(quantity->name, name) != 0 || !is_sampled(compared, quantity))
			continue;
		pool = cp_compare_pool(compared, quantity);
		estimate = cp_pool_estimate(&pool);
		return estimate.none ? -1 : sqrt(estimate.square);
	}
	return -1;
}

/* Infinite: it is not known how far off the value is. */
static double any_error(struct cp_comparison *c, unsigned i, const char *quantity,
	const struct cp_metric *metric)
{
	struct subject s = {quantity, metric, i, i};
	double value, error;

	if (!c->of[i].machine.sampled)
		return -1;
	if (!metric)
		return error_of_count(&c->of[i], quantity);
	if (!subject_value(c, &s, &value))
		return -1;
	error = error_of(c, &s, value);
	return error > 0 ? error : -1; /* made of nothing that is sampled */
}

double cp_compare_error(struct cp_comparison *c, unsigned i, const char *quantity,
	const struct cp_metric *metric)
{
	double error = any_error(c, i, quantity, metric);

	return isfinite(error) ? error : -1;
}

bool cp_compare_undecided(struct cp_comparison *c, unsigned i, unsigned j,
	const char *quantity, const struct cp_metric *metric)
{
	struct subject s = {quantity, metric, i, j};
	double apart;

	if (!c->of[i].machine.sampled && !c->of[j].machine.sampled)
		return false;
	return i != j && subject_value(c, &s, &apart) && apart != 0 &&
	       fabs(apart) <= error_of(c, &s, apart);
}

const char *cp_compare_interval(struct cp_comparison *c, unsigned i, const char *quantity,
	const struct cp_metric *metric, double value)
{
	double error = any_error(c, i, quantity, metric);

	if (error < 0)
		return "";
	if (!isfinite(error))
		return " \u00b1?";
	if (value <= 0)
		return cp_text_format(&c->arena, " \u00b1%s",
			cp_text_decimal(&c->arena,
				metric && strcmp(metric->unit, "ratio") == 0 ? 100 * error
									     : error));
	return cp_text_format(&c->arena, " \u00b1%s %%",
		cp_text_decimal(&c->arena, 100 * error / value));
}
