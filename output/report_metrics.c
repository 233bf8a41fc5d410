/* SPDX-License-Identifier: MIT
 *
 * Metrics: the groups' formulas over the counts of a region.
 */
#include <string.h>

#include "output/report_parts.h"

struct scope {
	const struct cp_report *report;
	const struct cp_region *region;
};

int cp_report_quantity(const struct cp_report *report, const char *name)
{
	for (size_t i = 0; i < report->nquantities; i++)
		if (strcmp(report->quantities[i], name) == 0)
			return (int)i;
	return -1;
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

static struct cp_value parameter(const struct scope *scope, const char *name)
{
	double line = scope->report->line;

	if (strcmp(name, "SECONDS") == 0)
		return wall_time(scope->region);
	if (strcmp(name, "TSC") == 0)
		return cp_unavailable("time stamps are not recorded");
	if (line <= 0)
		return cp_unavailable("the size of a cache line is not known");
	/* N: references per line, of 8-byte elements. */
	return (struct cp_value){.value = strcmp(name, "N") == 0 ? line / 8 : line};
}

static struct cp_value look_up(void *context, const char *name)
{
	static const char *const parameters[] = {"LINE", "N", "SECONDS", "TSC"};
	const struct scope *scope = context;
	int index = cp_report_quantity(scope->report, name);
	const struct cp_count *count;

	for (int i = 0; i < 4; i++)
		if (strcmp(name, parameters[i]) == 0)
			return parameter(scope, name);
	if (index < 0)
		return cp_unavailable("not counted in this run");
	count = &scope->region->counts[index];
	return (struct cp_value){.value = (double)count->value,
		.status = count->status,
		.reason = count->reason};
}

static void metrics_of_region(struct cp_report *report, struct cp_region *region)
{
	struct scope scope = {report, region};

	for (size_t i = 0; i < report->nmetrics; i++) {
		struct cp_value value = cp_formula_evaluate(
			report->arena, report->metrics[i]->formula, look_up, &scope);

		if (value.status != CP_UNAVAILABLE)
			value.reason = NULL;
		region->metrics[i].value = value;
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
