/* SPDX-License-Identifier: MIT
 *
 * How well the values of a comparison are known, and the differences between two
 * machines: 95 % intervals of samples (CACHEPEEK_SAMPLE), and of predicted time by how
 * far rounds of the calibration are apart.
 *
 * Machines of one run had the same bursts and the same sets, so what a sample has too
 * much of, all of them have: the interval of a difference is often much shorter than
 * those of its sides.  So for a difference, as well as for a metric, which is made of
 * several counts of one sample, the value is computed again without one group of bursts,
 * or without one of the sets, for each of these; how much that changes tells how well it
 * is known (the jackknife).  What no such change shows is added for each count by itself.
 *
 * Figures of two machines are off by themselves, each for a reason of its own: so the
 * value is computed again with one part of one machine's time longer by its spread.
 */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "output/report/report_parts.h"
#include "tools/compare/compare.h"

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

		if (!cp_compare_is_sampled(&c->of[machine], &set->quantities[q]))
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

/* A value that is made of other estimates as well has no such interval: reports have none
 * either. */
static double square_of_spreads(
	struct cp_comparison *c, const struct subject *s, unsigned machine, double value)
{
	double square = 0, now;

	for (unsigned part = 0; c->of[machine].spreads.known && part < CP_NPARTS;
		part++) {
		bool known;

		c->view = (struct cp_compared_view){
			.longer = &c->of[machine], .part = (enum cp_time_part)part};
		known = subject_value(c, s, &now) && !c->view.otherwise;
		c->view = (struct cp_compared_view){.run = 0};
		if (!known)
			return 0;
		square += (now - value) * (now - value);
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
	square += square_of_spreads(c, s, s->one, value);
	if (other != one)
		square += square_of_spreads(c, s, s->other, value);
	return sqrt(square);
}

static bool has_interval(const struct cp_compared *compared)
{
	return compared->machine.sampled || compared->spreads.known;
}

static double error_of_count(const struct cp_compared *compared, const char *name)
{
	for (unsigned q = 0; q < compared->set.nquantities; q++) {
		const struct cp_quantity *quantity = &compared->set.quantities[q];
		struct cp_pool pool;
		struct cp_pooled estimate;

		if (strcmp(quantity->name, name) != 0 ||
			!cp_compare_is_sampled(compared, quantity))
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

	if (!has_interval(&c->of[i]))
		return -1;
	if (!metric && c->of[i].machine.sampled)
		return error_of_count(&c->of[i], quantity);
	if (!subject_value(c, &s, &value))
		return -1;
	error = error_of(c, &s, value);
	return error > 0 ? error : -1; /* made of nothing that is off */
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

	if (!has_interval(&c->of[i]) && !has_interval(&c->of[j]))
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
