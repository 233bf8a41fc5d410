/* SPDX-License-Identifier: MIT
 *
 * Metrics: the groups' formulas over the counts of a region.
 */
#include <string.h>

#include "output/metrics/metric.h"
#include "output/report/report_parts.h"

#define NO_PART (-1)

struct scope {
	const struct cp_report *report;
	const struct cp_region *region;
	bool own; /* without nested regions */
	/* The part of predicted time that takes longer by its spread; none: as it is. */
	int part;
	bool timed, otherwise; /* made of predicted time; of what else is estimated */
	/* While an interval is computed: which quantities were asked for; this one, by so
	 * much more. */
	bool *used;
	size_t nudged;
	double by;
};

int cp_report_quantity(const struct cp_report *report, const char *name)
{
	for (size_t i = 0; i < report->nquantities; i++)
		if (strcmp(report->quantities[i], name) == 0)
			return (int)i;
	return -1;
}

bool cp_report_shows(const struct cp_report *report, size_t quantity)
{
	return !cp_is_variance(report->quantities[quantity]);
}

int cp_report_metric(const struct cp_report *report, const char *name)
{
	for (size_t i = 0; i < report->nmetrics; i++)
		if (strcmp(report->metrics[i]->name, name) == 0)
			return (int)i;
	return -1;
}

/* SECONDS of several threads at once: of the one that took longest, which is
 * the wall time if they ran side by side and too short if they did not. */
static struct cp_value wall_time(const struct cp_region *region)
{
	struct cp_value seconds = region->seconds;

	if (seconds.status == CP_UNAVAILABLE || region->nthreads < 2)
		return seconds;
	return (struct cp_value){
		.value = (double)region->longest_ns / 1e9, .status = CP_ESTIMATED};
}

/* On the simulated PMU, whose clock is the machine's: what the threads of the region
 * could have had of cycles in that time. */
static struct cp_value time_stamps(const struct scope *scope)
{
	const struct cp_region *region = scope->region;
	int cycles = cp_report_quantity(scope->report, "cycles");
	double threads = region->nthreads > 1 ? (double)region->nthreads : 1;
	struct cp_value wall = wall_time(region);

	if (scope->report->engine != CP_ENGINE_SIM)
		return cp_unavailable("time stamps are not recorded");
	if (wall.status == CP_UNAVAILABLE || !(region->seconds.value > 0))
		return cp_unavailable(wall.reason ? wall.reason : "no time passed");
	if (cycles < 0 || region->counts[cycles].status == CP_UNAVAILABLE)
		return cp_unavailable("cycles are not counted in this run");
	wall.value *=
		threads * (double)region->counts[cycles].value / region->seconds.value;
	return wall;
}

/* The clock of the simulated machine in the whole run, or of the whole thread: it makes
 * seconds of cycles. */
static struct cp_value clock_of(
	const struct cp_report *report, const struct cp_region *region)
{
	const struct cp_region *run = region;
	int cycles = cp_report_quantity(report, "cycles");

	while (run->parent)
		run = run->parent;
	if (report->engine != CP_ENGINE_SIM)
		return cp_unavailable("only a simulated machine has one clock");
	if (cycles < 0 || run->counts[cycles].status == CP_UNAVAILABLE)
		return cp_unavailable("cycles are not counted in this run");
	if (run->seconds.status == CP_UNAVAILABLE || !(run->seconds.value > 0))
		return cp_unavailable(
			run->seconds.reason ? run->seconds.reason : "no time passed");
	return (struct cp_value){
		.value = (double)run->counts[cycles].value / run->seconds.value,
		.status = CP_ESTIMATED};
}

static struct cp_value clock_in(struct scope *scope)
{
	struct cp_value clock = clock_of(scope->report, scope->region);

	scope->timed = true;
	if (scope->part == CP_PART_CLOCK)
		clock.value /= 1 + scope->report->spreads.of[CP_PART_CLOCK];
	return clock;
}

static struct cp_value parameter_value(struct scope *scope, const char *name)
{
	double line = scope->report->line;

	if (strcmp(name, "CLOCK") == 0)
		return clock_in(scope);
	if (strcmp(name, "SECONDS") == 0 || strcmp(name, "TSC") == 0)
		scope->otherwise = true;
	if (strcmp(name, "SECONDS") == 0)
		return wall_time(scope->region);
	if (strcmp(name, "TSC") == 0)
		return time_stamps(scope);
	if (line <= 0)
		return cp_unavailable("the size of a cache line is not known");
	return (struct cp_value){.value = line};
}

/* With the part that is looked at longer by its spread.  What is none has no interval of
 * its own. */
static double value_of_count(
	struct scope *scope, const char *name, const struct cp_count *count)
{
	double value = (double)(scope->own ? count->exclusive : count->value);

	if (count->status != CP_ESTIMATED)
		return value;
	if (cp_parts_of_quantity(name))
		scope->timed = true;
	else if (count->value == 0)
		return value;
	else
		scope->otherwise = true;
	if (scope->part != NO_PART && !cp_spreads_lengthen(scope->report, scope->region,
					      name, (unsigned)scope->part, &value))
		scope->otherwise = true;
	return value;
}

static struct cp_value look_up(void *context, const char *name)
{
	static const char *const parameters[] = {"LINE", "SECONDS", "TSC", "CLOCK"};
	struct scope *scope = context;
	int index = cp_report_quantity(scope->report, name);
	const struct cp_count *count;
	struct cp_value weight;

	for (int i = 0; i < 4; i++)
		if (strcmp(name, parameters[i]) == 0)
			return parameter_value(scope, name);
	if (cp_weight_value(&scope->report->weights, name, &weight)) {
		scope->otherwise = true;
		return weight;
	}
	if (index < 0)
		return cp_unavailable("not counted in this run");
	if (scope->used)
		scope->used[index] = true;
	count = &scope->region->counts[index];
	if (scope->own && count->status != CP_UNAVAILABLE &&
		count->exclusive_status == CP_UNAVAILABLE)
		return cp_unavailable("what nested regions have of it is not known");
	return (struct cp_value){
		.value = value_of_count(scope, name, count) +
			 ((size_t)index == scope->nudged ? scope->by : 0),
		.status = count->status,
		.reason = count->reason};
}

/* Both counts of a ratio are estimates, of bursts and of sets: what is a part of the
 * other may come out as a little more.  The interval is that of what came out. */
static struct cp_value at_most_all(const struct cp_report *report,
	const struct cp_metric *metric, struct cp_value value)
{
	if (!*report->sample || value.status != CP_ESTIMATED || value.value <= 1 ||
		!cp_metric_is_part(metric))
		return value;
	value.value = 1;
	value.reason = "sampled: estimates of two counts made it more than all, which "
		       "cannot be";
	return value;
}

struct cp_value cp_report_own(struct cp_arena *arena, const struct cp_report *report,
	const struct cp_region *region, const struct cp_metric *metric)
{
	struct scope scope = {.report = report,
		.region = region,
		.own = true,
		.part = NO_PART,
		.nudged = SIZE_MAX};

	return at_most_all(report, metric,
		cp_metric_evaluate(
			arena, metric->group, metric->formula, look_up, &scope));
}

static struct cp_value evaluate(struct scope *scope, const struct cp_metric *metric)
{
	return cp_metric_evaluate(
		scope->report->arena, metric->group, metric->formula, look_up, scope);
}

/* scope: in which the value was found. */
static double error_of_metric(
	struct scope *scope, const struct cp_metric *metric, const struct cp_value *value)
{
	double longer[CP_NCAUSES];

	if (!cp_time_has_interval(scope->report, scope->region) ||
		value->status != CP_ESTIMATED || !scope->timed)
		return -1;
	for (scope->part = 0; scope->part < CP_NCAUSES; scope->part++) {
		struct cp_value now = evaluate(scope, metric);

		if (now.status == CP_UNAVAILABLE || scope->otherwise)
			return -1;
		longer[scope->part] = now.value;
	}
	return cp_spreads_error(value->value, longer);
}

static void metrics_of_region(struct cp_report *report, struct cp_region *region)
{
	cp_spreads_of_region(report, region);
	for (size_t i = 0; i < report->nmetrics; i++) {
		const struct cp_metric *metric = report->metrics[i];
		struct scope scope = {.report = report,
			.region = region,
			.part = NO_PART,
			.nudged = SIZE_MAX};
		struct cp_value value = evaluate(&scope, metric);

		region->metrics[i].error = error_of_metric(&scope, metric, &value);
		if (value.status != CP_UNAVAILABLE)
			value.reason = value.flag;
		region->metrics[i].value = at_most_all(report, metric, value);
	}
}

/* ---- how well those of a sample are known ---- */

#define STEP 1e-4 /* of a count, small enough for a formula to be a line */
#define MAYBE_NOTHING                                                                    \
	"sampled: what it is divided by may be 0, as far as is known of that"

/* By how much the metric is more where that count is. */
static bool find_slope(const struct scope *scope, const struct cp_metric *metric,
	size_t quantity, double *slope)
{
	const struct cp_count *count = &scope->region->counts[quantity];
	double value = (double)count->value, step = STEP * (value > 1 ? value : 1);
	struct scope at = *scope;
	struct cp_value more, less;

	at.used = NULL;
	at.nudged = quantity;
	at.by = step;
	more = evaluate(&at, metric);
	at.by = value > step ? -step : 0;
	less = evaluate(&at, metric);
	*slope = (more.value - less.value) / (value > step ? 2 * step : step);
	if (more.status == CP_UNAVAILABLE || less.status == CP_UNAVAILABLE)
		return false;
	at.by = -value;
	return count->error < value || evaluate(&at, metric).status != CP_UNAVAILABLE;
}

/* All counts are of one sample: what that has too much of, several may have. */
static void find_error(
	struct scope *scope, const struct cp_metric *metric, struct cp_result *result)
{
	struct cp_pool mix = {.nsets = 0};
	double square = 0, unsure = 0, slope;

	for (size_t i = 0; i < scope->report->nquantities; i++) {
		const struct cp_count *count = &scope->region->counts[i];

		if (!scope->used[i] || !count->pools)
			continue;
		if (!find_slope(scope, metric, i, &slope)) {
			result->value = cp_unavailable(MAYBE_NOTHING);
			return;
		}
		cp_pool_mix(&mix, &count->pools->all, slope);
		square += slope * slope * cp_pool_unseen(&count->pools->all);
		unsure += __builtin_fabs(slope) * cp_pool_unsure(&count->pools->all);
	}
	if (mix.nsets)
		result->error =
			__builtin_sqrt(square + cp_pool_mixed_square(&mix)) + unsure;
}

void cp_metrics_errors(struct cp_report *report, struct cp_region *root)
{
	bool *used = cp_arena_alloc(report->arena, report->nquantities + 1);

	for (const struct cp_region *at = root; at; at = cp_region_next(root, at)) {
		struct scope scope = {.report = report,
			.region = at,
			.part = NO_PART,
			.used = used,
			.nudged = SIZE_MAX};

		for (size_t i = 0; i < report->nmetrics; i++) {
			memset(used, 0, report->nquantities);
			if (at->metrics[i].value.status == CP_UNAVAILABLE)
				continue;
			evaluate(&scope, report->metrics[i]);
			find_error(&scope, report->metrics[i], &at->metrics[i]);
		}
	}
}

/* Counts that were scaled are known to a few percent at best. */
static bool relation_holds(
	const struct cp_check *check, struct cp_value left, struct cp_value right)
{
	bool exact = left.status != CP_SCALED && right.status != CP_SCALED &&
		     left.status != CP_ESTIMATED && right.status != CP_ESTIMATED;
	double slack = (check->about || !exact ? 0.1 : 0) * right.value;

	return left.value <= right.value + slack &&
	       (!check->about || left.value >= right.value - slack);
}

static void check_group(struct cp_report *report, const struct cp_group *group)
{
	struct scope scope = {.report = report,
		.region = report->total,
		.part = NO_PART,
		.nudged = SIZE_MAX};

	for (size_t i = 0; i < group->nchecks; i++) {
		const struct cp_check *check = &group->checks[i];
		struct cp_value left = cp_metric_evaluate(report->arena, group,
					check->left, look_up, &scope),
				right = cp_metric_evaluate(report->arena, group,
					check->right, look_up, &scope);

		if (left.status == CP_UNAVAILABLE || right.status == CP_UNAVAILABLE ||
			relation_holds(check, left, right))
			continue;
		cp_report_warn(report, "%s (%.0f) should be %s %s (%.0f): %s",
			check->left_text, left.value, check->about ? "about" : "at most",
			check->right_text, right.value, check->message);
	}
}

void cp_metrics_check(struct cp_report *report)
{
	for (size_t i = 0; i < report->ngroups; i++)
		check_group(report, report->groups[i]);
	for (size_t i = 0; i < report->nmetrics; i++) {
		const char *flag = report->total->metrics[i].value.flag;

		if (flag && report->total->metrics[i].value.status != CP_UNAVAILABLE)
			cp_report_warn(report, "%s: %s", report->metrics[i]->name, flag);
	}
}

void cp_metrics_of_tree(struct cp_report *report, struct cp_region *root)
{
	const struct cp_region *region = root;

	do {
		metrics_of_region(report, (struct cp_region *)(uintptr_t)region);
		region = cp_region_next(root, region);
	} while (region);
}
