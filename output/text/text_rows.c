/* SPDX-License-Identifier: MIT
 *
 * Which regions a table has where there is no room for all of them.
 */
#include "output/text/text_parts.h"

/* The largest part of the run that the region itself makes up, of any count or of
 * the time. */
static double weight_of(const struct cp_report *report, const struct cp_region *region)
{
	const struct cp_region *total = report->total;
	double most = 0;

	for (size_t i = 0; i < report->nquantities; i++) {
		const struct cp_count *count = &region->counts[i];
		double part;

		if (!cp_report_shows(report, i) || count->status == CP_UNAVAILABLE ||
			total->counts[i].status == CP_UNAVAILABLE ||
			!total->counts[i].value)
			continue;
		part = (double)count->exclusive / (double)total->counts[i].value;
		most = part > most ? part : most;
	}
	if (total->time_ns && region->time_ns > region->children_ns) {
		double part = (double)(region->time_ns - region->children_ns) /
			      (double)total->time_ns;

		most = part > most ? part : most;
	}
	return most;
}

/* The region's own part of the run's cost; that of any count, where no cost is known. */
static double part_of(
	struct cp_text *text, int metric, double whole, const struct cp_region *region)
{
	struct cp_value own;

	if (metric < 0)
		return weight_of(text->report, region);
	own = cp_report_own(
		text->arena, text->report, region, text->report->metrics[metric]);
	return own.status == CP_UNAVAILABLE ? 0 : own.value / whole;
}

/* The metric that the mark goes by, if it is a cost; -1: none. */
static int cost_of(const struct cp_text *text, const char *mark, double *whole)
{
	int metric = mark ? cp_report_metric(text->report, mark) : -1;
	const struct cp_value *value =
		metric < 0 ? NULL : &text->report->total->metrics[metric].value;

	if (!value || value->status == CP_UNAVAILABLE || value->value <= 0 ||
		!cp_text_is_cost(text->report, mark))
		return -1;
	*whole = value->value;
	return metric;
}

struct rows {
	const struct cp_region **regions;
	double *weights;
	bool *shown;
	size_t count, nshown;
};

static struct rows list_regions(struct cp_text *text, const char *mark)
{
	const struct cp_region *total = text->report->total;
	struct rows rows = {0};
	double whole = 0;
	int metric = cost_of(text, mark, &whole);

	for (const struct cp_region *r = total; r; r = cp_region_next(total, r))
		rows.count++;
	rows.regions = cp_arena_alloc(text->arena, rows.count * sizeof(*rows.regions));
	rows.weights = cp_arena_alloc(text->arena, rows.count * sizeof(*rows.weights));
	rows.shown = cp_arena_alloc(text->arena, rows.count * sizeof(*rows.shown));
	rows.count = 0;
	for (const struct cp_region *r = total; r; r = cp_region_next(total, r)) {
		rows.weights[rows.count] = part_of(text, metric, whole, r);
		rows.regions[rows.count++] = r;
	}
	return rows;
}

/* The region and those around it, which come before it. */
static void show_row(struct rows *rows, size_t at)
{
	const struct cp_region *wanted = rows->regions[at];

	for (size_t i = at + 1; i-- > 0 && wanted;)
		if (rows->regions[i] == wanted) {
			rows->nshown += !rows->shown[i];
			rows->shown[i] = true;
			wanted = wanted->parent;
		}
}

static size_t find_heaviest(const struct rows *rows)
{
	size_t found = rows->count;

	for (size_t i = 0; i < rows->count; i++)
		if (!rows->shown[i] &&
			(found == rows->count || rows->weights[i] > rows->weights[found]))
			found = i;
	return found;
}

size_t cp_text_rows(struct cp_text *text, size_t limit, const char *mark,
	const struct cp_region *wanted, const bool **shown)
{
	struct rows rows = list_regions(text, mark);
	/* Where all have room nothing is searched for: there may be 100,000. */
	const bool all = !limit || limit >= rows.count;

	for (size_t i = 0; i < rows.count; i++)
		if (all)
			rows.shown[rows.nshown++] = true;
		else if (rows.regions[i] == wanted || i == 0)
			show_row(&rows, i);
	while (!all && rows.nshown < limit)
		show_row(&rows, find_heaviest(&rows));
	*shown = rows.shown;
	return rows.nshown;
}
