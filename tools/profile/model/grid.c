/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/grid.h"

#include <string.h>

#include "base/counts.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "tools/profile/model/fit.h"

#define DASH "\u2014"

struct cp_arena *cp_grid_arena(const struct cp_grid *grid)
{
	return grid->view->profile->arena;
}

/* %Tot, Cum%, and the columns of the measurement. */
struct cp_grid cp_grid_new(const struct cp_profile_view *view)
{
	struct cp_grid grid = {.view = view, .ncolumns = 2};

	for (size_t i = 0; i < view->measurement->ncolumns; i++)
		if (!view->profile->bursts ||
			cp_profile_is_placed(view, view->measurement->columns[i].name))
			grid.columns[grid.ncolumns++ - 2] =
				&view->measurement->columns[i];
	return grid;
}

const char **cp_grid_line(struct cp_grid *grid, bool cells, const char *text)
{
	struct cp_arena *arena = cp_grid_arena(grid);
	const char **line =
		cells ? cp_arena_alloc(arena, grid->ncolumns * sizeof(*line)) : NULL;

	if (grid->nlines == grid->room) {
		size_t room = grid->room ? 2 * grid->room : 16;
		const char ***lines = cp_arena_alloc(arena, room * sizeof(*lines));
		const char **texts = cp_arena_alloc(arena, room * sizeof(*texts));

		if (grid->nlines) {
			memcpy(lines, grid->lines, grid->nlines * sizeof(*lines));
			memcpy(texts, grid->texts, grid->nlines * sizeof(*texts));
		}
		grid->lines = lines;
		grid->texts = texts;
		grid->room = room;
	}
	grid->texts[grid->nlines] = text;
	grid->lines[grid->nlines++] = line;
	return line;
}

size_t cp_grid_width(const char *cell)
{
	return cell ? (strcmp(cell, DASH) == 0 ? 1 : strlen(cell)) : 0;
}

void cp_grid_blanks(struct cp_out *out, size_t n)
{
	while (n-- > 0)
		cp_out_text(out, " ");
}

/* Returns the columns that it took. */
static size_t print_cells(struct cp_out *out, const struct cp_grid *grid,
	const char *const *cells, const size_t *width, size_t *blank)
{
	size_t used = 0;

	for (size_t i = 0; i < grid->ncolumns; i++) {
		const char *cell = cells && cells[i] ? cells[i] : "";

		*blank += width[i] - cp_grid_width(cell) + (i > 0);
		if (!*cell)
			continue;
		cp_grid_blanks(out, *blank);
		cp_out_text(out, cell);
		used += *blank + cp_grid_width(cell);
		*blank = 0;
	}
	return used;
}

/* The text stands behind the cells; if there is no room, below them. */
static void print_line(
	struct cp_out *out, const struct cp_grid *grid, size_t line, const size_t *width)
{
	enum { BELOW = 6 };
	const char *text = grid->texts[line];
	size_t blank = 0, limit = grid->view->width,
	       used = print_cells(out, grid, grid->lines[line], width, &blank),
	       columns = cp_utf8_columns(text, strlen(text));

	if (*text && limit && used + blank + 2 + columns > limit) {
		cp_out_text(out, used ? "\n" : "");
		cp_fit_text(out, text, BELOW, limit);
		return;
	}
	if (*text) {
		cp_grid_blanks(out, blank + 2);
		cp_out_text(out, text);
	}
	cp_out_text(out, "\n");
}

/* Returns those of all columns. */
static size_t measure_columns(const struct cp_grid *grid, size_t *width)
{
	size_t sum = 0;

	for (size_t i = 0; i < grid->ncolumns; i++) {
		width[i] = 0;
		for (size_t line = 0; line < grid->nlines; line++)
			if (grid->lines[line] &&
				cp_grid_width(grid->lines[line][i]) > width[i])
				width[i] = cp_grid_width(grid->lines[line][i]);
		sum += width[i] + (i > 0);
	}
	return sum;
}

static void shorten_numbers(const struct cp_grid *grid)
{
	for (size_t line = 0; line < grid->nlines; line++)
		for (size_t i = 0; grid->lines[line] && i < grid->ncolumns; i++)
			if (grid->lines[line][i])
				grid->lines[line][i] = cp_fit_number(
					cp_grid_arena(grid), grid->lines[line][i]);
}

void cp_grid_print(struct cp_out *out, const struct cp_grid *grid)
{
	size_t width[CP_GROUP_MAX_COLUMNS + CP_GRID_OWN];

	if (measure_columns(grid, width) > grid->view->width && grid->view->width) {
		shorten_numbers(grid);
		measure_columns(grid, width);
	}
	for (size_t line = 0; line < grid->nlines; line++)
		print_line(out, grid, line, width);
}

/* ---- cells ---- */

/* A value that integers would say too little of. */
static bool is_small(const struct cp_metric *metric, double value)
{
	return value < 10000 && (strcmp(metric->unit, "cycles") == 0 ||
					strcmp(metric->unit, "1/kinstr") == 0);
}

/* A value, and behind it half of its interval, of it or, of a ratio, in percent. */
static const char *burst_cell(const struct cp_profile_view *view, const char *name,
	const struct cp_tally *tally)
{
	struct cp_arena *arena = view->profile->arena;
	const struct cp_metric *metric = cp_group_metric(view->measurement, name);
	struct cp_burst_value b =
		cp_bursts_measure(view->profile, view->measurement, name, tally);
	double value = b.value.value;
	const char *text = cp_text_integer(arena, cp_count_of(value + 0.5));

	if (b.value.status == CP_UNAVAILABLE)
		return DASH;
	if (metric && strcmp(metric->unit, "ratio") == 0)
		return cp_text_format(arena, b.error < 0 ? "%.1f%%" : "%.1f+-%.1f%%",
			100 * value, 100 * b.error);
	if (metric && is_small(metric, value))
		text = cp_text_format(arena, "%.1f", value);
	if (b.error < 0 || value <= 0)
		return text;
	return cp_text_format(arena, "%s+-%.1f%%", text, 100 * b.error / value);
}

const char *cp_grid_share(
	const struct cp_grid *grid, const struct cp_rows *rows, const struct cp_row *row)
{
	const struct cp_profile_view *view = grid->view;
	struct cp_burst_value share;

	if (!view->profile->bursts)
		return cp_grid_percent(grid, cp_row_share(view, rows, row));
	share = cp_bursts_share(view->profile, view->measurement, &row->tally);
	if (share.value.status == CP_UNAVAILABLE)
		return DASH;
	return cp_text_format(cp_grid_arena(grid), "%.2f+-%.2f", 100 * share.value.value,
		100 * share.error);
}

const char *cp_grid_cell(const struct cp_profile_view *view, const char *name,
	const struct cp_tally *tally)
{
	struct cp_arena *arena = view->profile->arena;
	const struct cp_metric *metric = cp_group_metric(view->measurement, name);
	struct cp_value value;

	if (view->profile->bursts)
		return burst_cell(view, name, tally);
	value = cp_measure(view->profile, view->measurement, name, tally);
	if (value.status == CP_UNAVAILABLE)
		return view->profile->sampled ? "n/s" : DASH;
	if (metric && strcmp(metric->unit, "ratio") == 0)
		return cp_text_format(arena, "%.1f%%", 100 * value.value);
	if (value.value != (double)cp_count_of(value.value))
		return cp_text_format(arena, "%.1f", value.value);
	return cp_text_integer(arena, cp_count_of(value.value));
}

void cp_grid_cells(struct cp_grid *grid, const char **line, const struct cp_tally *tally)
{
	for (size_t i = 0; i < grid->ncolumns - 2; i++)
		line[i + 2] = cp_grid_cell(grid->view, grid->columns[i]->name, tally);
}

void cp_grid_headings(struct cp_grid *grid, const char *what)
{
	const char **line = cp_grid_line(grid, true, what);

	line[0] = "%Tot";
	line[1] = "Cum%";
	for (size_t i = 0; i < grid->ncolumns - 2; i++)
		line[i + 2] = grid->columns[i]->heading;
}

const char *cp_grid_percent(const struct cp_grid *grid, double value)
{
	return cp_text_format(cp_grid_arena(grid), "%.2f", value);
}
