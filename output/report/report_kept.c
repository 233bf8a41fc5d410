/* SPDX-License-Identifier: MIT */
#include "output/report/report_kept.h"

#include "base/stats.h"

#define FEWEST_GROUPS 14  /* a line through fewer says little of how far it is off */
#define MOST_OF_ONE 0.7   /* of the squares: else the line goes through that group */
#define LEAST_BEYOND 1e-6 /* of the squares of all lines; less is rounding */

/* ---- lines that were kept ---- */

static double rest_of(const struct cp_pool *pool)
{
	return pool->instructions - pool->full;
}

static bool is_useful(const struct cp_kept_fit *fit, double squares, double most)
{
	return fit->groups >= FEWEST_GROUPS && fit->squares > LEAST_BEYOND * squares &&
	       most <= MOST_OF_ONE * fit->squares;
}

static void find_beyond(
	struct cp_kept_fit *fit, const struct cp_pool *pool, double per_instruction)
{
	double squares = 0, most = 0;

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		double in = fit->in[g], kept = pool->kept[g], one;

		if (!(in > 0))
			continue;
		fit->beyond[g] = kept - per_instruction * in;
		one = fit->beyond[g] * fit->beyond[g] / in;
		fit->squares += one;
		squares += kept * kept / in;
		most = one > most ? one : most;
	}
	if (!is_useful(fit, squares, most))
		fit->squares = 0;
}

/* A regression through 0 by instructions and kept lines, whose variance grows like the
 * instructions: of both, the weights add up to what all of the run has. */
struct cp_kept_fit cp_kept_fit(const struct cp_pool *pool, int without)
{
	struct cp_kept_fit fit = {0};
	double in = 0, kept = 0, missing;

	for (int g = 0; g < CP_SAMPLE_GROUPS; g++) {
		fit.in[g] = g == without ? 0 : pool->in[g];
		fit.groups += fit.in[g] > 0;
		in += fit.in[g];
		kept += g == without ? 0 : pool->kept[g];
	}
	if (!(in > 0))
		return fit;
	find_beyond(&fit, pool, kept / in);
	missing = pool->kept_all - kept / in * rest_of(pool);
	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		fit.weight[g] = fit.in[g] > 0 ? rest_of(pool) / in : 0;
		if (fit.in[g] > 0 && fit.squares > 0)
			fit.weight[g] +=
				missing * fit.beyond[g] / fit.in[g] / fit.squares;
	}
	return fit;
}

double cp_kept_sum(const struct cp_kept_fit *fit, const double *count)
{
	double sum = 0;

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++)
		sum += fit->weight[g] * count[g];
	return sum;
}

/* By how much a count differs from what the fit says of group g, which it would say
 * without that group. */
struct line {
	double in, per_instruction, per_line;
};

static struct line line_of(const struct cp_kept_fit *fit, const double *count)
{
	struct line line = {0};
	double sum = 0;

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		line.in += fit->in[g];
		sum += count[g];
	}
	line.per_instruction = sum / line.in;
	for (unsigned g = 0; g < CP_SAMPLE_GROUPS && fit->squares > 0; g++)
		if (fit->in[g] > 0)
			line.per_line +=
				count[g] * fit->beyond[g] / fit->in[g] / fit->squares;
	return line;
}

static double off_line(const struct cp_kept_fit *fit, const struct line *line,
	const double *count, unsigned g)
{
	double in = fit->in[g], beyond = fit->beyond[g], own = in / line->in;

	if (!(fit->squares > 0))
		return count[g] - line->per_instruction * in;
	own += beyond * beyond / in / fit->squares;
	return (count[g] - line->per_instruction * in - line->per_line * beyond) /
	       (1 - own);
}

/* Like a jackknife's where there is a line of two terms. */
double cp_kept_square(const struct cp_kept_fit *fit, const double *count)
{
	struct line line = line_of(fit, count);
	double squares = 0, groups = fit->groups, error;

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		double off = fit->in[g] > 0
				     ? fit->weight[g] * off_line(fit, &line, count, g)
				     : 0;

		squares += off * off;
	}
	if (fit->squares > 0)
		error = cp_student(groups - 2) *
			__builtin_sqrt(squares * (groups - 1) / groups);
	else
		error = cp_student(groups - 1) *
			__builtin_sqrt(squares * groups / (groups - 1));
	return error * error;
}

/* ---- first references ---- */

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* By how much the sets differ; no less than if each reference were by itself, and where
 * all are alike by the rule of three. */
static double error_of(const struct cp_pool *pool, double firsts, double share)
{
	double n = pool->nsets, squares = 0, sets, each;

	for (unsigned g = 0; g < pool->nsets; g++) {
		double off = pool->missed[g] - share * pool->firsts[g];

		squares += off * off;
	}
	sets = cp_student(n - 1) / firsts * __builtin_sqrt(squares * n / (n - 1));
	each = 2 * __builtin_sqrt(share * (1 - share) / firsts);
	return larger(larger(sets, each), CP_UNSEEN / firsts);
}

struct cp_kept_share cp_kept_share(const struct cp_pool *pool)
{
	static const struct cp_kept_share any = {.missed = 0.5, .error = 0.5};
	struct cp_kept_share share = any;
	double firsts = 0, missed = 0;

	for (unsigned g = 0; g < pool->nsets; g++) {
		firsts += pool->firsts[g];
		missed += pool->missed[g];
	}
	if (firsts < 1 || pool->nsets < 2)
		return any;
	share.missed = missed / firsts;
	share.error = error_of(pool, firsts, share.missed);
	return share.error > any.error ? any : share;
}

/* ---- where they are ---- */

static const uint64_t *help_at(const uint64_t *help, unsigned counter)
{
	return help + counter * CP_SAMPLE_PARTS;
}

static void take_firsts(struct cp_pool *pool, const uint64_t *firsts)
{
	const uint64_t *missed = firsts + CP_SAMPLE_PARTS;

	for (unsigned g = 0; g < pool->nsets; g++) {
		pool->firsts[g] += (double)firsts[g];
		pool->missed[g] += (double)missed[g];
	}
}

void cp_kept_take(struct cp_pool *pool, const uint64_t *help, unsigned firsts)
{
	const uint64_t *kept = help_at(help, CP_HELP_KEPT);

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		pool->kept[g] = (double)kept[g];
		pool->kept_all += (double)kept[g];
	}
	pool->kept_all += (double)kept[CP_SAMPLE_UNSURE];
	if (firsts & CP_FIRSTS_OTHERS)
		return;
	if (firsts & CP_FIRSTS_CODE)
		take_firsts(pool, help_at(help, CP_HELP_CODE));
	if (firsts & CP_FIRSTS_LOADS)
		take_firsts(pool, help_at(help, CP_HELP_LOADS));
	if (firsts & CP_FIRSTS_STORES)
		take_firsts(pool, help_at(help, CP_HELP_STORES));
}
