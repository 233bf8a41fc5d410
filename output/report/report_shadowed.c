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
	[CP_SHADOWED_LONG] =
		("no execution of it ended within a window of its shadow (30 million "
		 "instructions, and no system call that has an effect)"),
	[CP_SHADOWED_SOME] =
		("more than one in 20 of the executions that shadows began did not end "
		 "within a window (30 million instructions, and no system call that has "
		 "an effect): the others may be unlike them"),
	[CP_SHADOWED_PAUSED] = "some of its executions were begun in a pause",
	[CP_SHADOWED_PAGES] =
		("estimates of shadows for the DTLB were found off by more than their "
		 "intervals (CACHEPEEK_ENGINE=sim counts all)"),
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

static bool is_same(struct cp_slice a, struct cp_slice b)
{
	return cp_slice_length(a) == cp_slice_length(b) &&
	       memcmp(a.at, b.at, cp_slice_length(a)) == 0;
}

static struct cp_region *child_of(const struct cp_region *region, struct cp_slice name)
{
	struct cp_region *child = region->child;

	while (child && !is_same(child->name, name))
		child = child->next;
	return child;
}

/* The region of that path; NULL: nothing was counted there. */
static struct cp_region *region_of(struct cp_report *report,
	const struct cp_record *record, const struct cp_shadowed_region_item *item,
	struct cp_region *root)
{
	struct cp_region *region = root;

	for (uint64_t d = 0; region && d < item->depth; d++) {
		const struct cp_string_item *name =
			cp_record_string(record, item->name[d]);

		if (!name)
			return NULL;
		region = child_of(region, cp_region_name(report, record,
						  (struct cp_slice){name->text,
							  name->text + name->length}));
	}
	return region;
}

void cp_shadowed_merge_regions(
	struct cp_report *report, const struct cp_source *source, struct cp_region *root)
{
	const struct cp_record *record = &source->record;

	for (size_t i = 0; i < record->nshadowed_regions; i++) {
		const struct cp_shadowed_region_item *item = record->shadowed_regions[i];
		struct cp_region *region = region_of(report, record, item, root);

		for (uint32_t q = 0; region && q < record->header->nquantities; q++)
			if (record->quantities[q]->available == CP_QUANTITY_SHADOWED &&
				source->quantity[q] != CP_NOT_NUMBERED)
				add(report, &region->counts[source->quantity[q]],
					&item->of[q]);
	}
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

/* Of the CPU time, what processes without a value had; 1: it is not known.  Of a region's
 * executions the same. */
static double share_without(const struct cp_shadowed *s, const struct cp_region *region)
{
	double calls = (double)region->calls;

	if (region->parent && s->with_ns >= calls)
		return calls > 0 ? 0 : 1;
	if (region->parent)
		return 1 - s->with_ns / calls;
	if (!s->without)
		return 0;
	return s->without_ns > 0 ? s->without_ns / (s->with_ns + s->without_ns) : 1;
}

static const char *why_of(const struct cp_shadowed *s, const struct cp_region *region)
{
	if (region->parent && (s->why == CP_SHADOWED_KNOWN || s->why == CP_SHADOWED_FEW))
		return "fewer than 10 of its executions were in windows of shadows "
		       "(CACHEPEEK_ENGINE=sim counts all)";
	return whys[s->why];
}

static const char *say_why(struct cp_report *report, const struct cp_shadowed *s,
	const struct cp_region *region, double share)
{
	const char *why = why_of(s, region);
	char text[400];
	size_t length = 0;

	if (s->why == CP_SHADOWED_UNKNOWN)
		length = cp_format(text, sizeof(text), "between %llu and %llu: ",
			(unsigned long long)cp_count_of(s->low),
			(unsigned long long)cp_count_of(s->high));
	else if (s->with && region->parent)
		length = cp_format(text, sizeof(text),
			"not known of %.2g %% of its executions: ", 100 * share);
	else if (s->with)
		length = cp_format(text, sizeof(text),
			"not known of %llu of %llu processes: ",
			(unsigned long long)s->without, all_of(s));
	length += cp_format(text + length, sizeof(text) - length, "%s", why);
	return cp_arena_copy(report->arena, text, length);
}

static const char *say_estimated(struct cp_report *report, const struct cp_shadowed *s,
	const struct cp_region *region, double share)
{
	char text[400];
	size_t length;

	if (region->parent ? share <= 0 : !s->without)
		return ESTIMATED;
	if (region->parent)
		length = cp_format(text, sizeof(text),
			"%s; %.2g %% of its executions were in processes without an "
			"estimate, and are taken for like the others",
			ESTIMATED, 100 * share);
	else
		length = cp_format(text, sizeof(text),
			"%s; %llu of %llu processes, with %.2g %% of the CPU time, are "
			"taken for like the others: %s",
			ESTIMATED, (unsigned long long)s->without, all_of(s), 100 * share,
			whys[s->why]);
	return cp_arena_copy(report->arena, text, length);
}

/* Executions that were begun, and have not ended, are not in the region. */
static double scale_of(const struct cp_shadowed *s, const struct cp_region *region)
{
	double calls = (double)region->calls;

	return region->parent && s->with_ns > calls ? calls / s->with_ns : 1;
}

/* The share of nested regions is not known. */
void cp_shadowed_conclude(
	struct cp_report *report, struct cp_count *count, const struct cp_region *region)
{
	const struct cp_shadowed *s = count->shadowed;
	double share = share_without(s, region), scale = scale_of(s, region), more;

	count->status = CP_UNAVAILABLE;
	count->error = -1;
	count->calls_known = false;
	if (!s->with || share > MOST_WITHOUT) {
		count->reason = say_why(report, s, region, share);
		return;
	}
	more = s->value * share / (1 - share);
	count->status = CP_ESTIMATED;
	count->reason = say_estimated(report, s, region, share);
	count->value = cp_count_of(scale * (s->value + more) + 0.5);
	count->error = scale * __builtin_sqrt(s->square + more * more);
	count->exclusive = count->value;
	count->exclusive_status = region->child ? CP_UNAVAILABLE : CP_ESTIMATED;
	count->coverage = s->with_ns > 0 ? s->seen_ns / (s->with_ns + s->without_ns) : 0;
	if (count->coverage > 1)
		count->coverage = 1;
}
