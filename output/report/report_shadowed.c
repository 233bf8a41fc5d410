/* SPDX-License-Identifier: MIT
 *
 * What shadows (preload/shadow/) have estimated, each process's for itself: values are
 * added up, and so are the squares of their error bars.
 *
 * Processes without a value, for the most part those that lived too briefly for windows,
 * are taken for like the others if they had little of the time: what they may have done
 * more or less, from nothing to twice as much, is in the error bar.
 */
#include <string.h>

#include "base/format.h"
#include "output/report/report_parts.h"

#define MOST_WITHOUT 0.05 /* of the CPU time */

#define ESTIMATED "estimated by shadows: error is half of its 95 % interval"

static const char *const whys[CP_SHADOWED_NWHYS] = {
	[CP_SHADOWED_UNKNOWN] = "what caches held when windows began is not known",
	[CP_SHADOWED_NOT_WARM] = "a cache of this machine's kind is not known to be warm",
	[CP_SHADOWED_FEW] =
		("fewer than 10 windows of shadows are counted: what runs for less than a "
		 "second or two, or loses them, has too few (CACHEPEEK_ENGINE=sim counts "
		 "all)"),
	[CP_SHADOWED_UNTIMED] = "threads without ticks had some of the time",
	[CP_SHADOWED_CUT] = "windows ended before the process did (a warning says why)",
	[CP_SHADOWED_NO] = "there were no shadows (a warning says why)",
	[CP_SHADOWED_NOT_YET] =
		"estimates are made where a process ends, and it was not seen to",
};

static unsigned long long all_of(const struct cp_shadowed *s)
{
	return s->with + s->without;
}

static void add(
	struct cp_report *report, struct cp_count *to, const struct cp_shadowed *from)
{
	if (!to->shadowed) {
		to->shadowed = cp_arena_alloc(report->arena, sizeof(*to->shadowed));
		memset(to->shadowed, 0, sizeof(*to->shadowed));
	}
	cp_shadowed_add(to->shadowed, from);
}

void cp_shadowed_merge(
	struct cp_report *report, const struct cp_source *source, struct cp_region *root)
{
	static const struct cp_shadowed none = {.why = CP_SHADOWED_NOT_YET, .without = 1};
	const struct cp_record *record = &source->record;

	for (uint32_t q = 0; q < record->header->nquantities; q++)
		if (record->quantities[q]->available == CP_QUANTITY_SHADOWED &&
			source->quantity[q] != CP_NOT_NUMBERED)
			add(report, &root->counts[source->quantity[q]],
				record->shadowed ? &record->shadowed->of[q] : &none);
}

/* Its sum is settled. */
void cp_shadowed_of_process(const struct cp_report *report, struct cp_process *process)
{
	for (size_t i = 0; i < report->nquantities; i++)
		if (process->total->counts[i].shadowed)
			process->whole[i] = process->total->counts[i];
}

void cp_count_add_shadowed(
	struct cp_report *report, struct cp_count *to, const struct cp_count *from)
{
	add(report, to, from->shadowed);
}

/* ---- what it says ---- */

/* Of the CPU time, what processes without a value had; 1: it is not known. */
static double share_without(const struct cp_shadowed *s)
{
	if (!s->without)
		return 0;
	return s->without_ns > 0 ? s->without_ns / (s->with_ns + s->without_ns) : 1;
}

static const char *say_why(struct cp_report *report, const struct cp_shadowed *s)
{
	char text[400];
	size_t length = 0;

	if (s->why == CP_SHADOWED_UNKNOWN)
		length = cp_format(text, sizeof(text), "between %llu and %llu: ",
			(unsigned long long)cp_count_of(s->low),
			(unsigned long long)cp_count_of(s->high));
	else if (s->with)
		length = cp_format(text, sizeof(text),
			"not known of %llu of %llu processes: ",
			(unsigned long long)s->without, all_of(s));
	length += cp_format(text + length, sizeof(text) - length, "%s", whys[s->why]);
	return cp_arena_copy(report->arena, text, length);
}

static const char *say_estimated(
	struct cp_report *report, const struct cp_shadowed *s, double share)
{
	char text[400];
	size_t length = cp_format(text, sizeof(text),
		"%s; %llu of %llu processes, with %.2g %% of the CPU time, are taken for "
		"like the others: %s",
		ESTIMATED, (unsigned long long)s->without, all_of(s), 100 * share,
		whys[s->why]);

	return s->without ? cp_arena_copy(report->arena, text, length) : ESTIMATED;
}

/* What nested regions have of it is not known. */
void cp_shadowed_conclude(
	struct cp_report *report, struct cp_count *count, const struct cp_region *region)
{
	const struct cp_shadowed *s = count->shadowed;
	double share = share_without(s), more;

	count->status = CP_UNAVAILABLE;
	count->error = -1;
	count->calls_known = false;
	if (!s->with || share > MOST_WITHOUT) {
		count->reason = say_why(report, s);
		return;
	}
	more = s->value * share / (1 - share);
	count->status = CP_ESTIMATED;
	count->reason = say_estimated(report, s, share);
	count->value = cp_count_of(s->value + more + 0.5);
	count->error = __builtin_sqrt(s->square + more * more);
	count->exclusive = count->value;
	count->exclusive_status = region->child ? CP_UNAVAILABLE : CP_ESTIMATED;
	count->coverage = s->with_ns > 0 ? s->seen_ns / (s->with_ns + s->without_ns) : 0;
	if (count->coverage > 1)
		count->coverage = 1;
}
