/* SPDX-License-Identifier: MIT
 *
 * Ranks that shared the events (CACHEPEEK_SCHEDULE=ranks): what some of them counted,
 * for all, where they did the same as the others.
 */
#include "base/counts.h"
#include "base/format.h"
#include "base/stats.h"
#include "output/report/report_parts.h"

#define COMPARABLE 0.05 /* by which the means of ranks may differ */
#define FEWEST 8        /* ranks, for an error bar */

static double relative_distance(double a, double b)
{
	double more = a > b ? a : b;

	return more > 0 ? __builtin_fabs(a - b) / more : 0;
}

/* By how much an average rank that counted it is unlike one of all. */
static double difference_of(const struct cp_report *report,
	const struct cp_region *region, const struct cp_count *count, double all)
{
	int index = cp_common_quantity(report);
	const struct cp_count *common = index >= 0 ? &region->counts[index] : NULL;
	double some = (double)count->over.nthreads,
	       most = relative_distance(
		       (double)count->sample_calls / some, (double)region->calls / all),
	       more;

	if (!common || common->status == CP_UNAVAILABLE || common->shared)
		return most;
	more = relative_distance(
		count->sample_instructions / some, (double)common->value / all);
	return more > most ? more : most;
}

static const char *describe_share(struct cp_report *report, const struct cp_count *count,
	const char *rest, double percent)
{
	char text[200];
	size_t length = cp_format(text, sizeof(text), "counted by %zu of %zu ranks%s",
		count->over.nthreads, count->over.nthreads + count->shared, rest);

	if (percent > 0)
		length += cp_format(text + length, sizeof(text) - length,
			", whose executions or instructions are %.2g %% apart from all",
			percent);
	return cp_arena_copy(report->arena, text, length);
}

/* Ranks are taken for drawn at random from all; what they did more or less than the
 * others is added to the bar. */
static double error_bar(const struct cp_count *count, double all, double unlike)
{
	double some = (double)count->over.nthreads,
	       deviation = cp_extent_stddev(&count->over);

	return cp_student(some - 1) * all * deviation *
		       __builtin_sqrt((1 - some / all) / some) +
	       unlike * (double)count->value;
}

static uint64_t multiply_count(uint64_t value, double factor)
{
	return cp_count_of((double)value * factor + 0.5);
}

static void mark_estimate(struct cp_count *count, const char *why)
{
	count->status = CP_ESTIMATED;
	count->error = -1;
	count->reason = why;
}

void cp_shared_finish(
	struct cp_report *report, const struct cp_region *region, struct cp_count *count)
{
	double some = (double)count->over.nthreads, all = some + (double)count->shared,
	       unlike, own = count->error > 0 ? count->error : 0;

	if (!count->shared || !count->counted || some < 1)
		return;
	unlike = difference_of(report, region, count, all);
	if (unlike > COMPARABLE) {
		count->status = CP_UNAVAILABLE;
		count->error = -1;
		count->calls_known = false;
		count->reason = describe_share(report, count, "", 100 * unlike);
		return;
	}
	count->value = multiply_count(count->value, all / some);
	count->exclusive = multiply_count(count->exclusive, all / some);
	count->coverage *= some / all;
	if (some < FEWEST || count->status == CP_ESTIMATED) {
		mark_estimate(
			count, describe_share(report, count,
				       ", and taken to be the same in the others", 0));
		return;
	}
	if (count->status == CP_EXACT)
		count->status = CP_SCALED;
	count->error = own * all / some + error_bar(count, all, unlike);
}
