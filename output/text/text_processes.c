/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "output/report/ended.h"
#include "base/text.h"
#include "output/text/text_parts.h"

#define MAX_ROWS 12
#define MAX_UNFOLLOWED 4

static bool any_rank(const struct cp_report *report)
{
	for (size_t i = 0; i < report->nprocesses; i++)
		if (report->processes[i].rank >= 0)
			return true;
	return false;
}

static const char *base_name(struct cp_text *text, const char *path)
{
	return cp_text_safe(text->arena, cp_slice_of(cp_base_name(path)));
}

/* Chooses the columns that distinguish processes: instructions, and the first group's
 * mark. */
static size_t choose_columns(struct cp_text *text, struct cp_text_column columns[2])
{
	const struct cp_report *report = text->report;
	const char *mark =
		report->ngroups ? cp_text_mark(report, report->groups[0]) : NULL;
	size_t count = 0;

	if (cp_text_column_find(report, "instructions", &columns[0])) {
		columns[0].heading = "instr";
		columns[count++].divisor = 1e6;
	}
	if (mark && cp_text_column_find(report, mark, &columns[count])) {
		columns[count].heading = mark;
		count++;
	}
	return count;
}

static void fill_row(struct cp_text *text, struct cp_table *table, size_t row,
	const struct cp_text_column *columns, size_t count)
{
	const struct cp_process *process = &text->report->processes[row];
	size_t at = 0;

	cp_table_set(table, row, at++, base_name(text, process->exe));
	cp_table_set(table, row, at++,
		process->folded ? cp_text_format(text->arena, "%llu of them",
					  (unsigned long long)process->folded)
				: cp_text_format(text->arena, "%d", process->pid));
	if (any_rank(text->report))
		cp_table_set(table, row, at++,
			process->rank < 0
				? "—"
				: cp_text_format(text->arena, "%d", process->rank));
	cp_table_set(table, row, at++,
		cp_text_integer(text->arena, cp_process_threads(process)));
	cp_table_set(table, row, at++, cp_process_ended(text->arena, process));
	for (size_t i = 0; i < count; i++)
		cp_table_set(table, row, at++,
			cp_text_column_cell(text, &columns[i],
				cp_text_column_value(&columns[i], process->total)));
}

static void fill_headings(struct cp_text *text, struct cp_table *table,
	const struct cp_text_column *columns, size_t count)
{
	size_t at = 0;

	cp_table_heading(table, at++, "", "process");
	cp_table_heading(table, at++, "", "pid");
	if (any_rank(text->report))
		cp_table_heading(table, at++, "", "rank");
	cp_table_heading(table, at++, "", "threads");
	cp_table_heading(table, at++, "", "ended");
	for (size_t i = 0; i < count; i++)
		cp_table_heading(table, at++, columns[i].heading,
			cp_text_column_unit(&columns[i]));
}

static void fill_unfollowed(struct cp_text *text, struct cp_table *table, size_t row,
	const struct cp_unfollowed *it)
{
	bool ranks = any_rank(text->report);

	cp_table_set(table, row, 0, base_name(text, it->exe));
	cp_table_set(table, row, 1, cp_text_format(text->arena, "%d", it->pid));
	if (ranks)
		cp_table_set(table, row, 2, "—");
	cp_table_set(table, row, 2 + ranks, "—");
	cp_table_set(table, row, 3 + ranks, "not followed");
}

/* "2 sh, 14 cc1": by how often each executable is there. */
static const char *names_text(struct cp_text *text, const char *const *exes, size_t count)
{
	const char *line = "",
		   **left = cp_arena_alloc(text->arena, count * sizeof(*left));

	for (size_t i = 0; i < count; i++)
		left[i] = base_name(text, exes[i]);
	for (size_t i = 0; i < count; i++) {
		size_t same = 1;

		if (!left[i])
			continue;
		for (size_t j = i + 1; j < count; j++)
			if (left[j] && strcmp(left[i], left[j]) == 0) {
				left[j] = NULL;
				same++;
			}
		line = cp_text_listed(text->arena, line,
			cp_text_format(text->arena, "%zu %s", same, left[i]));
	}
	return line;
}

/* Sums up the processes without a row: those from first on, and all that were
 * not followed from the second number on. */
static void print_rest(struct cp_text *text, size_t first, size_t first_unfollowed)
{
	const struct cp_report *report = text->report;
	size_t count = report->nprocesses - first,
	       unfollowed = report->nunfollowed - first_unfollowed;
	const char **exes = cp_arena_alloc(
		text->arena, (report->nprocesses + report->nunfollowed) * sizeof(*exes));

	for (size_t i = 0; i < count; i++)
		exes[i] = report->processes[first + i].exe;
	if (count)
		cp_text_wrap(text->out,
			cp_text_format(text->arena, "… and %zu more: %s", count,
				names_text(text, exes, count)),
			0, 2, text->width);
	for (size_t i = 0; i < unfollowed; i++)
		exes[i] = report->unfollowed[first_unfollowed + i].exe;
	if (unfollowed)
		cp_text_wrap(text->out,
			cp_text_format(text->arena, "… and %zu more not followed: %s",
				unfollowed, names_text(text, exes, unfollowed)),
			0, 2, text->width);
}

void cp_text_processes(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	size_t all = report->nprocesses, rows = all < MAX_ROWS ? all : MAX_ROWS;
	size_t unfollowed = report->nunfollowed < MAX_UNFOLLOWED ? report->nunfollowed
								 : MAX_UNFOLLOWED;
	struct cp_text_column columns[2];
	size_t count = choose_columns(text, columns);
	struct cp_table *table;

	if (all + unfollowed < 2)
		return;
	table = cp_table_new(
		text->arena, 4 + any_rank(report) + count, rows + unfollowed);
	fill_headings(text, table, columns, count);
	for (size_t row = 0; row < rows; row++)
		fill_row(text, table, row, columns, count);
	for (size_t i = 0; i < unfollowed; i++)
		fill_unfollowed(text, table, rows + i, &report->unfollowed[i]);
	cp_out_text(text->out, "\n");
	cp_table_print(table, text->out, text->width, text->colour);
	print_rest(text, rows, unfollowed);
}
