/* SPDX-License-Identifier: MIT
 *
 * The text report: exact counts, then misses by module, thread, function, and if
 * asked for by statement and instruction.
 */
#include <stdio.h>
#include <string.h>

#include "output/table.h"
#include "tools/profile/sampled_write.h"
#include "tools/profile/source.h"
#include "tools/profile/symbols.h"
#include "tools/profile/write.h"

#define WIDTH 80
#define DASH "\u2014"

/* Lines of cells, the last of which is text of any length on the left. */
struct grid {
	const struct cp_profile_view *view;
	size_t ncolumns, nlines, room;
	const char ***lines; /* [line][column]; NULL: only the text */
	const char **texts;
};

/* ---- grids ---- */

static struct cp_arena *arena_of(const struct grid *grid)
{
	return grid->view->profile->arena;
}

/* %Tot, Cum%, and the columns of the measurement. */
static struct grid new_grid(const struct cp_profile_view *view)
{
	return (struct grid){.view = view, .ncolumns = view->measurement->ncolumns + 2};
}

static const char **add_line(struct grid *grid, bool cells, const char *text)
{
	struct cp_arena *arena = arena_of(grid);
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

static size_t width_of(const char *cell)
{
	return cell ? (strcmp(cell, DASH) == 0 ? 1 : strlen(cell)) : 0;
}

static void print_blanks(struct cp_out *out, size_t n)
{
	while (n-- > 0)
		cp_out_text(out, " ");
}

static void print_line(
	struct cp_out *out, const struct grid *grid, size_t line, const size_t *width)
{
	const char *const *cells = grid->lines[line];
	size_t blank = 0;

	for (size_t i = 0; i < grid->ncolumns; i++) {
		const char *cell = cells && cells[i] ? cells[i] : "";

		blank += width[i] - width_of(cell) + (i > 0);
		if (!*cell)
			continue;
		print_blanks(out, blank);
		cp_out_text(out, cell);
		blank = 0;
	}
	if (*grid->texts[line]) {
		print_blanks(out, blank + 2);
		cp_out_text(out, grid->texts[line]);
	}
	cp_out_text(out, "\n");
}

static void print_grid(struct cp_out *out, const struct grid *grid)
{
	size_t width[CP_GROUP_MAX_COLUMNS + 2] = {0};

	for (size_t line = 0; line < grid->nlines; line++)
		for (size_t i = 0; grid->lines[line] && i < grid->ncolumns; i++)
			if (width_of(grid->lines[line][i]) > width[i])
				width[i] = width_of(grid->lines[line][i]);
	for (size_t line = 0; line < grid->nlines; line++)
		print_line(out, grid, line, width);
}

/* ---- cells ---- */

static const char *cell(const struct cp_profile_view *view, const char *name,
	const struct cp_tally *tally)
{
	struct cp_arena *arena = view->profile->arena;
	const struct cp_metric *metric = cp_group_metric(view->measurement, name);
	struct cp_value value = cp_measure(view->profile, view->measurement, name, tally);

	if (value.status == CP_UNAVAILABLE)
		return view->profile->sampled ? "n/s" : DASH;
	if (metric && strcmp(metric->unit, "ratio") == 0)
		return cp_text_format(arena, "%.1f%%", 100 * value.value);
	if (value.value != (double)(uint64_t)value.value)
		return cp_text_format(arena, "%.1f", value.value);
	return cp_text_integer(arena, (uint64_t)value.value);
}

static void set_cells(struct grid *grid, const char **line, const struct cp_tally *tally)
{
	const struct cp_group *m = grid->view->measurement;

	for (size_t i = 0; i < m->ncolumns; i++)
		line[i + 2] = cell(grid->view, m->columns[i].name, tally);
}

static void add_headings(struct grid *grid, const char *what)
{
	const struct cp_group *m = grid->view->measurement;
	const char **line = add_line(grid, true, what);

	line[0] = "%Tot";
	line[1] = "Cum%";
	for (size_t i = 0; i < m->ncolumns; i++)
		line[i + 2] = m->columns[i].heading;
}

static const char *percent(const struct grid *grid, double value)
{
	return cp_text_format(arena_of(grid), "%.2f", value);
}

/* ---- names ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *function_name(
	struct cp_arena *arena, const struct cp_place_in_code *at)
{
	if (*at->function)
		return at->function;
	return cp_text_format(
		arena, "%s+0x%lx", at->module->name, (unsigned long)at->address);
}

static const char *thread_text(
	struct cp_arena *arena, const struct cp_profiled_thread *thread)
{
	if (!thread->tid)
		return cp_text_format(arena, "pid %d, all other threads", thread->pid);
	return cp_text_format(arena, "pid %d tid %d %s", thread->pid, thread->tid,
		cp_text_safe(arena, cp_slice_of(thread->name)));
}

static const char *row_name(const struct grid *grid, enum cp_row_kind kind,
	const struct cp_profiled_site *site)
{
	struct cp_arena *arena = arena_of(grid);
	const struct cp_place_in_code *at = &site->at;

	switch (kind) {
	case CP_ROW_MODULE:
		return cp_text_safe(arena,
			cp_slice_of(
				*at->module->path ? at->module->path : at->module->name));
	case CP_ROW_THREAD:
		return thread_text(arena, site->thread);
	default:
		return cp_text_format(arena, "%s::%s%s%s%s",
			cp_text_safe(arena, cp_slice_of(at->module->name)),
			*at->function ? at->function : "[no symbol]",
			*at->file ? "  (" : "", base_name(at->file),
			*at->file ? ")" : "");
	}
}

static const char *data_name(
	const struct grid *grid, const struct cp_profiled_object *object)
{
	if (!*object->file)
		return object->name;
	return cp_text_format(arena_of(grid), "%s (%s:%u)", object->name,
		base_name(object->file), object->line);
}

/* ---- summaries ---- */

static const char *left_out(
	const struct grid *grid, const struct cp_rows *rows, size_t shown)
{
	double share = 0;

	for (size_t i = shown; i < rows->n; i++)
		share += cp_row_share(grid->view, rows, &rows->row[i]);
	return cp_text_format(
		arena_of(grid), "(%zu more: %.2f %%)", rows->n - shown, share);
}

static void print_summary(struct cp_out *out, const struct cp_profile_view *view,
	const char *title, const char *what, enum cp_row_kind kind)
{
	struct cp_rows *rows = cp_rows_of_all(view, kind);
	struct grid grid = new_grid(view);
	size_t shown = cp_rows_shown(view, rows);
	double sum = 0;

	add_headings(&grid, what);
	for (size_t i = 0; i < shown; i++) {
		const struct cp_row *row = &rows->row[i];
		const char **line = add_line(&grid, true,
			kind == CP_ROW_DATA ? data_name(&grid, row->object)
					    : row_name(&grid, kind, row->site));

		sum += cp_row_share(view, rows, row);
		line[0] = percent(&grid, cp_row_share(view, rows, row));
		line[1] = percent(&grid, sum);
		set_cells(&grid, line, &row->tally);
	}
	if (shown < rows->n)
		add_line(&grid, false, left_out(&grid, rows, shown));
	cp_out_format(out, "\n%s\n", title);
	print_grid(out, &grid);
}

/* ---- details ---- */

static void add_context(
	struct grid *grid, const struct cp_place_in_code *at, unsigned from, unsigned to)
{
	for (unsigned line = from; line < to; line++) {
		const char *text = cp_source_line(arena_of(grid), at->file, line);

		if (text)
			add_line(grid, false,
				cp_text_format(arena_of(grid), "%6u   %s", line, text));
	}
}

static void add_instructions(
	struct grid *grid, const struct cp_rows *rows, const struct cp_row *statement)
{
	struct cp_arena *arena = arena_of(grid);
	struct cp_rows *all = cp_rows_of(grid->view, CP_ROW_INSTRUCTION, rows, statement);

	for (size_t i = 0; i < all->n; i++) {
		const struct cp_place_in_code *at = &all->row[i].site->at;
		struct cp_symbols *symbols = at->module->symbols;
		const char *text =
			symbols ? cp_symbols_instruction(symbols, arena, at->address)
				: "";
		const char **line = add_line(grid, true,
			cp_text_format(arena, "         +0x%-5lx %s",
				(unsigned long)(*at->function ? at->offset : at->address),
				text));

		set_cells(grid, line, &all->row[i].tally);
	}
}

static const char *statement_text(
	const struct grid *grid, const struct cp_place_in_code *at)
{
	struct cp_arena *arena = arena_of(grid);
	const char *source = cp_source_line(arena, at->file, at->line);

	if (!*at->file)
		return "   ~ > (no line numbers)";
	return cp_text_format(arena, "%6u > %s%s", at->line,
		source ? source : base_name(at->file),
		at->module->symbols
			? cp_symbols_inlined(at->module->symbols, arena, at->address)
			: "");
}

static void add_statements(
	struct grid *grid, const struct cp_rows *functions, const struct cp_row *function)
{
	struct cp_rows *all =
		cp_rows_of(grid->view, CP_ROW_STATEMENT, functions, function);
	unsigned context = grid->view->context;

	for (size_t i = 0; i < all->n; i++) {
		const struct cp_place_in_code *at = &all->row[i].site->at;
		const char **line;

		add_context(
			grid, at, at->line > context ? at->line - context : 1, at->line);
		line = add_line(grid, true, statement_text(grid, at));
		line[0] =
			percent(grid, cp_row_share(grid->view, functions, &all->row[i]));
		set_cells(grid, line, &all->row[i].tally);
		add_context(grid, at, at->line + 1, at->line + 1 + context);
		if (grid->view->instructions)
			add_instructions(grid, all, &all->row[i]);
	}
}

static void add_function(
	struct grid *grid, const struct cp_rows *rows, const struct cp_row *row)
{
	struct cp_arena *arena = arena_of(grid);
	const struct cp_place_in_code *at = &row->site->at;
	const char **line;

	add_line(grid, false, "");
	line = add_line(grid, true,
		cp_text_format(arena, "[%s::%s, 0x%lx, %s]", at->module->name,
			function_name(arena, at),
			(unsigned long)(at->address - (*at->function ? at->offset : 0)),
			*at->file ? base_name(at->file) : "no line numbers"));
	line[0] = percent(grid, cp_row_share(grid->view, rows, row));
	set_cells(grid, line, &row->tally);
	if (grid->view->statements)
		add_statements(grid, rows, row);
	else
		add_instructions(grid, rows, row);
}

static void print_details(struct cp_out *out, const struct cp_profile_view *view)
{
	struct cp_rows *rows = cp_rows_of_all(view, CP_ROW_FUNCTION);
	struct grid grid = new_grid(view);
	size_t shown = cp_rows_shown(view, rows);

	add_headings(&grid, "Function, statements (line >), instructions (+offset)");
	for (size_t i = 0; i < shown; i++)
		add_function(&grid, rows, &rows->row[i]);
	cp_out_text(out, "\nFunction Details\n");
	print_grid(out, &grid);
}

/* ---- the head ---- */

static void print_count(struct cp_out *out, const struct cp_profile_view *view,
	const char *name, const char *unit, const struct cp_tally *totals)
{
	struct cp_value value =
		cp_measure(view->profile, view->measurement, name, totals);
	const char *text = cell(view, name, totals);

	cp_out_format(out, "%-24s ", name);
	print_blanks(out, 20 > width_of(text) ? 20 - width_of(text) : 0);
	cp_out_text(out, text);
	if (value.status == CP_UNAVAILABLE)
		cp_out_format(out, " (%s)", value.reason);
	else if (*unit && strcmp(unit, "ratio") != 0)
		cp_out_format(out, " %s", unit);
	cp_out_text(out, "\n");
}

static void print_counts(struct cp_out *out, const struct cp_profile_view *view)
{
	const struct cp_tally totals = cp_profile_totals(view->profile);
	const char *const *names = cp_profile_quantities(view);
	const struct cp_group *m = view->measurement;

	if (view->profile->sampled)
		cp_sampled_write_text(out, view->profile);
	cp_out_text(out, view->profile->sampled ? "\nAll places (whole run)\n"
						: "\nExact counts (whole run)\n");
	for (; *names; names++)
		print_count(out, view, *names, "", &totals);
	for (size_t i = 0; i < m->nmetrics; i++)
		print_count(out, view, m->metrics[i].name, m->metrics[i].unit, &totals);
}

static void print_labelled(struct cp_out *out, const char *label, const char *text)
{
	cp_out_format(out, "%-10s", label);
	cp_text_wrap(out, text, 10, 10, WIDTH);
}

static void print_head(struct cp_out *out, const struct cp_profile_view *view)
{
	const struct cp_profile *profile = view->profile;
	struct cp_arena *arena = profile->arena;

	cp_out_format(out, "cachepeek %s %s: %s\n", CP_VERSION, view->measurement->name,
		view->measurement->title);
	print_labelled(out, "command", profile->command);
	print_labelled(out, "machine", profile->machine);
	print_labelled(out, "source",
		profile->sampled   ? cp_sampled_source(profile)
		: profile->inexact ? "simulated (see the warnings)"
				   : "simulated (exact): every miss, by the instruction "
				     "that had it; they add up to the counts");
	print_labelled(out, "ran",
		cp_text_format(arena, "%zu process%s, %zu thread%s", profile->nprocesses,
			profile->nprocesses == 1 ? "" : "es", profile->nthreads,
			profile->nthreads == 1 ? "" : "s"));
}

static void print_notes(struct cp_out *out, const struct cp_profile_view *view)
{
	const struct cp_profile *profile = view->profile;
	const struct cp_tally totals = cp_profile_totals(profile);

	cp_out_text(out, "\n");
	cp_out_text(out, view->measurement->description);
	cp_out_text(out, "\n");
	if (!profile->sampled && totals.count[CP_SIM_l1d_bypasses] &&
		view->measurement->nmetrics &&
		strcmp(view->measurement->name, "dcache") == 0)
		cp_text_wrap(out,
			"On this machine floating-point loads are L2's by design and "
			"never look into L1D: they are among the places' misses and not "
			"among the L1D misses of the exact counts (l1d_bypasses).",
			0, 0, WIDTH);
	for (size_t i = 0; i < profile->nwarnings; i++)
		cp_text_wrap(out,
			cp_text_format(
				profile->arena, "warning: %s", profile->warnings[i]),
			0, 2, WIDTH);
}

void cp_profile_write_text(struct cp_out *out, const struct cp_profile_view *view)
{
	print_head(out, view);
	print_counts(out, view);
	print_summary(out, view, "Function Summary", "Function", CP_ROW_FUNCTION);
	print_summary(out, view, "Load Module Summary", "Load module", CP_ROW_MODULE);
	print_summary(out, view, "Thread Summary", "Thread", CP_ROW_THREAD);
	if (cp_rows_of_all(view, CP_ROW_DATA)->n)
		print_summary(out, view, "Data Summary", "Data", CP_ROW_DATA);
	if (view->statements || view->instructions)
		print_details(out, view);
	print_notes(out, view);
}
