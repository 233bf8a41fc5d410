/* SPDX-License-Identifier: MIT
 *
 * Shows what threads share, on one screen: what to keep apart, then the data of the lines
 * that may move most.  Lines of the same data are one row, as those of an array.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/advice/sharing.h"
#include "tools/profile/model/rows.h"

#define WIDTH 80
#define INDENT 11
#define MOST_FINDINGS 2
#define MOST_ROWS 6
#define ROWS_OF_A_FINDING 3 /* that the table gives up for the second one */
#define NAME_COLUMNS 120

struct screen {
	struct cp_answer *kept; /* takes what put_labelled() has; NULL: out does */
	struct cp_out *out;
	struct cp_arena *arena;
	const struct cp_sharing *sharing;
	size_t width, findings; /* findings: that are shown */
	uint64_t instructions;
};

/* Lines of the same data. */
struct row {
	const char *name;
	bool is_false, of_runtime;
	size_t lines;
	uint64_t transfers, hitm;
	const struct cp_shared_line *busiest;
};

struct rows {
	size_t n;
	struct row *row;
};

static void put_labelled(const struct screen *screen, const char *label, const char *text)
{
	if (screen->kept) {
		cp_answer_add(screen->kept, label, text);
		return;
	}
	cp_out_format(screen->out, "%-*s", INDENT, label);
	cp_text_wrap(screen->out, cp_text_safe(screen->arena, cp_slice_of(text)), INDENT,
		INDENT, screen->width);
}

static const char *integer_text(const struct screen *screen, uint64_t value)
{
	return cp_text_integer(screen->arena, value);
}

/* ---- names ---- */

/* The data in that part of the line, of whichever thread knows it. */
static const struct cp_profiled_object *object_in(
	const struct cp_shared_line *line, unsigned part)
{
	for (size_t i = 0; i < line->nusers; i++)
		if (line->users[i].object[part])
			return line->users[i].object[part];
	return NULL;
}

static const char *object_text(
	struct cp_arena *arena, const struct cp_profiled_object *object)
{
	if (!*object->file)
		return object->name;
	return cp_text_format(arena, "%s (%s:%u)", object->name,
		cp_base_name(object->file), object->line);
}

const char *cp_sharing_data(struct cp_arena *arena, const struct cp_shared_line *line)
{
	const struct cp_profiled_object *object[CP_PROFILE_PARTS];
	const char *all = "";
	unsigned n = 0;

	for (unsigned part = 0; part < CP_PROFILE_PARTS; part++) {
		const struct cp_profiled_object *it = object_in(line, part);
		unsigned i = 0;

		while (it && i < n && strcmp(object[i]->name, it->name) != 0)
			i++;
		if (!it || i < n)
			continue;
		object[n++] = it;
		all = cp_text_listed(arena, all, it->name);
	}
	if (n == 1)
		all = object_text(arena, object[0]);
	return *all ? cp_text_safe(arena, cp_slice_of(all)) : "[data without a name]";
}

/* ---- rows ---- */

static struct row *row_of(struct rows *rows, const char *name, bool is_false)
{
	size_t i = 0;

	while (i < rows->n && (rows->row[i].is_false != is_false ||
				      strcmp(rows->row[i].name, name) != 0))
		i++;
	if (i == rows->n)
		rows->row[rows->n++] = (struct row){.name = name, .is_false = is_false};
	return &rows->row[i];
}

/* Data that serves the runtime alone comes last. */
static int by_transfers(const void *one, const void *other)
{
	const struct row *a = one, *b = other;

	if (a->of_runtime != b->of_runtime)
		return a->of_runtime - b->of_runtime;
	if (a->transfers != b->transfers)
		return (b->transfers > a->transfers) - (b->transfers < a->transfers);
	return strcmp(a->name, b->name);
}

static struct rows rows_of(const struct screen *screen)
{
	const struct cp_sharing *sharing = screen->sharing;
	struct rows rows = {0,
		cp_arena_alloc(screen->arena, (sharing->nlines + 1) * sizeof(*rows.row))};

	for (size_t i = 0; i < sharing->nlines; i++) {
		const struct cp_shared_line *line = &sharing->lines[i];
		struct row *row = row_of(
			&rows, cp_sharing_data(screen->arena, line), line->is_false);

		row->of_runtime = line->of_runtime;
		row->lines++;
		row->transfers += line->transfers;
		row->hitm += line->hitm;
		if (!row->busiest || row->busiest->transfers < line->transfers)
			row->busiest = line;
	}
	if (rows.n)
		qsort(rows.row, rows.n, sizeof(*rows.row), by_transfers);
	return rows;
}

/* ---- the answer ---- */

static uint64_t transfers_of(const struct rows *rows, bool is_false)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (rows->row[i].is_false == is_false)
			sum += rows->row[i].transfers;
	return sum;
}

static const char *rate_text(const struct screen *screen, uint64_t transfers)
{
	if (!screen->instructions)
		return "";
	return cp_text_format(screen->arena, ", %s per thousand instructions",
		cp_text_decimal(screen->arena,
			1000.0 * (double)transfers / (double)screen->instructions));
}

static void put_kind(const struct screen *screen, const struct rows *rows,
	const char *label, bool is_false)
{
	const struct cp_sharing *sharing = screen->sharing;
	size_t lines = is_false ? sharing->nfalse : sharing->nlines - sharing->nfalse;
	uint64_t transfers = transfers_of(rows, is_false);

	if (!lines)
		return;
	put_labelled(screen, label,
		cp_text_format(screen->arena,
			"%s line%s that threads use at %s bytes: "
			"at most %s transfers there and back%s",
			integer_text(screen, lines), lines == 1 ? "" : "s",
			is_false ? "different" : "the same",
			integer_text(screen, transfers), rate_text(screen, transfers)));
}

/* Each process had one. */
static bool had_threads(const struct cp_profile *profile)
{
	for (size_t i = 0; i < profile->nthreads; i++)
		for (size_t j = 0; j < i; j++)
			if (profile->threads[i].pid == profile->threads[j].pid)
				return true;
	return false;
}

const char *cp_sharing_why_nothing(const struct cp_sharing *sharing)
{
	struct cp_arena *arena = sharing->profile->arena;
	const char *misses = cp_text_integer(arena, CP_ADVICE_MISSES);

	if (!had_threads(sharing->profile))
		return "nothing to mend: no process had a second thread";
	if (!sharing->nlines)
		return cp_text_format(arena,
			"nothing to mend: "
			"no line can go from thread to thread %lu times or more",
			(unsigned long)sharing->least);
	if (!sharing->nfalse)
		return cp_text_format(arena,
			"nothing to mend: no line is handed over %s times, and once in "
			"1,000 instructions",
			misses);
	return cp_text_format(arena,
		"nothing to mend: no data has %s writes by each of two threads, "
		"%s transfers for nothing, and %.0f %% of as many as the run's misses, "
		"nor is a line handed over once in 1,000 instructions",
		misses, misses, 100 * CP_ADVICE_SHARE);
}

static void put_answer(const struct screen *screen, const struct rows *rows,
	const struct cp_findings *found)
{
	put_kind(screen, rows, "false", true);
	put_kind(screen, rows, "true", false);
	if (!found->n)
		put_labelled(screen, "sharing", cp_sharing_why_nothing(screen->sharing));
}

static void put_findings(const struct screen *screen, struct cp_findings found)
{
	size_t more = found.n - screen->findings;

	if (!found.n)
		return;
	found.n = screen->findings;
	cp_findings_write_short(screen->out, screen->arena, &found);
	if (more)
		cp_out_format(screen->out, "(%zu more finding%s: -v)\n", more,
			more == 1 ? "" : "s");
}

/* ---- the table ---- */

enum { NAME, KIND, LINES, THREADS, TRANSFERS, HITM, COLUMNS };

static void put_headings(struct cp_table *table)
{
	static const char *const headings[COLUMNS] = {
		"data", "sharing", "lines", "threads", "transfers", "HITM"};

	for (size_t i = 0; i < table->ncolumns; i++)
		cp_table_heading(table, i, "", headings[i]);
}

static void fill_row(const struct screen *screen, struct cp_table *table, size_t at,
	const struct row *row)
{
	cp_table_set(
		table, at, NAME, cp_text_cut(screen->arena, row->name, NAME_COLUMNS));
	cp_table_set(table, at, KIND, row->is_false ? "false" : "true");
	cp_table_set(table, at, LINES, integer_text(screen, row->lines));
	cp_table_set(table, at, THREADS, integer_text(screen, row->busiest->nusers));
	cp_table_set(table, at, TRANSFERS, integer_text(screen, row->transfers));
	if (table->ncolumns > HITM)
		cp_table_set(table, at, HITM, integer_text(screen, row->hitm));
}

static void put_rest(const struct screen *screen, const struct rows *rows, size_t shown)
{
	uint64_t transfers = 0;

	for (size_t i = shown; i < rows->n; i++)
		transfers += rows->row[i].transfers;
	if (shown < rows->n)
		cp_out_format(screen->out, "(%zu more: %s transfers at most; -v)\n",
			rows->n - shown, integer_text(screen, transfers));
	if (screen->sharing->few)
		cp_out_format(screen->out,
			"(%zu lines with fewer than %lu transfers: --least)\n",
			screen->sharing->few, (unsigned long)screen->sharing->least);
}

static void put_table(const struct screen *screen, const struct rows *rows)
{
	size_t most = screen->findings > 1 ? MOST_ROWS - ROWS_OF_A_FINDING : MOST_ROWS,
	       shown = rows->n < most ? rows->n : most;
	struct cp_table *table = cp_table_new(screen->arena,
		cp_sharing_quantum(screen->sharing) ? COLUMNS : HITM, shown);

	cp_out_text(screen->out, "\n");
	if (shown) {
		table->left = KIND + 1;
		put_headings(table);
		for (size_t i = 0; i < shown; i++)
			fill_row(screen, table, i, &rows->row[i]);
		cp_table_print(table, screen->out, screen->width, false);
	}
	put_rest(screen, rows, shown);
}

/* ---- what is around them ---- */

static void put_head(const struct screen *screen)
{
	unsigned quantum = cp_sharing_quantum(screen->sharing);

	cp_text_wrap(screen->out,
		cp_text_format(screen->arena, "cachepeek %s sharing: %s", CP_VERSION,
			cp_text_cut(screen->arena,
				cp_text_safe(screen->arena,
					cp_slice_of(screen->sharing->profile->command)),
				CP_COMMAND_COLUMNS)),
		0, 2, screen->width);
	if (screen->sharing->profile->cut)
		put_labelled(screen, "ended", screen->sharing->profile->cut);
	put_labelled(screen, "simulated",
		quantum ? cp_text_format(screen->arena,
				  "exact: who uses which bytes; HITM: "
				  "if threads take turns of %u data references",
				  quantum)
			: "exact: who uses which bytes; at most: "
			  "in whatever order the threads run (--quantum N: "
			  "if they take turns)");
}

static void put_foot(const struct screen *screen)
{
	const struct cp_profile *profile = screen->sharing->profile;

	cp_out_text(screen->out, "\n");
	put_labelled(screen, "machine", profile->machine);
	put_labelled(screen, "more",
		"cachepeek sharing -v: each line, with its threads, bytes, "
		"loads and stores");
	for (size_t i = 0; i < profile->nwarnings; i++)
		cp_text_wrap(screen->out,
			cp_text_format(
				screen->arena, "warning: %s", profile->warnings[i]),
			0, 2, screen->width);
}

void cp_sharing_answer(const struct cp_sharing *sharing, struct cp_answer *answer)
{
	const struct cp_findings found = cp_advise_sharing(sharing->profile);
	const struct screen screen = {.kept = answer,
		.arena = sharing->profile->arena,
		.sharing = sharing,
		.instructions =
			cp_profile_totals(sharing->profile).count[CP_SIM_instructions]};
	struct rows rows = rows_of(&screen);

	put_answer(&screen, &rows, &found);
	if (found.n)
		put_labelled(&screen, "look first",
			cp_text_format(screen.arena, "%s: %s", found.finding[0].rule,
				found.finding[0].data));
}

/* Counts the findings that are shown: data that can be kept apart, and else the first
 * that cannot. */
static size_t shown_of(const struct cp_findings *found)
{
	size_t shown = 0;

	while (shown < found->n && shown < MOST_FINDINGS &&
		(!shown || !cp_is_contended(&found->finding[shown])))
		shown++;
	return shown;
}

void cp_sharing_write_screen(
	struct cp_out *out, const struct cp_sharing *sharing, size_t width)
{
	const struct cp_findings found = cp_advise_sharing(sharing->profile);
	const struct screen screen = {.out = out,
		.arena = sharing->profile->arena,
		.sharing = sharing,
		.width = width ? width : WIDTH,
		.findings = shown_of(&found),
		.instructions =
			cp_profile_totals(sharing->profile).count[CP_SIM_instructions]};
	struct rows rows = rows_of(&screen);

	put_head(&screen);
	put_answer(&screen, &rows, &found);
	put_findings(&screen, found);
	if (rows.n || sharing->few)
		put_table(&screen, &rows);
	put_foot(&screen);
}
