/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/text/table.h"
#include "output/csv.h"
#include "tools/profile/model/write.h"

static const char *const kinds[] = {"module", "thread", "function", "statement",
	"instruction", "file", "line", "data"};

struct table {
	struct cp_out *out;
	const struct cp_profile_view *view;
	const char *const *names;
};

static void text_cell(struct table *table, const char *text)
{
	cp_out_text(table->out, ",");
	cp_csv_text(table->out, text, strlen(text));
}

/* Writes the errors of a sample. */
static void put_errors(struct table *table, const struct cp_tally *tally)
{
	const struct cp_profile_view *view = table->view;

	for (const char *const *name = table->names; view->profile->bursts && *name;
		name++) {
		struct cp_burst_value b =
			cp_bursts_measure(view->profile, view->measurement, *name, tally);

		cp_out_text(table->out, ",");
		if (b.value.status == CP_ESTIMATED && b.error >= 0)
			cp_out_format(table->out, "%.17g", b.error);
	}
}

static void put_values(struct table *table, const struct cp_tally *tally)
{
	for (const char *const *name = table->names; *name; name++) {
		struct cp_value value = cp_measure(
			table->view->profile, table->view->measurement, *name, tally);

		cp_out_text(table->out, ",");
		if (value.status != CP_UNAVAILABLE)
			cp_out_format(table->out, "%.17g", value.value);
	}
	put_errors(table, tally);
	cp_out_text(table->out, "\n");
}

/* scope,pid,tid,module,function,file,line,address; what a row is not about is
 * empty. */
static void write_place(
	struct table *table, const struct cp_rows *rows, const struct cp_row *row)
{
	const struct cp_place_in_code *at = &row->site->at;
	enum cp_row_kind kind = rows->kind;
	bool code = kind >= CP_ROW_FUNCTION;

	cp_out_format(table->out, "%s%s", rows->of_scripts ? "python-" : "", kinds[kind]);
	if (kind == CP_ROW_THREAD)
		cp_out_format(table->out, ",%d,%d", row->site->thread->pid,
			row->site->thread->tid);
	else
		cp_out_text(table->out, ",,");
	text_cell(table, kind == CP_ROW_THREAD ? ""
			 : *at->module->path   ? at->module->path
					       : at->module->name);
	text_cell(table, code ? at->function : "");
	text_cell(table, code ? at->file : "");
	if (kind >= CP_ROW_STATEMENT && at->line)
		cp_out_format(table->out, ",%u", at->line);
	else
		cp_out_text(table->out, ",");
	if (kind == CP_ROW_INSTRUCTION)
		cp_out_format(table->out, ",0x%lx", (unsigned long)at->address);
	else
		cp_out_text(table->out, ",");
}

/* Its name stands where that of a function does. */
static void write_data(struct table *table, const struct cp_profiled_object *object)
{
	cp_out_text(table->out, "data,,,");
	text_cell(table, object->name);
	text_cell(table, object->file);
	if (object->line)
		cp_out_format(table->out, ",%u,", object->line);
	else
		cp_out_text(table->out, ",,");
}

static void rows_of(struct table *table, const struct cp_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->kind == CP_ROW_DATA)
			write_data(table, rows->row[i].object);
		else
			write_place(table, rows, &rows->row[i]);
		put_values(table, &rows->row[i].tally);
		if (rows->kind == CP_ROW_FUNCTION ||
			(rows->kind == CP_ROW_STATEMENT && !rows->of_scripts))
			rows_of(table, cp_rows_of(table->view, rows->kind + 1, rows,
					       &rows->row[i]));
	}
}

/* The first row of a run that was cut short: its name stands where a function does. */
static void write_end(struct table *table)
{
	cp_out_text(table->out, "\nended,,,");
	text_cell(table, table->view->profile->cut);
	cp_out_text(table->out, ",,,");
	for (const char *const *name = table->names; *name; name++)
		cp_out_text(table->out, table->view->profile->bursts ? ",," : ",");
}

void cp_profile_write_csv(struct cp_out *out, const struct cp_profile_view *view)
{
	struct table table = {out, view, cp_profile_quantities(view)};
	const struct cp_tally totals = cp_profile_totals(view->profile);

	cp_out_text(out, "scope,pid,tid,module,function,file,line,address");
	for (const char *const *name = table.names; *name; name++)
		text_cell(&table, *name);
	for (const char *const *name = table.names; view->profile->bursts && *name;
		name++)
		text_cell(
			&table, cp_text_format(view->profile->arena, "%s_error", *name));
	if (view->profile->cut)
		write_end(&table);
	cp_out_text(out, "\nrun,,,,,,,");
	put_values(&table, &totals);
	rows_of(&table, cp_rows_of_all(view, CP_ROW_MODULE));
	rows_of(&table, cp_rows_of_all(view, CP_ROW_THREAD));
	rows_of(&table, cp_rows_of_scripts(view, CP_ROW_FUNCTION, false));
	rows_of(&table, cp_rows_of_scripts(view, CP_ROW_STATEMENT, true));
	rows_of(&table, cp_rows_of_all(view, CP_ROW_FUNCTION));
	rows_of(&table, cp_rows_of_all(view, CP_ROW_DATA));
}
