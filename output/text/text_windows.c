/* SPDX-License-Identifier: MIT
 *
 * The working set of each region, and which TLB has room for its pages.
 */
#include <string.h>

#include "output/text/text_parts.h"
#include "output/report/windows.h"

static const char *value_cell(struct cp_text *text, struct cp_value value)
{
	if (value.status == CP_UNAVAILABLE)
		return "—";
	return cp_text_decimal(text->arena, value.value);
}

static const char *bytes_cell(struct cp_text *text, struct cp_value value, uint64_t each)
{
	if (value.status == CP_UNAVAILABLE || !each)
		return "—";
	return cp_text_format(text->arena, "%s KiB",
		cp_text_decimal(text->arena, value.value * (double)each / 1024));
}

static const char *tlb_reach(const struct cp_windows *windows, struct cp_value pages)
{
	const char *level = pages.status == CP_UNAVAILABLE
				    ? NULL
				    : cp_windows_reach(windows, pages.value);

	return level ? level : "—";
}

static void fill_row(struct cp_text *text, struct cp_table *table, size_t row,
	const struct cp_windows *windows, const struct cp_region *region)
{
	static const char indent[] = "                                ";
	struct cp_value lines = cp_windows_mean(windows, region, windows->data_lines),
			pages = cp_windows_mean(windows, region, windows->data_pages),
			code = cp_windows_mean(windows, region, windows->code_lines);
	unsigned depth = region->depth < 16 ? region->depth : 16;
	const struct cp_count *count = &region->counts[windows->windows];

	cp_table_set(table, row, 0,
		region->parent ? cp_text_format(text->arena, "%.*s%s", (int)(2 * depth),
					 indent, cp_text_safe(text->arena, region->name))
			       : "whole run");
	cp_table_set(table, row, 1,
		count->status == CP_UNAVAILABLE
			? "—"
			: cp_text_integer(text->arena, count->value));
	cp_table_set(table, row, 2, value_cell(text, lines));
	cp_table_set(table, row, 3, bytes_cell(text, lines, windows->line));
	cp_table_set(table, row, 4, value_cell(text, pages));
	cp_table_set(table, row, 5, tlb_reach(windows, pages));
	cp_table_set(table, row, 6, bytes_cell(text, code, windows->code_line));
}

static void fill_headings(struct cp_table *table)
{
	static const char *const headings[] = {"region", "windows", "data lines", "data",
		"data pages", "TLB reach", "code"};

	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		cp_table_heading(table, i, headings[i], "");
}

/* The region that touches most, with nothing inside of it; the run, if there is none. */
static const struct cp_region *find_largest(
	const struct cp_text *text, const struct cp_windows *windows)
{
	const struct cp_region *root = text->report->total, *found = root;
	double most = -1;

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r)) {
		struct cp_value lines = cp_windows_mean(windows, r, windows->data_lines);

		if (r->child || lines.status == CP_UNAVAILABLE || lines.value <= most)
			continue;
		most = lines.value;
		found = r;
	}
	return found;
}

static const char *describe_entries(
	struct cp_text *text, const struct cp_windows *windows, struct cp_value pages)
{
	const char *level = tlb_reach(windows, pages);

	if (strcmp(level, "none") == 0)
		return "; no TLB has an entry for each";
	if (strcmp(level, "second") == 0)
		return cp_text_format(text->arena, "; the first TLB has entries for %lu",
			(unsigned long)windows->dtlb);
	return "";
}

void cp_text_windows_answer(struct cp_text *text)
{
	struct cp_windows windows;
	const struct cp_region *region;
	struct cp_value lines, pages;

	if (!cp_windows_find(text->report, &windows))
		return;
	region = find_largest(text, &windows);
	lines = cp_windows_mean(&windows, region, windows.data_lines);
	pages = cp_windows_mean(&windows, region, windows.data_pages);
	if (lines.status == CP_UNAVAILABLE || pages.status == CP_UNAVAILABLE)
		return;
	cp_text_labelled(text, "touched",
		cp_text_format(text->arena,
			"%s: %s of data in %s pages by %s instructions%s",
			region->parent
				? cp_text_cut(text->arena,
					  cp_text_safe(text->arena, region->name), 40)
				: "whole run",
			bytes_cell(text, lines, windows.line), value_cell(text, pages),
			cp_text_short(text->arena, (double)windows.length),
			describe_entries(text, &windows, pages)));
}

void cp_text_windows(struct cp_text *text)
{
	struct cp_windows windows;
	const struct cp_region *root = text->report->total;
	struct cp_table *table;
	const bool *shown;
	size_t rows, row = 0, at = 0;

	if (!cp_windows_find(text->report, &windows))
		return;
	rows = cp_text_rows(text, text->rows, NULL, NULL, &shown);
	table = cp_table_new(text->arena, 7, rows);
	cp_out_format(text->out,
		"\n"
		"Working set: what a thread touches in %s instructions "
		"(mean of windows)\n",
		cp_text_integer(text->arena, windows.length));
	fill_headings(table);
	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		if (shown[at++])
			fill_row(text, table, row++, &windows, r);
	cp_table_print(table, text->out, text->width, text->colour);
	cp_text_wrap(text->out,
		cp_text_format(text->arena,
			"TLB reach: which level has an entry for each data page: "
			"the first has %lu, what is behind it %lu",
			(unsigned long)windows.dtlb, (unsigned long)windows.second),
		0, 2, text->width);
}
