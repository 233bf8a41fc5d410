/* SPDX-License-Identifier: MIT
 *
 * The miss curve of a sweep: a row for each point, a column for the whole run and for
 * the regions that miss most.
 */
#include <string.h>

#include "output/report/sweep.h"
#include "output/text/text_parts.h"

#define MOST_REGIONS 4

/* By their misses at the smallest point; counts has one entry for each quantity. */
static uint64_t misses_of(const struct cp_sweep *sweep, const struct cp_region *region)
{
	const struct cp_count *count = &region->counts[sweep->point[0].quantity];

	return count->status == CP_UNAVAILABLE ? 0 : count->value;
}

/* The regions in the order of their misses: the root, and some more. */
static size_t choose_regions(const struct cp_report *report, const struct cp_sweep *sweep,
	const struct cp_region *chosen[MOST_REGIONS + 1])
{
	size_t count = 1;

	chosen[0] = report->total;
	for (const struct cp_region *r = report->total; r;
		r = cp_region_next(report->total, r)) {
		size_t at = count < MOST_REGIONS + 1 ? count++ : count;

		if (r == report->total) {
			count = 1;
			continue;
		}
		for (; at > 1 && misses_of(sweep, chosen[at - 1]) < misses_of(sweep, r);
			at--)
			if (at <= MOST_REGIONS)
				chosen[at] = chosen[at - 1];
		if (at <= MOST_REGIONS)
			chosen[at] = r;
	}
	return count;
}

/* A column of their own: a size is in bytes already. */
static bool has_bytes(const struct cp_sweep *sweep)
{
	return sweep->line && strcmp(sweep->field, "size") != 0;
}

static const char *size_cell(struct cp_text *text, const struct cp_sweep *sweep,
	const struct cp_sweep_point *p)
{
	uint64_t bytes = p->sets * p->ways * sweep->line;

	if (!bytes)
		return "";
	if (bytes % (1 << 20) == 0)
		return cp_text_format(
			text->arena, "%lu MiB", (unsigned long)(bytes >> 20));
	return cp_text_format(text->arena, "%g KiB", (double)bytes / 1024);
}

static const char *count_cell(struct cp_text *text, const struct cp_count *count)
{
	return count->status == CP_UNAVAILABLE
		       ? "—"
		       : cp_text_integer(text->arena, count->value);
}

static void fill_row(struct cp_text *text, struct cp_table *table, size_t row,
	const struct cp_sweep *sweep, const struct cp_region *const *regions,
	size_t nregions)
{
	const struct cp_sweep_point *p = &sweep->point[row];

	cp_table_set(table, row, 0,
		cp_text_format(text->arena, "%.*s", (int)p->label_length, p->label));
	if (has_bytes(sweep))
		cp_table_set(table, row, 1, size_cell(text, sweep, p));
	for (size_t i = 0; i < nregions; i++)
		cp_table_set(table, row, 1 + has_bytes(sweep) + i,
			count_cell(text, &regions[i]->counts[p->quantity]));
	table->marks[row] = p->value == sweep->own ? "<- as simulated" : NULL;
}

static void print_curve(struct cp_text *text, const struct cp_sweep *sweep)
{
	const struct cp_region *regions[MOST_REGIONS + 1];
	size_t nregions = choose_regions(text->report, sweep, regions),
	       labels = 1 + has_bytes(sweep);
	struct cp_table *table =
		cp_table_new(text->arena, labels + nregions, sweep->npoints);

	cp_table_heading(table, 0, sweep->field, "");
	if (has_bytes(sweep))
		cp_table_heading(table, 1, "bytes", "");
	for (size_t i = 0; i < nregions; i++)
		cp_table_heading(table, labels + i,
			i ? cp_text_safe(text->arena, regions[i]->name) : "whole run",
			"");
	for (size_t i = 0; i < sweep->npoints; i++)
		fill_row(text, table, i, sweep, regions, nregions);
	cp_table_print(table, text->out, text->width, text->colour);
}

/* The points share their reason. */
static const char *why_not(const struct cp_text *text, const struct cp_sweep *sweep)
{
	for (size_t i = 0; i < sweep->npoints; i++)
		if (text->report->total->counts[sweep->point[i].quantity].status !=
			CP_UNAVAILABLE)
			return NULL;
	return text->report->total->counts[sweep->point[0].quantity].reason;
}

/* ---- the answer ---- */

/* Fewer misses than that by a larger one are no reason to have it. */
#define WORTH_IT 0.05

static const struct cp_sweep_point *own_point(const struct cp_sweep *sweep)
{
	for (size_t i = 0; i < sweep->npoints; i++)
		if (sweep->point[i].value == sweep->own)
			return &sweep->point[i];
	return NULL;
}

static double misses_at(const struct cp_text *text, const struct cp_sweep_point *p)
{
	const struct cp_count *count = &text->report->total->counts[p->quantity];

	return count->status == CP_UNAVAILABLE ? -1 : (double)count->value;
}

/* From which point on there are hardly more misses than at the last one. */
static const struct cp_sweep_point *point_that_suffices(
	const struct cp_text *text, const struct cp_sweep *sweep)
{
	const struct cp_sweep_point *last = &sweep->point[sweep->npoints - 1];
	double least = misses_at(text, last);

	for (size_t i = 0; i < sweep->npoints; i++) {
		double misses = misses_at(text, &sweep->point[i]);

		if (misses >= 0 && misses <= (1 + WORTH_IT) * least)
			return &sweep->point[i];
	}
	return last;
}

static const char *label_of(struct cp_text *text, const struct cp_sweep_point *p)
{
	return cp_text_format(text->arena, "%.*s", (int)p->label_length, p->label);
}

/* "2M (as simulated): 21.9 k misses; from 2M on hardly fewer: 8M has 21.9 k" */
void cp_text_sweep_answer(struct cp_text *text)
{
	struct cp_sweep sweep;
	const struct cp_sweep_point *own, *point, *last;
	const char *line = "";

	if (!cp_sweep_find(text->report, &sweep) || why_not(text, &sweep))
		return;
	own = own_point(&sweep);
	last = &sweep.point[sweep.npoints - 1];
	if (misses_at(text, last) < 0 || (own && misses_at(text, own) < 0))
		return;
	point = point_that_suffices(text, &sweep);
	if (own)
		line = cp_text_format(text->arena, "%s of %s as simulated: %s misses; ",
			sweep.field, label_of(text, own),
			cp_text_short(text->arena, misses_at(text, own)));
	if (point == last && sweep.npoints > 1)
		line = cp_text_format(text->arena, "%s%s still has fewer: %s", line,
			label_of(text, last),
			cp_text_short(text->arena, misses_at(text, last)));
	else
		line = cp_text_format(text->arena,
			"%s%s is enough (%s misses): %s has %s", line,
			label_of(text, point),
			cp_text_short(text->arena, misses_at(text, point)),
			label_of(text, last),
			cp_text_short(text->arena, misses_at(text, last)));
	cp_text_labelled(
		text, cp_text_format(text->arena, "%s sweep", sweep.title), line);
}

void cp_text_sweep(struct cp_text *text)
{
	struct cp_sweep sweep;
	const char *why;

	if (!cp_sweep_find(text->report, &sweep))
		return;
	cp_out_format(text->out,
		"\nMiss curve: lines (pages) that %s would miss, by %s\n", sweep.title,
		sweep.field);
	why = why_not(text, &sweep);
	if (why) {
		cp_out_text(text->out, "not available: ");
		cp_text_wrap(text->out, why, 15, 2, text->width);
		return;
	}
	print_curve(text, &sweep);
	if (!text->whole)
		return;
	cp_out_text(text->out, "not available: ");
	cp_text_wrap(text->out, cp_sweep_limits, 15, 2, text->width);
}
