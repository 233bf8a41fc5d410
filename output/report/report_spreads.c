/* SPDX-License-Identifier: MIT
 *
 * How far predicted times may be off (output/metrics/spreads.h): a value is computed
 * again with one part of the cycles longer by its spread, for each part; and with all of
 * them by what is not known where the time of some instructions stands for that of others
 * (tools/sim/model/units.h).  What is made of other estimates as well has no
 * interval.
 */
#include "output/report/report_parts.h"

#include "base/format.h"
#include "base/machine/machine.h"
#include "base/stats.h"
#include "base/text.h"
#include "output/report/report_raw.h"

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

/* ---- samples of time ---- */

/* A count that describes the sample; 0: nothing is sampled. */
static double of_sample(const struct cp_report *report, const struct cp_region *region,
	enum cp_time_sample which)
{
	int q = cp_report_quantity(report, cp_time_sample_quantity(which));

	return q < 0 || region->counts[q].status == CP_UNAVAILABLE
		       ? 0
		       : (double)region->counts[q].value;
}

/* Units that a region has as a whole stand for other instructions, too. */
bool cp_time_is_sampled(const struct cp_report *report, const struct cp_region *region)
{
	return of_sample(report, region, CP_UNTIMED_INSTRUCTIONS) > 0 ||
	       of_sample(report, region, CP_TIME_VARIANCE) > 0;
}

double cp_time_share(const struct cp_report *report, const struct cp_region *region)
{
	double timed = of_sample(report, region, CP_TIMED_INSTRUCTIONS);

	return timed / (timed + of_sample(report, region, CP_UNTIMED_INSTRUCTIONS));
}

/* Cycles of those parts: what is not known is none. */
static double sum_of(
	const struct cp_report *report, const struct cp_region *region, unsigned parts)
{
	double sum = 0, cycles;

	for (unsigned part = 0; part < CP_PART_CLOCK; part++)
		if (parts >> part & 1 && part_of(report, region, part, &cycles))
			sum += cycles;
	return sum;
}

#define PARTS ((1u << CP_PART_CLOCK) - 1) /* all of the cycles */
#define MISSES (PARTS & ~(1u << CP_PART_ISSUE | 1u << CP_PART_BRANCH))

/* Shares of the programs that were compared (doc/validation.md).  What branches do is
 * learnt in windows only: so many more are not foreseen there, and more or fewer in what
 * is modelled in full behind others.  And caches are there what they would be, but the
 * core is not: so much of all cycles. */
#define UNLEARNT 0.2
#define ELSE 0.01

/* Student's t for what is not modelled in full, by how many units there are of it. */
static double deviations_of(
	const struct cp_report *report, const struct cp_region *region)
{
	double untimed = of_sample(report, region, CP_UNTIMED_INSTRUCTIONS);

	return cp_student(untimed > 0 ? untimed / (CP_TIME_PERIOD - CP_TIME_UNIT) - 1
				      : __builtin_inf());
}

/* The error of those parts by mispredictions: as much more or less of their own time, and
 * of misses that are waited for behind them, which are taken to be as long. */
static double error_of_branches(
	const struct cp_report *report, const struct cp_region *region, unsigned parts)
{
	unsigned branch = 1u << CP_PART_BRANCH;
	double cycles = sum_of(report, region, branch),
	       misses = sum_of(report, region, MISSES),
	       behind = sum_of(report, region, parts & MISSES);

	if (misses > cycles)
		behind *= cycles / misses;
	return UNLEARNT * (parts & branch ? cycles + behind : behind);
}

/* Half-width, in cycles, of a quantity: as sure as two standard deviations of the whole,
 * or of what is of misses.  Of some of the misses' parts, as if those were in as few
 * units as they fit into. */
static double error_by_sample(
	const struct cp_report *report, const struct cp_region *region, unsigned parts)
{
	bool of_misses = !(parts & ~MISSES);
	double variance = of_sample(report, region,
				  of_misses ? CP_MISS_TIME_VARIANCE : CP_TIME_VARIANCE) *
			  256,
	       misses = sum_of(report, region, MISSES),
	       branches = error_of_branches(report, region, parts),
	       other = parts & MISSES ? ELSE * sum_of(report, region, PARTS) : 0,
	       deviations = deviations_of(report, region);

	if (!cp_time_is_sampled(report, region))
		return 0;
	if (of_misses && parts != MISSES && misses > 0)
		variance *= sum_of(report, region, parts) / misses;
	return __builtin_sqrt(
		deviations * deviations * variance + branches * branches + other * other);
}

/* -1: they are not known. */
static double cycles_of(const struct cp_report *report, const struct cp_region *region)
{
	int q = cp_report_quantity(report, "cycles");

	return q < 0 || region->counts[q].status == CP_UNAVAILABLE
		       ? -1
		       : (double)region->counts[q].value;
}

static bool is_modelled(const struct cp_count *count)
{
	return count->status == CP_ESTIMATED && count->reason &&
	       cp_starts_with(count->reason, "out-of-order ");
}

static void forget_time(struct cp_report *report, struct cp_region *region, double error)
{
	char text[160];
	size_t length = cp_format(text, sizeof(text),
		"time is modelled in samples, which say no more than that it is up to %.0f "
		"cycles (CACHEPEEK_TIMING=on models all)",
		cycles_of(report, region) + error);
	const char *why = cp_arena_copy(report->arena, text, length);

	for (size_t i = 0; i < report->nquantities; i++)
		if (is_modelled(&region->counts[i]))
			region->counts[i] = cp_no_count(why);
	region->seconds = cp_unavailable(why);
}

bool cp_time_forget(struct cp_report *report, struct cp_region *root)
{
	bool any = false;

	for (const struct cp_region *at = root; at; at = cp_region_next(root, at)) {
		double error = error_by_sample(report, at, PARTS),
		       cycles = cycles_of(report, at);

		if (cycles < 0 || error == 0 || error < cycles)
			continue;
		forget_time(report, (struct cp_region *)(uintptr_t)at, error);
		any = true;
	}
	return any;
}

/* ---- figures of the machine ---- */

/* Figures of which nobody says how far they may be off add nothing to that of a sample.
 */
bool cp_time_has_interval(const struct cp_report *report, const struct cp_region *region)
{
	return report->spreads.known || cp_time_is_sampled(report, region);
}

bool cp_spreads_lengthen(const struct cp_report *report, const struct cp_region *region,
	const char *quantity, unsigned part, double *value)
{
	unsigned parts = cp_parts_of_quantity(quantity);
	double cycles;

	if (!parts)
		return false;
	if (part == CP_OF_SAMPLE)
		*value += error_by_sample(report, region, parts);
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
	double longer[CP_NCAUSES] = {0};

	for (unsigned part = 0; part < CP_NCAUSES; part++)
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
	if (!cp_time_has_interval(report, region))
		return;
	region->seconds_error = error_of_seconds(report, region);
	for (size_t i = 0; i < report->nquantities; i++) {
		struct cp_count *count = &region->counts[i];

		if (count->status == CP_ESTIMATED &&
			cp_parts_of_quantity(report->quantities[i]))
			count->error = error_of(report, region, report->quantities[i]);
	}
}
