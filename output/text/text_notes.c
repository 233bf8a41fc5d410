/* SPDX-License-Identifier: MIT
 *
 * Below the tables: executions that were unlike the others, regions that are too short
 * for their boundaries, and how far predicted times may be off.
 */
#include <string.h>

#include "base/counts.h"
#include "output/text/text_parts.h"

#define MAX_LINES 5
#define UNLIKE 2.0     /* the most of one execution, over the mean */
#define NOTEWORTHY 100 /* events more than the mean */

static const char *name_of(struct cp_text *text, const struct cp_region *region)
{
	return cp_text_safe(text->arena, region->name);
}

/* An estimate says nothing of one execution. */
static bool is_unlike(const struct cp_region *region, const struct cp_count *count)
{
	return region->calls > 1 && count->status < CP_ESTIMATED && count->calls_known &&
	       count->call_max >= UNLIKE * count->call_mean &&
	       count->call_max >= count->call_mean + NOTEWORTHY;
}

/* The quantity whose largest execution stands out most; NULL: none does. */
static const struct cp_count *most_unlike(
	const struct cp_text *text, const struct cp_region *region, size_t *index)
{
	const struct cp_count *found = NULL;

	for (size_t i = 0; i < text->report->nquantities; i++) {
		const struct cp_count *count = &region->counts[i];

		if (!cp_report_shows(text->report, i) || !is_unlike(region, count) ||
			(found && count->call_max * found->call_mean <=
					  found->call_max * count->call_mean))
			continue;
		found = count;
		*index = i;
	}
	return found;
}

/* Scaled, or of a record that says so, it may be more than fits. */
static const char *whole_number(struct cp_text *text, double value)
{
	return cp_text_integer(text->arena, cp_count_of(value + 0.5));
}

static void tell_unlike(struct cp_text *text, const struct cp_region *region,
	size_t index, const struct cp_count *count)
{
	cp_text_wrap(text->out,
		cp_text_format(text->arena,
			"%s: uneven: one of %s executions had %s %s; mean %s, least %s",
			name_of(text, region),
			cp_text_integer(text->arena, region->calls),
			whole_number(text, count->call_max),
			text->report->quantities[index],
			whole_number(text, count->call_mean),
			whole_number(text, count->call_min)),
		0, 2, text->width);
}

static void unlike_executions(struct cp_text *text)
{
	const struct cp_region *root = text->report->total;
	unsigned lines = 0;
	size_t index = 0;

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r)) {
		const struct cp_count *count =
			r->parent ? most_unlike(text, r, &index) : NULL;

		if (count && lines++ < MAX_LINES)
			tell_unlike(text, r, index, count);
	}
	if (lines > MAX_LINES)
		cp_out_format(text->out, "… and %u more regions with such executions\n",
			lines - MAX_LINES);
}

static void short_regions(struct cp_text *text)
{
	const struct cp_region *root = text->report->total;
	const char *names = "";
	size_t count = 0;

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r)) {
		if (!(r->flags & CP_REGION_SHORT))
			continue;
		if (count++ < MAX_LINES)
			names = cp_text_listed(text->arena, names, name_of(text, r));
	}
	if (!count)
		return;
	cp_text_wrap(text->out,
		cp_text_format(text->arena,
			"short for what their boundaries cost (over 5 %%, "
			"which is subtracted, but not exactly): %s%s",
			names, count > MAX_LINES ? ", …" : ""),
		0, 2, text->width);
}

/* Why a region has no value at all, though the run has; NULL: it has some. */
static const char *why_nothing(struct cp_text *text, const struct cp_region *region)
{
	const struct cp_report *report = text->report;
	const char *reason = NULL;

	for (size_t i = 0; region->parent && i < report->nquantities; i++) {
		if (region->counts[i].status != CP_UNAVAILABLE)
			return NULL;
		if (report->total->counts[i].status != CP_UNAVAILABLE && !reason)
			reason = region->counts[i].reason;
	}
	return reason;
}

/* All regions of which the first in preorder is this one. */
static void tell_nothing(
	struct cp_text *text, const struct cp_region *first, const char *reason)
{
	const struct cp_region *root = text->report->total;
	const char *names = "", *why;
	size_t count = 0;

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r)) {
		why = why_nothing(text, r);
		if (!why || strcmp(why, reason) != 0)
			continue;
		if (count == 0 && r != first)
			return;
		if (count++ < MAX_LINES)
			names = cp_text_listed(text->arena, names, name_of(text, r));
	}
	cp_text_wrap(text->out,
		cp_text_format(text->arena, "\u2014: %s%s: %s", names,
			count > MAX_LINES ? ", \u2026" : "", reason),
		0, 2, text->width);
}

static void regions_of_nothing(struct cp_text *text)
{
	const struct cp_region *root = text->report->total;

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r)) {
		const char *reason = why_nothing(text, r);

		if (reason)
			tell_nothing(text, r, reason);
	}
}

void cp_text_notes(struct cp_text *text)
{
	regions_of_nothing(text);
	unlike_executions(text);
	short_regions(text);
}

/* ---- predicted times ---- */

const char *cp_text_interval(struct cp_text *text, const char *metric)
{
	int index = cp_report_metric(text->report, metric);
	const struct cp_result *result =
		index < 0 ? NULL : &text->report->total->metrics[index];

	if (!result || result->value.status == CP_UNAVAILABLE || result->error < 0 ||
		!(result->value.value > 0))
		return "";
	return cp_text_format(text->arena, " \u00b1%s %%",
		cp_text_decimal(text->arena, 100 * result->error / result->value.value));
}

/* Times of samples. */
static void tell_sample(struct cp_text *text)
{
	const struct cp_region *total = text->report->total;

	if (cp_time_is_sampled(text->report, total))
		cp_text_wrap(text->out,
			cp_text_format(text->arena,
				"time is modelled of %s %% of the instructions, which stand "
				"for the others%s",
				cp_text_decimal(text->arena,
					100 * cp_time_share(text->report, total)),
				text->whole ? " (CACHEPEEK_TIMING=on: of all)" : ""),
			0, 2, text->width);
}

/* Where the interval comes from. */
static const char *whence(const struct cp_text *text)
{
	const char *calibration = "by how far the rounds of the calibration are apart";

	if (!cp_time_is_sampled(text->report, text->report->total))
		return calibration;
	if (text->report->spreads.known)
		return cp_text_format(text->arena, "by the sample, and %s", calibration);
	return cp_text_format(text->arena, "by the sample alone, as %s",
		cp_text_safe(text->arena, cp_slice_of(text->report->spreads.why)));
}

/* The group of the times, or the first that goes by them. */
static bool has_answer_by_time(const struct cp_text *text, const struct cp_group *group)
{
	const char *mark = cp_text_mark(text->report, group);

	return cp_group_metric(group, CP_STALLS) ||
	       (!text->whole && mark && strcmp(mark, CP_STALLS) == 0 &&
		       !cp_text_is_answered(text->report, group));
}

void cp_text_spreads(struct cp_text *text, const struct cp_group *group)
{
	const char *seconds = cp_text_interval(text, "predicted_time"),
		   *interval = *seconds ? seconds
					: cp_text_interval(text, "predicted_cycles"),
		   *why = text->report->spreads.why;

	if (!has_answer_by_time(text, group))
		return;
	tell_sample(text);
	if (!text->whole && cp_text_serves(text->report, group))
		return;
	if (*interval)
		cp_text_wrap(text->out,
			cp_text_format(text->arena,
				"predicted time%s, stall cycles%s: %s; errors of the model "
				"are not in it",
				interval, cp_text_interval(text, CP_STALLS),
				whence(text)),
			0, 2, text->width);
	else if (*why)
		cp_text_wrap(text->out,
			cp_text_format(text->arena,
				"predicted times have no interval: %s",
				cp_text_safe(text->arena, cp_slice_of(why))),
			0, 2, text->width);
}
