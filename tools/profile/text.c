/* SPDX-License-Identifier: MIT
 *
 * The text report: exact counts, then misses by module, thread, function, and if
 * asked for by statement and instruction.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/line_use_text.h"
#include "tools/profile/model/sampled_write.h"
#include "tools/profile/model/grid.h"
#include "tools/profile/model/source.h"
#include "tools/profile/model/symbols.h"
#include "tools/profile/model/write.h"

#define WIDTH 80

/* ---- names ---- */

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

static const char *row_name(const struct cp_grid *grid, enum cp_row_kind kind,
	const struct cp_profiled_site *site)
{
	struct cp_arena *arena = cp_grid_arena(grid);
	const struct cp_place_in_code *at = &site->at;

	switch (kind) {
	case CP_ROW_MODULE:
		return cp_text_safe(arena,
			cp_slice_of(
				*at->module->path ? at->module->path : at->module->name));
	case CP_ROW_THREAD:
		return thread_text(arena, site->thread);
	case CP_ROW_STATEMENT:
		return cp_text_format(
			arena, "%s:%u %s", at->file, at->line, at->function);
	default:
		return cp_text_format(arena, "%s::%s%s%s%s",
			cp_text_safe(arena, cp_slice_of(at->module->name)),
			*at->function ? at->function : "[no symbol]",
			*at->file ? "  (" : "", cp_base_name(at->file),
			*at->file ? ")" : "");
	}
}

static const char *data_name(
	const struct cp_grid *grid, const struct cp_profiled_object *object)
{
	if (!*object->file)
		return object->name;
	return cp_text_format(cp_grid_arena(grid), "%s (%s:%u)", object->name,
		cp_base_name(object->file), object->line);
}

/* ---- summaries ---- */

/* Places of a sample that were seen too seldom have none. */
static bool has_share(const struct cp_profile_view *view, const struct cp_row *row)
{
	return !view->profile->bursts ||
	       cp_bursts_share(view->profile, view->measurement, &row->tally)
			       .value.status != CP_UNAVAILABLE;
}

static const char *left_out(
	const struct cp_grid *grid, const struct cp_rows *rows, size_t shown)
{
	double share = 0;
	bool known = true;

	for (size_t i = shown; i < rows->n; i++) {
		share += cp_row_share(grid->view, rows, &rows->row[i]);
		known &= has_share(grid->view, &rows->row[i]);
	}
	if (!known)
		return cp_text_format(cp_grid_arena(grid), "(%zu more)", rows->n - shown);
	return cp_text_format(
		cp_grid_arena(grid), "(%zu more: %.2f %%)", rows->n - shown, share);
}

static void print_summary(struct cp_out *out, const struct cp_profile_view *view,
	const char *title, const char *what, struct cp_rows *rows)
{
	struct cp_grid grid = cp_grid_new(view);
	size_t shown = cp_rows_shown(view, rows);
	bool known = true;
	double sum = 0;

	cp_grid_headings(&grid, what);
	for (size_t i = 0; i < shown; i++) {
		const struct cp_row *row = &rows->row[i];
		const char **line = cp_grid_line(&grid, true,
			rows->kind == CP_ROW_DATA
				? data_name(&grid, row->object)
				: row_name(&grid, rows->kind, row->site));

		sum += cp_row_share(view, rows, row);
		known = known && has_share(view, row);
		line[0] = cp_grid_share(&grid, rows, row);
		line[1] = known ? cp_grid_percent(&grid, sum) : "\u2014";
		cp_grid_cells(&grid, line, &row->tally);
	}
	if (shown < rows->n)
		cp_grid_line(&grid, false, left_out(&grid, rows, shown));
	cp_out_format(out, "\n%s\n", title);
	cp_grid_print(out, &grid);
}

static void print_scripts(struct cp_out *out, const struct cp_profile_view *view)
{
	if (!view->profile->nscripts)
		return;
	print_summary(out, view, "Python Function Summary", "Function",
		cp_rows_of_scripts(view, CP_ROW_FUNCTION, false));
	print_summary(out, view, "Python Line Summary, with libraries", "Line",
		cp_rows_of_scripts(view, CP_ROW_STATEMENT, true));
}

/* ---- details ---- */

static void add_context(struct cp_grid *grid, const struct cp_place_in_code *at,
	unsigned from, unsigned to)
{
	for (unsigned line = from; line < to; line++) {
		const char *text = cp_source_line(cp_grid_arena(grid), at->file, line);

		if (text)
			cp_grid_line(grid, false,
				cp_text_format(
					cp_grid_arena(grid), "%6u   %s", line, text));
	}
}

static void add_instructions(
	struct cp_grid *grid, const struct cp_rows *rows, const struct cp_row *statement)
{
	struct cp_arena *arena = cp_grid_arena(grid);
	struct cp_rows *all = cp_rows_of(grid->view, CP_ROW_INSTRUCTION, rows, statement);

	for (size_t i = 0; i < all->n; i++) {
		const struct cp_place_in_code *at = &all->row[i].site->at;
		struct cp_symbols *symbols = at->module->symbols;
		const char *text =
			symbols ? cp_symbols_instruction(symbols, arena, at->address)
				: "";
		const char **line = cp_grid_line(grid, true,
			cp_text_format(arena, "         +0x%-5lx %s",
				(unsigned long)(*at->function ? at->offset : at->address),
				text));

		cp_grid_cells(grid, line, &all->row[i].tally);
	}
}

static const char *statement_text(
	const struct cp_grid *grid, const struct cp_place_in_code *at)
{
	struct cp_arena *arena = cp_grid_arena(grid);
	const char *source = cp_source_line(arena, at->file, at->line);

	if (!*at->file)
		return "   ~ > (no line numbers)";
	return cp_text_format(arena, "%6u > %s%s", at->line,
		source ? source : cp_base_name(at->file),
		at->module->symbols
			? cp_symbols_inlined(at->module->symbols, arena, at->address)
			: "");
}

static void add_statements(struct cp_grid *grid, const struct cp_rows *functions,
	const struct cp_row *function)
{
	struct cp_rows *all =
		cp_rows_of(grid->view, CP_ROW_STATEMENT, functions, function);
	unsigned context = grid->view->context;

	for (size_t i = 0; i < all->n; i++) {
		const struct cp_place_in_code *at = &all->row[i].site->at;
		const char **line;

		add_context(
			grid, at, at->line > context ? at->line - context : 1, at->line);
		line = cp_grid_line(grid, true, statement_text(grid, at));
		line[0] = cp_grid_share(grid, functions, &all->row[i]);
		cp_grid_cells(grid, line, &all->row[i].tally);
		add_context(grid, at, at->line + 1, at->line + 1 + context);
		if (grid->view->instructions)
			add_instructions(grid, all, &all->row[i]);
	}
}

static void add_function(
	struct cp_grid *grid, const struct cp_rows *rows, const struct cp_row *row)
{
	struct cp_arena *arena = cp_grid_arena(grid);
	const struct cp_place_in_code *at = &row->site->at;
	const char **line;

	cp_grid_line(grid, false, "");
	line = cp_grid_line(grid, true,
		cp_text_format(arena, "[%s::%s, 0x%lx, %s]", at->module->name,
			function_name(arena, at),
			(unsigned long)(at->address - (*at->function ? at->offset : 0)),
			*at->file ? cp_base_name(at->file) : "no line numbers"));
	line[0] = cp_grid_share(grid, rows, row);
	cp_grid_cells(grid, line, &row->tally);
	if (grid->view->statements)
		add_statements(grid, rows, row);
	else
		add_instructions(grid, rows, row);
}

static void print_details(struct cp_out *out, const struct cp_profile_view *view)
{
	struct cp_rows *rows = cp_rows_of_all(view, CP_ROW_FUNCTION);
	struct cp_grid grid = cp_grid_new(view);
	size_t shown = cp_rows_shown(view, rows);

	cp_grid_headings(&grid, "Function, statements (line >), instructions (+offset)");
	for (size_t i = 0; i < shown; i++)
		add_function(&grid, rows, &rows->row[i]);
	cp_out_text(out, "\nFunction Details\n");
	cp_grid_print(out, &grid);
}

/* ---- the head ---- */

/* Behind a count that is not there. */
static void print_reason(
	struct cp_out *out, const struct cp_profile_view *view, const char *reason)
{
	enum { AT = 24 + 1 + 20 + 1 };

	cp_out_text(out, " ");
	cp_text_wrap(out, cp_text_format(view->profile->arena, "(%s)", reason), AT, AT,
		view->width ? view->width : SIZE_MAX);
}

static void print_count(struct cp_out *out, const struct cp_profile_view *view,
	const char *name, const char *unit, const struct cp_tally *totals)
{
	struct cp_value value =
		cp_measure(view->profile, view->measurement, name, totals);
	const char *text = cp_grid_cell(view, name, totals);

	cp_out_format(out, "%-24s ", name);
	cp_grid_blanks(out, 20 > cp_grid_width(text) ? 20 - cp_grid_width(text) : 0);
	cp_out_text(out, text);
	if (value.status == CP_UNAVAILABLE) {
		print_reason(out, view, value.reason);
		return;
	}
	if (*unit && strcmp(unit, "ratio") != 0)
		cp_out_format(out, " %s", unit);
	cp_out_text(out, "\n");
}

static bool is_estimate(const struct cp_profile_view *view, const char *name,
	const struct cp_tally *totals)
{
	return cp_measure(view->profile, view->measurement, name, totals).status ==
	       CP_ESTIMATED;
}

/* Writes the quantities and metrics that are estimates, or all others, or both. */
static void print_which(struct cp_out *out, const struct cp_profile_view *view,
	bool others, bool estimates)
{
	const struct cp_tally totals = cp_profile_totals(view->profile);
	const struct cp_group *m = view->measurement;

	for (const char *const *name = cp_profile_quantities(view); *name; name++)
		if (is_estimate(view, *name, &totals) ? estimates : others)
			print_count(out, view, *name, "", &totals);
	for (size_t i = 0; i < m->nmetrics; i++)
		if (is_estimate(view, m->metrics[i].name, &totals) ? estimates : others)
			print_count(out, view, m->metrics[i].name, m->metrics[i].unit,
				&totals);
}

bool cp_profile_has_estimates(const struct cp_profile_view *view)
{
	const struct cp_tally totals = cp_profile_totals(view->profile);

	for (const char *const *name = cp_profile_quantities(view); *name; name++)
		if (is_estimate(view, *name, &totals))
			return true;
	return false;
}

void cp_profile_write_weights(struct cp_out *out, const struct cp_profile_view *view)
{
	cp_text_wrap(out,
		cp_weights_text(
			view->profile->arena, &view->profile->weights, ~(1u << CP_OF_L1)),
		0, 2, WIDTH);
}

static void print_counts(struct cp_out *out, const struct cp_profile_view *view)
{
	if (view->profile->sampled) {
		cp_sampled_write_text(out, view->profile);
		cp_out_text(out, "\nAll places (whole run)\n");
		print_which(out, view, true, true);
		return;
	}
	if (view->profile->bursts) {
		cp_out_text(out, "\nEstimates of the sample (whole run)\n");
		print_which(out, view, true, true);
		cp_profile_write_weights(out, view);
		return;
	}
	cp_out_text(out, "\nExact counts (whole run)\n");
	print_which(out, view, true, false);
	if (!cp_profile_has_estimates(view))
		return;
	cp_out_text(out, "\nEstimates (whole run)\n");
	print_which(out, view, false, true);
	cp_profile_write_weights(out, view);
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
	if (profile->cut)
		print_labelled(out, "ended", profile->cut);
	print_labelled(out, "command", profile->command);
	if (*profile->machine) /* page faults have none */
		print_labelled(out, "machine", profile->machine);
	print_labelled(out, "source",
		profile->sampled   ? cp_sampled_source(profile)
		: profile->bursts  ? CP_BURSTS_SOURCE
		: profile->inexact ? "simulated (see the warnings)"
		: profile->without_sites
			? "simulated (exact): every miss, by call path; "
			  "they add up to the counts"
			: "simulated (exact): every miss, "
			  "by the instruction that had it; they add up to the counts");
	print_labelled(out, "ran",
		cp_text_format(arena, "%zu process%s, %zu thread%s", profile->nprocesses,
			profile->nprocesses == 1 ? "" : "es", profile->nthreads,
			profile->nthreads == 1 ? "" : "s"));
}

static void print_findings(struct cp_out *out, const struct cp_profile_view *view)
{
	const struct cp_findings found = cp_advise(view);

	cp_findings_write_text(out, view->profile->arena, &found);
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
			"On this machine floating-point loads "
			"are L2's by design and never look into L1D: "
			"they are among the places' misses and not among "
			"the L1D misses of the exact counts "
			"(l1d_bypasses).",
			0, 0, WIDTH);
	for (size_t i = 0; i < profile->nwarnings; i++)
		cp_text_wrap(out,
			cp_text_format(
				profile->arena, "warning: %s", profile->warnings[i]),
			0, 2, WIDTH);
}

void cp_profile_write_text(struct cp_out *out, const struct cp_profile_view *view)
{
	struct cp_rows *data;

	if (view->screen) {
		cp_profile_write_screen(out, view);
		return;
	}
	data = cp_rows_of_all(view, CP_ROW_DATA);
	print_head(out, view);
	print_counts(out, view);
	if (!view->profile->without_sites) {
		print_scripts(out, view);
		print_summary(out, view, "Function Summary", "Function",
			cp_rows_of_all(view, CP_ROW_FUNCTION));
		print_summary(out, view, "Load Module Summary", "Load module",
			cp_rows_of_all(view, CP_ROW_MODULE));
		print_summary(out, view, "Thread Summary", "Thread",
			cp_rows_of_all(view, CP_ROW_THREAD));
	}
	if (data->n)
		print_summary(out, view, "Data Summary", "Data", data);
	cp_line_use_write_text(out, view, SIZE_MAX, view->width ? view->width : 100);
	if (view->profile->npaths)
		cp_profile_write_calls(out, view);
	if (view->statements || view->instructions)
		print_details(out, view);
	print_findings(out, view);
	print_notes(out, view);
}
