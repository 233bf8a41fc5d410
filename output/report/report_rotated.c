/* SPDX-License-Identifier: MIT
 *
 * From the samples of counters that took turns to an estimate for all
 * executions, with an error bar, or to none: see cp_rotated_guess().
 */
#include "base/format.h"
#include "base/stats.h"
#include "output/report/report_parts.h"

#define MIN_CLUSTERS 8  /* with fewer: no bar */
#define MAX_SHARE 0.2   /* of the variance, by a single cluster */
#define MAX_SHARE_N 3.5 /* the same, over the number of clusters: where that is more */
#define STEADY 0.01     /* bars that are narrower need no such care */

/* One region, and one counter of it. */
struct view {
	const struct cp_region_item *item;
	const struct cp_rotated *rotated;
	const struct cp_turns *turns; /* of all groups */
	const struct cp_sample *samples;
	const struct cp_record *record;
	double others; /* executions that are no first ones */
};

static struct view view_of(
	const struct cp_record *record, const struct cp_region_item *item)
{
	const struct cp_record_header *header = record->header;
	struct view view = {.item = item, .record = record};

	view.rotated = cp_region_rotated(
		item, header->ncounters, header->nquantities, header->nperf_groups);
	view.turns = cp_rotated_turns(view.rotated);
	view.samples = cp_rotated_samples(view.rotated, header->nperf_groups);
	if (item->calls > view.rotated->firsts)
		view.others = (double)(item->calls - view.rotated->firsts);
	return view;
}

static const struct cp_turns *turns_of(const struct view *view, uint32_t counter)
{
	return &view->turns[view->record->counters[counter]->perf_group];
}

uint64_t cp_rotated_time(
	const struct cp_record *record, const struct cp_region_item *item)
{
	const struct cp_record_header *header = record->header;
	const struct cp_times *times =
		cp_region_times(item, header->ncounters, header->nquantities);
	uint64_t sum = 0;

	for (uint64_t g = 0; g < header->nrotated; g++)
		sum += times[g].enabled;
	return sum;
}

/* The squared deviations of the clusters' counts from those that their samples predict.
 */
static double squares_around(const struct cp_sample *sample, const struct cp_turns *turns)
{
	double mean = (double)sample->sum / (double)turns->calls,
	       sum = sample->squares - 2 * mean * sample->cross +
		     mean * mean * turns->squares;

	return sum > 1e-9 * sample->squares ? sum : 0; /* the rest is rounding */
}

/* How far the mean time of the samples is from that of all executions after the first
 * ones, whose times are known: as a fraction. */
static double unfairness_of(const struct view *view, const struct cp_turns *turns)
{
	double all = (double)cp_rotated_time(view->record, view->item) -
		     (double)view->rotated->first_ns,
	       of_samples = (double)turns->ns / (double)turns->calls;

	if (all <= 0 || view->others <= 0)
		return 0;
	return __builtin_fabs(all / view->others / of_samples - 1);
}

/* How much more the first executions were than the others, by their time and by
 * what was counted in them. */
static double warming_of(const struct view *view)
{
	const struct cp_record_header *header = view->record->header;
	double time = (double)cp_rotated_time(view->record, view->item) -
		      (double)view->rotated->first_ns,
	       most = 1;

	if (time > 0)
		most = (double)view->rotated->first_ns / (double)view->rotated->firsts /
		       (time / view->others);
	for (uint32_t i = 0; i < header->ncounters; i++) {
		const struct cp_turns *turns = turns_of(view, i);
		double first, other;

		if (!turns->firsts || !turns->calls || !view->samples[i].sum)
			continue;
		first = (double)view->samples[i].first / (double)turns->firsts;
		other = (double)view->samples[i].sum / (double)turns->calls;
		if (first / other > most)
			most = first / other;
	}
	return most > 1 ? most : 1;
}

static const char *say_number(
	struct cp_report *report, const char *format, unsigned long number)
{
	char text[160];
	size_t length = cp_format(text, sizeof(text), format, number);

	return cp_arena_copy(report->arena, text, length);
}

/* Why samples say nothing of the region, or nothing about how well. */
static const char *find_fault(
	struct cp_report *report, const struct view *view, const struct cp_turns *turns)
{
	double samples = 0;

	if (view->item->flags & CP_REGION_ELSEWHERE)
		return "groups of events took turns within it: scaled by their time";
	for (uint64_t g = 0; g < view->record->header->nrotated; g++)
		samples += (double)view->turns[g].calls;
	if (samples < view->others || !view->others || !turns->calls)
		return "groups of events took turns within it: scaled by their time";
	if (turns->clusters < MIN_CLUSTERS)
		return say_number(report,
			"groups of events took turns: this one had only %lu, "
			"too few for an error bar",
			(unsigned long)turns->clusters);
	return NULL;
}

/* One cluster that is most of the variance, and not because there are few:
 * what was not counted may be as large. */
static bool is_uneven(
	const struct cp_sample *sample, const struct cp_turns *turns, double squares)
{
	double share = MAX_SHARE_N / (double)turns->clusters,
	       far = (double)sample->max - (double)sample->sum / (double)turns->calls *
						   (double)sample->max_calls;

	if (share < MAX_SHARE)
		share = MAX_SHARE;
	return squares > 0 && far * far > share * squares;
}

struct cp_guess cp_rotated_guess(struct cp_report *report, const struct cp_record *record,
	const struct cp_region_item *item, uint32_t counter)
{
	struct view view = view_of(record, item);
	const struct cp_turns *turns = turns_of(&view, counter);
	const struct cp_sample *sample = &view.samples[counter];
	struct cp_guess guess = {.loose = find_fault(report, &view, turns)};
	double mean, clusters = (double)turns->clusters, squares, firsts;

	if (guess.loose)
		return guess;
	mean = (double)sample->sum / (double)turns->calls;
	squares = squares_around(sample, turns);
	guess.value = mean * view.others + (double)sample->first;
	guess.error = cp_student(clusters - 1) * view.others / (double)turns->calls *
		      __builtin_sqrt(squares * clusters / (clusters - 1));
	guess.error += unfairness_of(&view, turns) * mean * view.others;
	if (!sample->sum)
		guess.error = CP_UNSEEN * view.others / (double)turns->calls;
	if (guess.error > STEADY * guess.value && is_uneven(sample, turns, squares))
		guess.none = "groups of events took turns: "
			     "single executions make too much of a difference to say";
	/* Each of those that it has not counted: from nothing to twice as many as
	 * the others let expect. */
	firsts = view.rotated->firsts > turns->firsts
			 ? (double)(view.rotated->firsts - turns->firsts) *
				   (1 + warming_of(&view)) / 2
			 : 0;
	guess.value += mean * firsts;
	guess.error += mean * firsts;
	if (guess.value > 0 && guess.error >= guess.value)
		guess.none = "groups of events took turns: "
			     "the executions differ too much to say";
	return guess;
}
