/* SPDX-License-Identifier: MIT
 *
 * The profile on one screen: what the rules found, then the few functions, lines and
 * data that have most of the misses.
 */
#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/line_use_text.h"
#include "tools/profile/model/source.h"
#include "tools/profile/model/write.h"

#define WIDTH 80
#define MOST_ROWS 5
#define LEAST_SHARE 0.5 /* percent */
#define MOST_FINDINGS 3
#define MOST_REASONS 3
#define NONE "\u2014"

struct screen {
	struct cp_out *out;
	struct cp_arena *arena;
	const struct cp_profile_view *view;
	size_t width;
	struct cp_tally totals;
	/* The measurement's columns that are not 0 everywhere. */
	const struct cp_column *column[CP_GROUP_MAX_COLUMNS];
	size_t ncolumns;
	/* Why some have no value, each reason once; of more nothing is said. */
	const char *reason[MOST_REASONS];
	size_t nreasons;
};

/* ---- cells ---- */

/* The text that stands where there is no value. */
static const char *no_value(struct screen *screen, const char *reason)
{
	size_t i = 0;

	while (i < screen->nreasons && strcmp(screen->reason[i], reason) != 0)
		i++;
	if (i == screen->nreasons && i < MOST_REASONS)
		screen->reason[screen->nreasons++] = reason;
	return NONE;
}

static const char *value_cell(
	struct screen *screen, const char *name, const struct cp_tally *tally)
{
	const struct cp_profile_view *view = screen->view;
	const struct cp_metric *metric = cp_group_metric(view->measurement, name);
	struct cp_value value = cp_measure(view->profile, view->measurement, name, tally);
	double error = -1;

	if (value.status == CP_UNAVAILABLE)
		return no_value(screen, value.reason);
	if (view->profile->bursts)
		error = cp_bursts_measure(view->profile, view->measurement, name, tally)
				.error;
	if (error >= 0 && value.value > 0)
		return cp_text_format(screen->arena, "%s ±%.1f%%",
			cp_text_short(screen->arena, value.value),
			100 * error / value.value);
	if (metric && strcmp(metric->unit, "ratio") == 0)
		return cp_text_format(screen->arena, "%.1f", 100 * value.value);
	return cp_text_short(screen->arena, value.value);
}

static const char *unit_of(const struct screen *screen, const char *name)
{
	const struct cp_metric *metric = cp_group_metric(screen->view->measurement, name);

	return metric && strcmp(metric->unit, "ratio") == 0 ? "%" : "";
}

/* Costs are in the report of the run; these tables are of counts and shares. */
static bool is_shown(const struct screen *screen, const char *name)
{
	struct cp_value value = cp_measure(
		screen->view->profile, screen->view->measurement, name, &screen->totals);

	if (screen->view->profile->bursts)
		return value.status != CP_UNAVAILABLE && value.value > 0 &&
		       cp_profile_is_placed(screen->view, name);
	return value.status != CP_UNAVAILABLE && value.status != CP_ESTIMATED &&
	       value.value > 0;
}

static void choose_columns(struct screen *screen)
{
	const struct cp_group *measurement = screen->view->measurement;

	for (size_t i = 0; i < measurement->ncolumns; i++)
		if (is_shown(screen, measurement->columns[i].name))
			screen->column[screen->ncolumns++] = &measurement->columns[i];
}

/* ---- names ---- */

static const char *line_name(
	const struct screen *screen, const struct cp_place_in_code *at)
{
	const char *text = cp_source_line(screen->arena, at->file, at->line);

	if (!*at->file || !at->line)
		return "[no line numbers]";
	while (text && (*text == ' ' || *text == '\t'))
		text++;
	return cp_text_format(screen->arena, "%s:%u%s%s", cp_base_name(at->file),
		at->line, text ? "  " : "", text ? text : "");
}

static const char *function_name(
	const struct screen *screen, const struct cp_place_in_code *at)
{
	const char *function = *at->function ? at->function : "[no symbol]",
		   *where = *at->file ? at->file : at->module->path;

	if (!*where && *at->function)
		return function;
	return cp_text_format(screen->arena, "%s  (%s)", function,
		*where ? cp_base_name(where) : "made at run time");
}

static const char *data_name(
	const struct screen *screen, const struct cp_profiled_object *object)
{
	return *object->file ? cp_text_format(screen->arena, "%s  (%s:%u)", object->name,
				       cp_base_name(object->file), object->line)
			     : object->name;
}

static const char *row_name(
	const struct screen *screen, enum cp_row_kind kind, const struct cp_row *row)
{
	const char *name = kind == CP_ROW_DATA ? data_name(screen, row->object)
			   : kind == CP_ROW_STATEMENT
				   ? line_name(screen, &row->site->at)
				   : function_name(screen, &row->site->at);

	return cp_text_safe(screen->arena, cp_slice_of(name));
}

/* ---- tables ---- */

static size_t rows_of(const struct screen *screen, const struct cp_rows *rows)
{
	size_t n = 0;

	while (n < rows->n && n < MOST_ROWS &&
		(n < 1 || cp_row_share(screen->view, rows, &rows->row[n]) >= LEAST_SHARE))
		n++;
	return n;
}

static const char *share_cell(
	struct screen *screen, const struct cp_rows *rows, const struct cp_row *row)
{
	const struct cp_profile_view *view = screen->view;
	struct cp_burst_value share;

	if (!view->profile->bursts)
		return cp_text_format(
			screen->arena, "%.1f", cp_row_share(view, rows, row));
	share = cp_bursts_share(view->profile, view->measurement, &row->tally);
	if (share.value.status == CP_UNAVAILABLE)
		return no_value(screen, share.value.reason);
	return cp_text_format(
		screen->arena, "%.1f ±%.1f", 100 * share.value.value, 100 * share.error);
}

static void fill_row(struct screen *screen, struct cp_table *table, size_t at,
	const struct cp_rows *rows)
{
	const struct cp_row *row = &rows->row[at];

	cp_table_set(table, at, 0, row_name(screen, rows->kind, row));
	cp_table_set(table, at, 1, share_cell(screen, rows, row));
	for (size_t i = 0; i < screen->ncolumns; i++)
		cp_table_set(table, at, 2 + i,
			value_cell(screen, screen->column[i]->name, &row->tally));
}

static bool has_share(const struct screen *screen, const struct cp_row *row)
{
	const struct cp_profile_view *view = screen->view;

	return !view->profile->bursts ||
	       cp_bursts_share(view->profile, view->measurement, &row->tally)
			       .value.status != CP_UNAVAILABLE;
}

static void put_rest(
	const struct screen *screen, const struct cp_rows *rows, size_t shown)
{
	double share = 0;
	bool known = true;

	for (size_t i = shown; i < rows->n; i++) {
		share += cp_row_share(screen->view, rows, &rows->row[i]);
		known = known && has_share(screen, &rows->row[i]);
	}
	if (shown < rows->n && known)
		cp_out_format(screen->out, "(%zu more: %s %%)\n", rows->n - shown,
			cp_text_decimal(screen->arena, share));
	else if (shown < rows->n)
		cp_out_format(screen->out, "(%zu more)\n", rows->n - shown);
}

static void put_heading(const struct screen *screen, struct cp_table *table, size_t i)
{
	const char *heading = screen->column[i]->heading,
		   *unit = unit_of(screen, screen->column[i]->name);

	if (*unit)
		cp_table_heading(table, 2 + i, heading, unit);
	else
		cp_table_heading(table, 2 + i, "", heading);
}

static void put_rows(struct screen *screen, const char *title, struct cp_rows *rows)
{
	size_t shown = rows_of(screen, rows);
	struct cp_table *table;

	if (!rows->n)
		return;
	table = cp_table_new(screen->arena, 2 + screen->ncolumns, shown);
	cp_table_heading(table, 0, "", title);
	cp_table_heading(table, 1, "", "%");
	for (size_t i = 0; i < screen->ncolumns; i++)
		put_heading(screen, table, i);
	for (size_t i = 0; i < shown; i++)
		fill_row(screen, table, i, rows);
	cp_out_text(screen->out, "\n");
	cp_table_print(table, screen->out, screen->width, false);
	put_rest(screen, rows, shown);
}

static void put_table(struct screen *screen, const char *title, enum cp_row_kind kind)
{
	put_rows(screen, title, cp_rows_of_all(screen->view, kind));
}

static void put_scripts(struct screen *screen)
{
	put_rows(screen, "Python functions",
		cp_rows_of_scripts(screen->view, CP_ROW_FUNCTION, false));
	put_rows(screen, "Python lines, and libraries for them",
		cp_rows_of_scripts(screen->view, CP_ROW_STATEMENT, true));
}

/* ---- what is around them ---- */

static void put_labelled(const struct screen *screen, const char *label, const char *text)
{
	cp_out_format(screen->out, "%-11s", label);
	cp_text_wrap(screen->out, text, 11, 11, screen->width);
}

static void put_head(struct screen *screen)
{
	const struct cp_profile *profile = screen->view->profile;
	const struct cp_group *measurement = screen->view->measurement;
	const char *line = "";

	cp_text_wrap(screen->out,
		cp_text_format(screen->arena, "cachepeek %s %s: %s", CP_VERSION,
			measurement->name,
			cp_text_cut(screen->arena, profile->command, CP_COMMAND_COLUMNS)),
		0, 2, screen->width);
	for (size_t i = 0; i < screen->ncolumns; i++)
		line = cp_text_listed(screen->arena, line,
			cp_text_format(screen->arena, "%s %s%s",
				screen->column[i]->heading,
				value_cell(
					screen, screen->column[i]->name, &screen->totals),
				*unit_of(screen, screen->column[i]->name) ? " %" : ""));
	if (!screen->ncolumns)
		line = value_cell(screen, "misses", &screen->totals);
	if (profile->cut)
		put_labelled(screen, "ended", profile->cut);
	put_labelled(screen, "in all", line);
	put_labelled(screen, profile->bursts ? "sampled" : "simulated",
		profile->bursts    ? CP_BURSTS_SOURCE
		: profile->inexact ? "see the warnings"
				   : "exact for the machine below: every miss, "
				     "by the instruction that had it");
	if (profile->unnamed)
		put_labelled(screen, "names", profile->unnamed);
}

static void put_findings(const struct screen *screen)
{
	struct cp_findings found = cp_advise(screen->view);
	size_t more = found.n > MOST_FINDINGS ? found.n - MOST_FINDINGS : 0;

	found.n -= more;
	cp_findings_write_short(screen->out, screen->arena, &found);
	if (more)
		cp_out_format(screen->out, "(%zu more finding%s: -v)\n", more,
			more == 1 ? "" : "s");
}

static void put_foot(const struct screen *screen)
{
	const struct cp_profile *profile = screen->view->profile;

	cp_out_text(screen->out, "\n");
	for (size_t i = 0; profile->bursts && i < screen->nreasons; i++)
		put_labelled(screen, i ? "" : "no value", screen->reason[i]);
	if (*profile->machine) /* page faults have none */
		put_labelled(screen, "machine", profile->machine);
	put_labelled(screen, "more",
		cp_text_format(screen->arena,
			"cachepeek %s -v: all tables, of modules and threads, too; "
			"--details src; -o x.html",
			screen->view->measurement->name));
	for (size_t i = 0; i < profile->nwarnings; i++) {
		if (profile->warnings[i] == profile->unnamed)
			continue;
		cp_text_wrap(screen->out,
			cp_text_format(
				screen->arena, "warning: %s", profile->warnings[i]),
			0, 2, screen->width);
	}
}

void cp_profile_write_screen(struct cp_out *out, const struct cp_profile_view *view)
{
	struct screen screen = {.out = out,
		.arena = view->profile->arena,
		.view = view,
		.width = view->width ? view->width : WIDTH,
		.totals = cp_profile_totals(view->profile)};

	choose_columns(&screen);
	put_head(&screen);
	put_findings(&screen);
	put_scripts(&screen);
	put_table(&screen, "Functions", CP_ROW_FUNCTION);
	put_table(&screen, "Lines", CP_ROW_STATEMENT);
	put_table(&screen, "Data", CP_ROW_DATA);
	cp_line_use_write_text(out, view, MOST_ROWS, screen.width);
	put_foot(&screen);
}
