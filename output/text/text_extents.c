/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "output/text/text_parts.h"

#define MAX_ROWS 12

static size_t count_rows(struct cp_text *text, const struct cp_text_column *column)
{
	const struct cp_region *root = text->report->total;
	size_t rows = 0;

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		rows += cp_text_column_extent(column, r)->nthreads > 1;
	return rows;
}

static bool is_threaded(const struct cp_report *report)
{
	for (size_t i = 0; i < report->nprocesses; i++)
		if (report->processes[i].nthreads > 1)
			return true;
	return false;
}

/* As much of rank, process and thread as tells them apart. */
static const char *place_text(struct cp_text *text, const struct cp_place *at)
{
	bool threaded = is_threaded(text->report);
	const char *process = "";

	if (at->rank >= 0)
		process = cp_text_format(text->arena, "rank %d", at->rank);
	else if (text->report->nprocesses > 1)
		process = cp_text_format(text->arena, "pid %d", at->pid);
	if (text->report->job && !*process)
		return cp_text_format(text->arena, "pid %d", at->pid);
	if (!threaded && *process)
		return process;
	return cp_text_format(
		text->arena, "%s%stid %d", process, *process ? " " : "", at->tid);
}

static const char *cell_text(
	struct cp_text *text, const struct cp_text_column *column, double value)
{
	return cp_text_column_cell(text, column, (struct cp_value){.value = value});
}

static void fill_row(struct cp_text *text, struct cp_table *table, size_t row,
	const struct cp_text_column *column, const struct cp_region *region)
{
	const struct cp_extent *over = cp_text_column_extent(column, region);
	const char *name =
		region->parent ? cp_text_safe(text->arena, region->name) : "whole run";

	cp_table_set(table, row, 0,
		cp_text_format(text->arena, "%*s%s",
			2 * (region->depth < 16 ? (int)region->depth : 16), "", name));
	cp_table_set(table, row, 1, cp_text_integer(text->arena, over->nthreads));
	cp_table_set(table, row, 2, cell_text(text, column, over->min));
	cp_table_set(table, row, 3, place_text(text, &over->min_at));
	cp_table_set(table, row, 4, cell_text(text, column, cp_extent_mean(over)));
	cp_table_set(table, row, 5, cell_text(text, column, over->max));
	cp_table_set(table, row, 6, place_text(text, &over->max_at));
}

static struct cp_table *new_table(struct cp_text *text, size_t rows)
{
	const char *const headings[] = {"region", text->report->job ? "ranks" : "threads",
		"least", "in", "mean", "most", "in"};
	struct cp_table *table = cp_table_new(text->arena, 7, rows);

	for (size_t i = 0; i < 7; i++)
		cp_table_heading(table, i, "", headings[i]);
	return table;
}

void cp_text_extents(struct cp_text *text, const struct cp_text_column *column)
{
	const struct cp_region *root = text->report->total;
	size_t all = count_rows(text, column), row = 0, at = 0;
	const bool *shown;
	struct cp_table *table;

	if (!all)
		return;
	cp_text_rows(text, MAX_ROWS, NULL, NULL, &shown);
	table = new_table(text, all);
	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		if (shown[at++] && cp_text_column_extent(column, r)->nthreads > 1)
			fill_row(text, table, row++, column, r);
	table->nrows = row;
	cp_out_format(text->out, "\n%s by %s", column->name,
		text->report->job ? "rank" : "thread");
	if (*cp_text_column_unit(column))
		cp_out_format(text->out, " (%s)", cp_text_column_unit(column));
	cp_out_text(text->out, "\n");
	cp_table_print(table, text->out, text->width, text->colour);
	if (row < all)
		cp_out_format(text->out, "… and %zu more regions\n", all - row);
}
