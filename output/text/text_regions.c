/* SPDX-License-Identifier: MIT
 *
 * The tables of regions: an indented tree, one row per region, a group's
 * metrics as columns, a mark on the row to look at first.
 */
#include <string.h>

#include "output/report/sweep.h"
#include "output/text/text_parts.h"
#include "output/report/windows.h"

#define MAX_EXTENTS 4
#define MAX_COLUMNS 64
#define LARGE 1e9 /* from here, counts are shown in millions */
#define ROOM_FOR_NAMES 26

struct columns {
	struct cp_text_column column[MAX_COLUMNS];
	size_t count;
};

static size_t count_regions(const struct cp_report *report)
{
	size_t count = 0;

	for (const struct cp_region *r = report->total; r;
		r = cp_region_next(report->total, r))
		count++;
	return count;
}

static bool any_value(const struct cp_text *text, const struct cp_text_column *column)
{
	const struct cp_region *root = text->report->total;

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		if (cp_text_column_value(column, r).status != CP_UNAVAILABLE)
			return true;
	return false;
}

static void choose_divisor(const struct cp_text *text, struct cp_text_column *column)
{
	const struct cp_region *root = text->report->total;

	for (const struct cp_region *r = root; r && !column->is_metric;
		r = cp_region_next(root, r))
		if (r->counts[column->index].status != CP_UNAVAILABLE &&
			(double)r->counts[column->index].value >= LARGE)
			column->divisor = 1e6;
}

static void add_column(struct cp_text *text, struct columns *columns, const char *name,
	const char *heading)
{
	struct cp_text_column *column = &columns->column[columns->count];

	if (columns->count == MAX_COLUMNS ||
		!cp_text_column_find(text->report, name, column) ||
		!any_value(text, column))
		return;
	column->heading = heading;
	choose_divisor(text, column);
	columns->count++;
}

/* The time of a region.  The costs of other threads' lines are in the predicted time
 * only. */
static struct cp_value time_of(const struct cp_text *text, const struct cp_region *region)
{
	int index = cp_report_metric(text->report, "predicted_time");

	if (index >= 0 &&
		text->report->total->metrics[index].value.status != CP_UNAVAILABLE)
		return region->metrics[index].value;
	return region->seconds;
}

static bool has_time(const struct cp_text *text)
{
	return time_of(text, text->report->total).status != CP_UNAVAILABLE;
}

/* The least coverage of any count of the region; 1 if none is scaled. */
static double coverage_of(const struct cp_report *report, const struct cp_region *region)
{
	double least = 1;

	for (size_t i = 0; i < report->nquantities; i++) {
		const struct cp_count *count = &region->counts[i];

		if (count->status != CP_UNAVAILABLE && count->coverage < least)
			least = count->coverage;
	}
	return least;
}

static bool any_scaled(const struct cp_text *text)
{
	const struct cp_region *root = text->report->total;

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		if (coverage_of(text->report, r) < 1)
			return true;
	return false;
}

static const char *row_name(struct cp_text *text, const struct cp_region *region)
{
	static const char indent[] = "                                ";
	unsigned depth = region->depth < 16 ? region->depth : 16;

	if (!region->parent)
		return "whole run";
	return cp_text_format(text->arena, "%.*s%s", (int)(2 * depth), indent,
		cp_text_safe(text->arena, region->name));
}

/* Seconds, or milliseconds for a run that is over in no time. */
static double time_factor(const struct cp_text *text)
{
	return time_of(text, text->report->total).value < 0.1 ? 1000 : 1;
}

static const char *time_cell(struct cp_text *text, const struct cp_region *region)
{
	struct cp_value time = time_of(text, region);

	if (time.status == CP_UNAVAILABLE)
		return "—";
	return cp_text_format(text->arena, "%s%.3f",
		time.status == CP_ESTIMATED ? "~" : "", time.value * time_factor(text));
}

static struct cp_value own_value(const struct cp_text *text,
	const struct cp_text_column *column, const struct cp_region *region)
{
	const struct cp_count *count = &region->counts[column->index];

	if (column->is_metric)
		return cp_report_own(text->arena, text->report, region,
			text->report->metrics[column->index]);
	return (struct cp_value){.value = (double)count->exclusive,
		.status = count->exclusive_status > count->status
				  ? count->exclusive_status
				  : count->status};
}

/* The run's whole; of a region, which part of that is its own. */
static const char *own_cell(struct cp_text *text, const struct cp_text_column *column,
	const struct cp_region *region)
{
	struct cp_value all = cp_text_column_value(column, text->report->total),
			own = own_value(text, column, region);
	double share = all.value > 0 ? 100 * own.value / all.value : 0;
	const char *about;

	if (!region->parent)
		own = all;
	if (own.status == CP_UNAVAILABLE || all.status == CP_UNAVAILABLE)
		return "—";
	about = own.status == CP_ESTIMATED ? "~" : "";
	if (!region->parent)
		return cp_text_format(text->arena, "%s%s", about,
			strcmp(column->unit, "s") == 0
				? cp_text_seconds(text->arena, all.value)
				: cp_text_short(text->arena, all.value));
	return share > 0 && share < 0.5
		       ? "<1 %"
		       : cp_text_format(text->arena, "%s%.0f %%", about, share);
}

static const char *cell_of(struct cp_text *text, const struct cp_text_column *column,
	const struct cp_region *region)
{
	return column->own ? own_cell(text, column, region)
			   : cp_text_column_cell(
				     text, column, cp_text_column_value(column, region));
}

static void fill_row(struct cp_text *text, struct cp_table *table, size_t row,
	const struct columns *columns, const struct cp_region *region)
{
	size_t at = 0;

	cp_table_set(table, row, at++, row_name(text, region));
	cp_table_set(table, row, at++,
		region->parent ? cp_text_integer(text->arena, region->calls) : NULL);
	if (has_time(text))
		cp_table_set(table, row, at++, time_cell(text, region));
	for (size_t i = 0; i < columns->count; i++)
		cp_table_set(
			table, row, at++, cell_of(text, &columns->column[i], region));
	if (at < table->ncolumns)
		cp_table_set(table, row, at,
			cp_text_decimal(
				text->arena, 100 * coverage_of(text->report, region)));
}

static void fill_headings(
	struct cp_text *text, struct cp_table *table, const struct columns *columns)
{
	size_t at = 0;

	cp_table_heading(table, at++, "", "region");
	cp_table_heading(table, at++, "", "calls");
	if (has_time(text))
		cp_table_heading(table, at++,
			text->report->total->nthreads > 1 ? "time, sum" : "time",
			time_factor(text) > 1 ? "ms" : "s");
	for (size_t i = 0; i < columns->count; i++)
		cp_table_heading(table, at++, columns->column[i].heading,
			columns->column[i].own
				? "self"
				: cp_text_column_unit(&columns->column[i]));
	if (at < table->ncolumns)
		cp_table_heading(table, at, "counted", "% time");
}

static void print_table(
	struct cp_text *text, const struct columns *columns, const char *mark)
{
	const struct cp_region *root = text->report->total,
			       *worst = cp_text_worst(text, mark);
	const bool *shown;
	size_t all = count_regions(text->report), at = 0, row = 0,
	       rows = cp_text_rows(text, text->rows, mark, worst, &shown),
	       ncolumns = 2 + has_time(text) + columns->count + any_scaled(text);
	struct cp_table *table = cp_table_new(text->arena, ncolumns, rows);

	fill_headings(text, table, columns);
	for (const struct cp_region *r = root; r; r = cp_region_next(root, r)) {
		if (!shown[at++])
			continue;
		table->marks[row] = r == worst ? "<==" : NULL;
		fill_row(text, table, row++, columns, r);
	}
	cp_table_print(table, text->out, text->width, text->colour);
	if (rows < all)
		cp_out_format(text->out,
			"\u2026 and %zu regions with less "
			"(-o FILE.html or FILE.txt has them)\n",
			all - rows);
}

static bool is_column(const struct cp_group *group, const char *name)
{
	for (size_t i = 0; i < group->ncolumns; i++)
		if (strcmp(group->columns[i].name, name) == 0)
			return true;
	return false;
}

static struct cp_value whole_run(
	const struct cp_text *text, const struct cp_metric *metric)
{
	int index = cp_report_metric(text->report, metric->name);

	return text->report->total->metrics[index].value;
}

/* Metrics that no column shows, of the whole run. */
static void print_others(struct cp_text *text, const struct cp_group *group)
{
	const char *line = "";

	for (size_t i = 0; i < group->nmetrics; i++) {
		struct cp_value value = whole_run(text, &group->metrics[i]);

		if (is_column(group, group->metrics[i].name) ||
			value.status == CP_UNAVAILABLE)
			continue;
		line = cp_text_listed(text->arena, line,
			cp_text_format(text->arena, "%s %s%s", group->metrics[i].name,
				cp_text_with_unit(text, &group->metrics[i], value),
				*text->report->sample
					? cp_text_interval(text, group->metrics[i].name)
					: ""));
	}
	if (!*line)
		return;
	cp_out_text(text->out, "whole run: ");
	cp_text_wrap(text->out, line, 11, 2, text->width);
}

/* The names that share the reason of metric i, or NULL if an earlier one did. */
static const char *names_with_reason(
	struct cp_text *text, const struct cp_group *group, size_t i, const char *reason)
{
	const char *names = "";

	for (size_t j = 0; j < group->nmetrics; j++) {
		struct cp_value value = whole_run(text, &group->metrics[j]);

		if (value.status != CP_UNAVAILABLE || strcmp(value.reason, reason) != 0)
			continue;
		if (j < i)
			return NULL;
		names = cp_text_listed(text->arena, names, group->metrics[j].name);
	}
	return names;
}

static void print_reason(struct cp_text *text, const char *names, const char *reason)
{
	const char *line = cp_text_format(text->arena, "%s (%s)", names, reason);

	cp_out_text(text->out, "not available: ");
	cp_text_wrap(text->out, cp_text_safe(text->arena, cp_slice_of(line)), 15, 2,
		text->width);
}

/* A count that is unavailable in the whole run has no column. */
static void print_unavailable_columns(struct cp_text *text, const struct cp_group *group)
{
	const struct cp_report *report = text->report;

	for (size_t i = 0; i < report->nquantities; i++)
		for (size_t j = 0; j < group->ncolumns; j++)
			if (strcmp(group->columns[j].name, report->quantities[i]) == 0 &&
				report->total->counts[i].status == CP_UNAVAILABLE)
				print_reason(text, report->quantities[i],
					report->total->counts[i].reason);
}

static void print_unavailable(struct cp_text *text, const struct cp_group *group)
{
	for (size_t i = 0; i < group->nmetrics; i++) {
		struct cp_value value = whole_run(text, &group->metrics[i]);
		const char *names = NULL;

		if (value.status == CP_UNAVAILABLE)
			names = names_with_reason(text, group, i, value.reason);
		if (names)
			print_reason(text, names, value.reason);
	}
	print_unavailable_columns(text, group);
}

/* The constants that the metrics rest on. */
static void print_lets(struct cp_text *text, const struct cp_group *group)
{
	const char *line = "";

	for (size_t i = 0; i < group->nlets; i++)
		line = cp_text_listed(text->arena, line,
			cp_text_format(text->arena, "%s %s (%s)", group->lets[i].name,
				group->lets[i].text,
				cp_text_safe(text->arena,
					cp_slice_of(group->lets[i].meaning))));
	if (!*line)
		return;
	cp_out_text(text->out, "assumed: ");
	cp_text_wrap(text->out, line, 9, 2, text->width);
}

/* Does a group before that one have the same constant? */
static bool is_said(
	const struct cp_report *report, size_t group, const struct cp_let *let)
{
	for (size_t i = 0; i < group; i++)
		for (size_t j = 0; j < report->groups[i]->nlets; j++)
			if (strcmp(report->groups[i]->lets[j].name, let->name) == 0)
				return true;
	return false;
}

static const char *add_lets(struct cp_text *text, const char *line, size_t which)
{
	const struct cp_group *group = text->report->groups[which];

	for (size_t i = 0; i < group->nlets; i++)
		if (!is_said(text->report, which, &group->lets[i]))
			line = cp_text_listed(text->arena, line,
				cp_text_format(text->arena, "%s %s", group->lets[i].name,
					group->lets[i].text));
	return line;
}

/* For each group that has the formulas. */
void cp_text_assumptions(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	const char *line;
	unsigned which = 0;

	for (size_t i = 0; i < report->ngroups; i++)
		which |= cp_group_weighs(report->groups[i]);
	line = cp_weights_text(text->arena, &report->weights, which);
	for (size_t i = 0; i < report->ngroups; i++)
		line = add_lets(text, line, i);
	if (*line)
		cp_text_labelled(text, "~", line);
}

/* The cost of a line from each level, with its source. */
static void print_weights(struct cp_text *text, const struct cp_group *group)
{
	const char *line = cp_weights_text(
		text->arena, &text->report->weights, cp_group_weighs(group));

	if (*line)
		cp_text_wrap(text->out, line, 0, 2, text->width);
}

static bool uses_unit(const struct columns *columns, const char *unit)
{
	for (size_t i = 0; i < columns->count; i++)
		if (strcmp(columns->column[i].unit, unit) == 0)
			return true;
	return false;
}

static void add_own(struct cp_text *text, struct columns *columns, const char *name,
	const char *heading)
{
	size_t before = columns->count;

	add_column(text, columns, name, heading);
	if (columns->count > before)
		columns->column[before].own = true;
}

static bool is_rate(const struct cp_text *text, const char *name)
{
	struct cp_text_column column;

	return cp_text_column_find(text->report, name, &column) &&
	       strcmp(column.unit, "1/kinstr") == 0;
}

/* Columns for what the regions did and cost themselves, for the levels that served their
 * references, and for the rate of the first level's misses. */
static void add_answer(
	struct cp_text *text, const struct cp_group *group, struct columns *columns)
{
	const char *mark = cp_text_mark(text->report, group);

	if (group->nmarks)
		add_own(text, columns,
			mark && strcmp(mark, CP_STALLS) == 0 ? mark : group->marks[0],
			"miss cost");
	add_own(text, columns, "instructions", "instr");
	for (size_t i = 0; i < group->served.count; i++)
		add_column(text, columns, group->served.at[i].name,
			group->served.at[i].heading);
	for (size_t i = 0; i < group->ncolumns; i++)
		if (is_rate(text, group->columns[i].name)) {
			add_column(text, columns, group->columns[i].name,
				group->columns[i].heading);
			break;
		}
}

static void choose_columns(
	struct cp_text *text, const struct cp_group *group, struct columns *columns)
{
	if (!text->whole && cp_text_serves(text->report, group)) {
		add_answer(text, group, columns);
		return;
	}
	for (size_t i = 0; i < group->ncolumns; i++)
		add_column(
			text, columns, group->columns[i].name, group->columns[i].heading);
}

static void print_extent(struct cp_text *text, const char *mark)
{
	struct cp_text_column column;

	if (mark && cp_text_column_find(text->report, mark, &column))
		cp_text_extents(text, &column);
}

/* The answer about data caches, if it comes first, needs none. */
static void print_title(struct cp_text *text, const struct cp_group *group)
{
	if (!text->whole && group == text->report->groups[0] &&
		cp_text_serves(text->report, group))
		return;
	cp_out_text(text->out, "\n");
	cp_text_wrap(text->out, cp_text_safe(text->arena, cp_slice_of(group->title)), 0,
		2, text->width);
}

/* Prints a group without a single column as a table of the regions' calls. */
static void print_empty(
	struct cp_text *text, const struct cp_group *group, struct columns *columns)
{
	const struct cp_region *total = text->report->total;

	for (size_t i = 0; i < group->nmetrics; i++) {
		struct cp_value value = whole_run(text, &group->metrics[i]);

		if (value.status != CP_UNAVAILABLE)
			continue;
		print_reason(text, "all of it", value.reason);
		break;
	}
	if (cp_region_next(total, total))
		print_table(text, columns, NULL);
}

/* On one screen, where the time goes is in an earlier group's answer and table. */
static bool is_told_before(
	const struct cp_text *text, const struct cp_group *group, const char *mark)
{
	return cp_text_is_answered(text->report, group) && cp_group_metric(group, mark);
}

static void print_group(struct cp_text *text, const struct cp_group *group)
{
	struct columns *columns = cp_arena_alloc(text->arena, sizeof(*columns));
	const char *mark = cp_text_mark(text->report, group);

	if (!text->whole && is_told_before(text, group, mark))
		return;
	choose_columns(text, group, columns);
	if (!text->whole) {
		print_title(text, group);
		if (!columns->count) {
			print_empty(text, group, columns);
			return;
		}
		cp_text_verdict(text, group);
		cp_out_text(text->out, "\n");
		print_table(text, columns, mark);
		if (!cp_text_costs(text->report, group))
			cp_text_why(text, cp_text_worst(text, mark), mark);
		cp_text_spreads(text, group);
		print_extent(text, mark);
		return;
	}
	print_title(text, group);
	print_table(text, columns, mark);
	cp_text_why(text, cp_text_worst(text, mark), mark);
	if (uses_unit(columns, "1/kinstr"))
		cp_out_text(text->out, "/kI: per thousand instructions\n");
	print_others(text, group);
	print_lets(text, group);
	print_weights(text, group);
	cp_text_spreads(text, group);
	print_unavailable(text, group);
	print_extent(text, mark);
}

/* Or of a sweep or working sets, which have tables of their own. */
static bool in_a_group(const struct cp_report *report, const char *name)
{
	if (cp_sweep_is_point(name) || cp_windows_is_quantity(name) ||
		cp_is_of_time_sample(name))
		return true;
	for (size_t i = 0; i < report->ngroups; i++)
		if (cp_group_takes(report->groups[i], name))
			return true;
	return false;
}

/* "perf::PAGE-FAULTS" -> "perf:: PAGE- FAULTS": lines of about 9 columns. */
static const char *break_name(struct cp_text *text, const char *name)
{
	char *broken = cp_arena_alloc(text->arena, 2 * strlen(name) + 1), *to = broken;
	int used = 0, breaks = 0;

	for (; *name; name++) {
		bool after = strchr(":_-.", *name) && !(name[0] == ':' && name[1] == ':');
		size_t part = strcspn(name + 1, ":_-.");

		*to++ = (unsigned char)*name > ' ' ? *name : '?';
		used++;
		if (after && breaks < 3 && used + (int)part > 9) {
			*to++ = ' ';
			used = 0;
			breaks++;
		}
	}
	return broken;
}

static void print_unavailable_counts(struct cp_text *text)
{
	const struct cp_report *report = text->report;

	for (size_t i = 0; i < report->nquantities; i++) {
		const struct cp_count *count = &report->total->counts[i];

		if (!in_a_group(report, report->quantities[i]) &&
			count->status == CP_UNAVAILABLE)
			print_reason(text, report->quantities[i], count->reason);
	}
}

static size_t width_of(struct cp_text *text, const struct cp_text_column *column)
{
	struct cp_table *table = cp_table_new(text->arena, 1, 1);

	cp_table_heading(table, 0, column->heading, cp_text_column_unit(column));
	cp_table_set(table, 0, 0,
		cp_text_column_cell(
			text, column, cp_text_column_value(column, text->report->total)));
	return 2 + cp_table_column_width(table, 0);
}

/* A group has a mark that says by what its ranks are compared. */
static void print_extents(struct cp_text *text)
{
	struct cp_text_column column;
	unsigned printed = 0;

	for (size_t i = 0; i < text->report->nquantities && printed < MAX_EXTENTS; i++)
		if (!in_a_group(text->report, text->report->quantities[i]) &&
			cp_text_column_find(
				text->report, text->report->quantities[i], &column)) {
			cp_text_extents(text, &column);
			printed++;
		}
}

/* Events that were asked for by themselves: in as many tables as they need. */
static void print_events(struct cp_text *text)
{
	struct columns *columns = cp_arena_alloc(text->arena, sizeof(*columns));
	size_t width = ROOM_FOR_NAMES, printed = 0;

	for (size_t i = 0; i < text->report->nquantities; i++) {
		const char *name = text->report->quantities[i];

		if (in_a_group(text->report, name))
			continue;
		if (!printed++)
			cp_out_text(text->out, "\nEvents\n");
		add_column(text, columns, name, break_name(text, name));
		if (!columns->count || columns->column[columns->count - 1].name != name)
			continue;
		width += width_of(text, &columns->column[columns->count - 1]);
		if (width <= text->width || columns->count == 1)
			continue;
		columns->count--;
		print_table(text, columns, NULL);
		columns->column[0] = columns->column[columns->count];
		columns->count = 1;
		width = ROOM_FOR_NAMES + width_of(text, &columns->column[0]);
	}
	if (columns->count)
		print_table(text, columns, NULL);
	if (printed)
		print_unavailable_counts(text);
	if (!text->report->job)
		return;
	print_extents(text);
	cp_text_entered(text);
}

void cp_text_regions(struct cp_text *text)
{
	for (size_t i = 0; i < text->report->ngroups; i++)
		print_group(text, text->report->groups[i]);
	print_events(text);
}
