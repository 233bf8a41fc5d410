/* SPDX-License-Identifier: MIT
 *
 * Regions of which not all executions were counted (CACHEPEEK_SPARSE): what the
 * others count, how well that is known, and what of it is in nested regions.
 */
#include "base/stats.h"
#include "output/report/report_parts.h"

#define FEWEST 8 /* executions, for an error bar */

bool cp_sampled_is_sound(
	const struct cp_sampled *sampled, uint32_t nquantities, uint64_t calls)
{
	if (!sampled->chosen || sampled->chosen > sampled->counted ||
		sampled->counted > calls || sampled->weight < sampled->chosen ||
		!(sampled->squares >= 0 && sampled->squares < 1e38))
		return false;
	for (uint32_t q = 0; q < nquantities; q++)
		if (!(sampled->of[q].squares >= 0 && sampled->of[q].squares < 1e200))
			return false;
	return true;
}

/* Executions that nothing stands for; less than 0: those that there were not. */
static double left_over(const struct cp_sampled *sampled, uint64_t calls)
{
	return (double)(calls - (sampled->counted - sampled->chosen)) -
	       (double)sampled->weight;
}

double cp_sampled_tail(const struct cp_sampled *sampled, uint64_t calls, double sum)
{
	return left_over(sampled, calls) * sum / (double)sampled->weight;
}

/*
 * As if the executions had been drawn at random from all: choosing one in each
 * row of n spreads them more evenly than that, so that the bar is rather too
 * long.  Where none counted anything, three may have been missed with their
 * weight (as many as one misses in 5 % of cases).
 */
double cp_sampled_error(
	const struct cp_sampled *sampled, uint64_t calls, const struct cp_chosen *chosen)
{
	double n = (double)sampled->chosen, weight = (double)sampled->weight, variance,
	       left = left_over(sampled, calls);

	if (sampled->chosen < FEWEST)
		return -1;
	if (!chosen->sum)
		return CP_UNSEEN * weight / n;
	variance = chosen->squares / weight * n / (n - 1);
	return cp_student(n - 1) *
	       __builtin_sqrt(variance * (sampled->squares + (left < 0 ? -left : left)));
}

/* Nested regions have estimates of their own; the parent keeps the rest. */
static void take_from_parent(
	const struct cp_report *report, const struct cp_region *region)
{
	struct cp_region *parent = region->parent;

	parent->children_ns += region->time_ns;
	for (size_t i = 0; i < report->nquantities; i++) {
		struct cp_count *above = &parent->counts[i];
		const struct cp_count *count = &region->counts[i];

		if (above->status == CP_UNAVAILABLE || count->status == CP_UNAVAILABLE)
			continue;
		above->exclusive = above->exclusive > count->value
					   ? above->exclusive - count->value
					   : 0;
		if (count->status > above->exclusive_status)
			above->exclusive_status = count->status;
	}
}

void cp_sampled_tree(const struct cp_report *report, struct cp_region *root)
{
	for (struct cp_region *region = root; region;
		region = (struct cp_region *)(uintptr_t)cp_region_next(root, region)) {
		region->children_ns = 0;
		for (size_t i = 0; i < report->nquantities; i++)
			region->counts[i].exclusive = region->counts[i].value;
	}
	for (struct cp_region *region = root; region;
		region = (struct cp_region *)(uintptr_t)cp_region_next(root, region))
		if (region->parent && !(region->flags & CP_REGION_OVERLAPPING))
			take_from_parent(report, region);
}
