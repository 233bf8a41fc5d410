/* SPDX-License-Identifier: MIT
 *
 * How far predicted times may be off (output/metrics/spreads.h): a value is computed
 * again with one part of the cycles longer by its spread, for each part.  What is made of
 * other estimates as well has no interval.
 */
#include "output/report/report_parts.h"

/* Cycles of that part; false: they are not known. */
static bool part_of(const struct cp_report *report, const struct cp_region *region,
	unsigned part, double *cycles)
{
	int q = cp_report_quantity(report, cp_part_quantity((enum cp_time_part)part));

	if (q < 0 || region->counts[q].status == CP_UNAVAILABLE)
		return false;
	*cycles = (double)region->counts[q].value;
	return true;
}

bool cp_spreads_lengthen(const struct cp_report *report, const struct cp_region *region,
	const char *quantity, unsigned part, double *value)
{
	unsigned parts = cp_parts_of_quantity(quantity);
	double cycles;

	if (!parts)
		return false;
	if (!(parts >> part & 1))
		return true;
	if (!part_of(report, region, part, &cycles))
		return false;
	*value += report->spreads.of[part] * cycles;
	return true;
}

/* Half-width, in cycles; -1: none. */
static double error_of(const struct cp_report *report, const struct cp_region *region,
	const char *quantity)
{
	double longer[CP_NPARTS] = {0};

	for (unsigned part = 0; part < CP_NPARTS; part++)
		if (!cp_spreads_lengthen(report, region, quantity, part, &longer[part]))
			return -1;
	return cp_spreads_error(0, longer);
}

/* The clock makes seconds of all cycles. */
static double error_of_seconds(
	const struct cp_report *report, const struct cp_region *region)
{
	int q = cp_report_quantity(report, "cycles");
	double cycles = error_of(report, region, "cycles"), all, seconds, clock;

	if (q < 0 || cycles < 0 || region->seconds.status != CP_ESTIMATED ||
		region->counts[q].status != CP_ESTIMATED || !region->counts[q].value)
		return -1;
	all = (double)region->counts[q].value;
	seconds = region->seconds.value;
	clock = report->spreads.of[CP_PART_CLOCK];
	return seconds * __builtin_sqrt(cycles / all * (cycles / all) + clock * clock);
}

void cp_spreads_of_region(const struct cp_report *report, struct cp_region *region)
{
	region->seconds_error = -1;
	if (!report->spreads.known)
		return;
	region->seconds_error = error_of_seconds(report, region);
	for (size_t i = 0; i < report->nquantities; i++) {
		struct cp_count *count = &region->counts[i];

		if (count->status == CP_ESTIMATED &&
			cp_parts_of_quantity(report->quantities[i]))
			count->error = error_of(report, region, report->quantities[i]);
	}
}
