/* SPDX-License-Identifier: MIT */
#include "tools/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *cp_verdict_name(enum cp_verdict verdict)
{
	static const char *const names[] = {
		"same", "exact", "significant", "noise", "untested", "one-sided"};

	return names[verdict];
}

/* ---- one value ---- */

static bool is_constant(const struct cp_cell *cell)
{
	return cell->runs.n > 0 && cell->runs.min == cell->runs.max;
}

/* Simulated, the same program does the same in each run, unless its runs show
 * otherwise. */
static bool is_simulated(const struct cp_values *values, const struct cp_entry *entry)
{
	if (entry->kind == CP_CALLS)
		return strcmp(values->sides[0].engine, "sim") == 0 &&
		       strcmp(values->sides[1].engine, "sim") == 0;
	return entry->side[0].status == CP_SIMULATED &&
	       entry->side[1].status == CP_SIMULATED;
}

/* Its interval; a simulated count, which is exact, has one without a width. */
static bool has_interval(const struct cp_cell *cell, double *square)
{
	double error = cp_cell_error(cell);

	*square = error > 0 ? error * error : 0;
	return error >= 0 || cell->status == CP_SIMULATED;
}

bool cp_is_judged_by_intervals(const struct cp_entry *entry, double *error)
{
	const struct cp_cell *before = &entry->side[0], *after = &entry->side[1];
	double one, other;

	if ((!before->sampled && !after->sampled) || !has_interval(before, &one) ||
		!has_interval(after, &other) ||
		(before->runs.n >= CP_FEWEST_RUNS && after->runs.n >= CP_FEWEST_RUNS))
		return false;
	*error = sqrt(one + other);
	return true;
}

/* As if what samples have too much or too little were normally distributed. */
static double outside_interval(const struct cp_entry *entry, double error)
{
	double apart = fabs(entry->side[1].runs.mean - entry->side[0].runs.mean);

	return error > 0 ? erfc(1.96 * apart / error / M_SQRT2) : 0;
}

static enum cp_verdict first_verdict(
	const struct cp_values *values, const struct cp_entry *entry)
{
	const struct cp_cell *before = &entry->side[0], *after = &entry->side[1];
	bool constant = is_constant(before) && is_constant(after);
	double error;

	if (!before->runs.n || !after->runs.n)
		return CP_ONE_SIDED;
	if (constant && before->runs.mean == after->runs.mean)
		return CP_SAME;
	if (constant && is_simulated(values, entry))
		return CP_EXACTLY;
	if (cp_is_judged_by_intervals(entry, &error))
		return CP_NOISE;
	if (before->runs.n < CP_FEWEST_RUNS || after->runs.n < CP_FEWEST_RUNS)
		return CP_UNTESTED;
	return CP_NOISE;
}

/* How many times as much, either way round; a hundred and more times are alike,
 * and so is what came from nothing. */
static double relative_change(double before, double after)
{
	double ratio;

	if (before == after)
		return 0;
	if (before <= 0 || after <= 0)
		return log(100);
	ratio = fabs(log(after / before));
	return ratio < log(100) ? ratio : log(100);
}

static bool is_share(const struct cp_entry *entry)
{
	return strcmp(entry->unit, "ratio") == 0;
}

/* Where there are metrics, they say what counts mean; shares change with what they are
 * of, and volumes with the work done: a large change of one may not matter. */
static double weight_of_kind(const struct cp_entry *entry)
{
	if (entry->kind == CP_COUNT)
		return 0.25;
	return is_share(entry) || strcmp(entry->unit, "GB") == 0 ? 0.5 : 1;
}

static struct cp_difference difference_of(
	const struct cp_values *values, const struct cp_entry *entry)
{
	double before = entry->side[0].runs.mean, after = entry->side[1].runs.mean, error;
	struct cp_difference it = {.entry = entry,
		.verdict = first_verdict(values, entry),
		.p = -1,
		.adjusted = -1,
		.ratio = -1};

	if (it.verdict == CP_ONE_SIDED)
		return it;
	it.change = after - before;
	it.ratio = before > 0 ? after / before : -1;
	it.size = entry->spot->weight * weight_of_kind(entry) *
		  relative_change(before, after);
	if (it.verdict == CP_NOISE && cp_is_judged_by_intervals(entry, &error))
		it.p = outside_interval(entry, error);
	else if (it.verdict == CP_NOISE)
		it.p = cp_welch(entry->side[0].values, entry->side[0].runs.n,
			entry->side[1].values, entry->side[1].runs.n);
	return it;
}

/* ---- all of them ---- */

static int adjust_probabilities(struct cp_diff *diff)
{
	double *p = malloc((diff->count + 1) * sizeof(*p));
	size_t n = 0;
	int result = p ? 0 : -ENOMEM;

	for (size_t i = 0; p && i < diff->count; i++)
		if (diff->differences[i].verdict == CP_NOISE)
			p[n++] = diff->differences[i].p;
	if (p)
		result = cp_adjust(p, n);
	diff->tested = n;
	n = 0;
	for (size_t i = 0; result == 0 && i < diff->count; i++) {
		struct cp_difference *it = &diff->differences[i];

		if (it->verdict != CP_NOISE)
			continue;
		it->adjusted = p[n++];
		if (it->adjusted < CP_DIFF_LEVEL)
			it->verdict = CP_SIGNIFICANT;
	}
	free(p);
	return result;
}

/* Flagged ones, then those that nobody could test, then the others. */
static int rank_of(const struct cp_difference *it)
{
	static const int ranks[] = {[CP_EXACTLY] = 0,
		[CP_SIGNIFICANT] = 0,
		[CP_UNTESTED] = 1,
		[CP_NOISE] = 2,
		[CP_ONE_SIDED] = 3,
		[CP_SAME] = 4};

	return ranks[it->verdict];
}

static int compare_differences(const void *one, const void *other)
{
	const struct cp_difference *a = one, *b = other;

	if (a->role != b->role)
		return (int)a->role - (int)b->role;
	if (a->role >= CP_ALSO && rank_of(a) != rank_of(b))
		return rank_of(a) - rank_of(b);
	if (a->size > b->size || a->size < b->size)
		return a->size > b->size ? -1 : 1;
	if (a->entry->spot != b->entry->spot)
		return strcmp(a->entry->spot->key, b->entry->spot->key);
	return strcmp(a->entry->name, b->entry->name);
}

static void index_differences(struct cp_diff *diff)
{
	for (size_t i = 0; i < diff->count; i++)
		diff->by_entry[diff->differences[i].entry->index] = &diff->differences[i];
}

/* The parts of the answer, and in which order they come. */
static void order_differences(struct cp_diff *diff)
{
	diff->cost = cp_cost_of(diff->values);
	cp_cost_places(diff);
	index_differences(diff);
	cp_roles_give(diff);
	if (diff->count)
		qsort(diff->differences, diff->count, sizeof(*diff->differences),
			compare_differences);
	index_differences(diff);
}

int cp_diff_compare(struct cp_diff *diff)
{
	struct cp_values *values = diff->values;
	int result;

	cp_values_weigh(values);
	diff->differences = cp_arena_alloc(
		diff->arena, (values->nentries + 1) * sizeof(*diff->differences));
	diff->by_entry = cp_arena_alloc(
		diff->arena, (values->nentries + 1) * sizeof(*diff->by_entry));
	for (size_t i = 0; i < values->nentries; i++) {
		const struct cp_entry *entry = values->entries[i];

		/* what no run could count is no difference */
		if (entry->side[0].runs.n || entry->side[1].runs.n)
			diff->differences[diff->count++] = difference_of(values, entry);
	}
	result = adjust_probabilities(diff);
	order_differences(diff);
	return result;
}

/* ---- what is asked of them ---- */

const struct cp_difference *cp_diff_of_run(const struct cp_diff *diff, const char *name)
{
	const struct cp_values *values = diff->values;

	for (size_t i = 0; i < values->nspots; i++) {
		const struct cp_entry *entry = NULL;

		if (!*values->spots[i]->path)
			entry = cp_cost_entry(values, values->spots[i], name);
		if (entry)
			return diff->by_entry[entry->index];
	}
	return NULL;
}

/* Twice the standard error of several runs, which is near enough for words. */
double cp_diff_error(const struct cp_difference *it)
{
	const struct cp_runs *before = &it->entry->side[0].runs,
			     *after = &it->entry->side[1].runs;
	double error;

	if (cp_is_judged_by_intervals(it->entry, &error))
		return error;
	if (before->n < CP_FEWEST_RUNS || after->n < CP_FEWEST_RUNS)
		return -1;
	return 2 * sqrt(pow(cp_runs_stddev(before), 2) / (double)before->n +
			   pow(cp_runs_stddev(after), 2) / (double)after->n);
}

/* An estimate that nothing tells from another is no change below a hundredth. */
bool cp_diff_is_small(const struct cp_difference *it)
{
	double share = it->verdict == CP_UNTESTED ? 0.01 : 0.0005;

	return it->verdict == CP_SAME || it->verdict == CP_NOISE ||
	       (it->ratio >= 0 && fabs(it->ratio - 1) < share);
}

/* ---- how they are spelled ---- */

/* With a blank before the unit. */
static const char *short_of(struct cp_arena *arena, double value)
{
	return value < 999.5 ? cp_text_format(arena, "%.0f ", value)
			     : cp_text_short(arena, value);
}

const char *cp_diff_number(
	struct cp_arena *arena, const struct cp_entry *entry, double value)
{
	if (is_share(entry))
		return cp_text_format(
			arena, "%s %%", cp_text_decimal(arena, value * 100));
	if (strcmp(entry->unit, "GB") == 0)
		return cp_text_format(arena, "%sB", short_of(arena, 1e9 * value));
	if (strcmp(entry->unit, "s") == 0)
		return cp_text_seconds(arena, value);
	if (value >= 0 && value < 1e18 && value == floor(value) &&
		entry->kind != CP_METRIC)
		return cp_text_integer(arena, (uint64_t)value);
	return cp_text_decimal(arena, value);
}

const char *cp_diff_change(struct cp_arena *arena, const struct cp_difference *it)
{
	double percent = 100 * (it->ratio - 1);

	if (it->verdict == CP_ONE_SIDED)
		return it->entry->side[0].runs.n ? "gone" : "new";
	if (it->change == 0)
		return "0 %";
	if (it->ratio < 0)
		return "from 0";
	if (it->ratio >= 2)
		return cp_text_format(
			arena, "\u00d7%s", cp_text_decimal(arena, it->ratio));
	if (fabs(percent) < 0.05)
		return percent < 0 ? ">-0.1 %" : "<0.1 %";
	return cp_text_format(arena, "%s%.1f %%", percent > 0 ? "+" : "", percent);
}

/* "stride.c:12 in sum", with the line of the side where it is; where both have it and not
 * on the same line, "stride.c:12 (now 14) in sum". */
static const char *line_of(struct cp_arena *arena, const struct cp_spot *spot)
{
	unsigned before = spot->line[0], after = spot->line[1];
	const char *file = cp_text_safe(arena, cp_slice_of(spot->file)),
		   *function = cp_text_safe(arena, cp_slice_of(spot->function));

	if (before && after && (before != after || spot->edited))
		return cp_text_format(arena, "%s:%u (now %u%s) in %s", file, before,
			after, spot->edited ? ", edited" : "", function);
	return cp_text_format(
		arena, "%s:%u in %s", file, before ? before : after, function);
}

const char *cp_diff_spot(struct cp_arena *arena, const struct cp_entry *entry)
{
	const struct cp_spot *spot = entry->spot;

	if (spot->line[0] || spot->line[1])
		return line_of(arena, spot);
	return *spot->path ? cp_text_safe(arena, cp_slice_of(spot->path)) : "(whole run)";
}
