/* SPDX-License-Identifier: MIT */
#include "tools/runs/repeat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "output/csv.h"
#include "regions/rundir.h"
#include "tools/runs/again.h"
#include "tools/shared/check.h"
#include "tools/shared/cmd.h"
#include "tools/diff/diff.h"
#include "tools/diff/kinds.h"
#include "tools/shared/outputs.h"

#define WIDTH 80
#define SHOWN 64

struct repeat {
	struct cp_arena *arena;
	struct cp_values *values;
	struct cp_output_list outputs;
	const char *directory; /* that keeps the runs; NULL: where all runs are kept */
	char **argv;
	unsigned count;
	int status; /* of the first run's wait(2) */
};

/* ---- where the records go ---- */

/* Splits the outputs: a directory is none of a report. */
static bool read_outputs(struct repeat *repeat, const char *list)
{
	const char *piece;
	size_t length;

	while ((piece = cp_next_piece(&list, ',', &length))) {
		const char *output = cp_arena_copy(repeat->arena, piece, length);

		if (output[length - 1] == '/')
			repeat->directory = output;
		else if (!cp_output_add(&repeat->outputs, output))
			return false;
	}
	return cp_outputs_check("run --repeat", &repeat->outputs);
}

/* Refuses a directory that has runs: they would be mixed with the new ones. */
static bool is_new(struct repeat *repeat)
{
	const char *first = cp_text_format(repeat->arena, "%s/run-1", repeat->directory);

	if (access(first, F_OK) < 0)
		return true;
	fprintf(stderr,
		"cachepeek: --repeat: %s is there already: remove it, "
		"or name another directory\n",
		first);
	return false;
}

static int make_directory(struct repeat *repeat, unsigned number, char *to, size_t size)
{
	const char *wanted = NULL;

	if (repeat->directory)
		wanted = cp_text_format(
			repeat->arena, "%s/run-%u", repeat->directory, number);
	return cp_launch_make_run(wanted, to, size);
}

/* ---- the runs ---- */

static bool run_one(struct repeat *repeat, unsigned number, long input)
{
	char directory[CP_RUNDIR_SIZE], error[1024];
	struct cp_launch launch;
	int result = make_directory(repeat, number, directory, sizeof(directory));

	if (result < 0) {
		fprintf(stderr, "cachepeek: no place for the records of a run (%s: %s)\n",
			directory, strerror(-result));
		repeat->status = 1 << 8;
		return false;
	}
	/* All are seen: a program that writes to a terminal, a file or nowhere does
	 * not do the same each time. */
	result = cp_run_again(&launch, directory, repeat->argv,
		cp_text_format(repeat->arena, "run %u of %u: ", number, repeat->count),
		input, true);
	if (result < 0) {
		repeat->status = cp_cannot_run(repeat->argv[0], -result) << 8;
		return false;
	}
	if (number == 1)
		repeat->status = launch.status;
	else if (launch.status != repeat->status)
		fprintf(stderr,
			"cachepeek: run %u of %u ended unlike the first (status %#x, "
			"not %#x): it may have done something else\n",
			number, repeat->count, (unsigned)launch.status,
			(unsigned)repeat->status);
	if (cp_values_add(repeat->values, 0, directory, error, sizeof(error)))
		return true;
	fprintf(stderr, "cachepeek: run %u of %u: %s\n", number, repeat->count, error);
	return false;
}

static bool run_all(struct repeat *repeat)
{
	long input = cp_keep_input();

	for (unsigned number = 1; number <= repeat->count; number++)
		if (!run_one(repeat, number, input))
			return false;
	return true;
}

/* ---- the report ---- */

/* The rows of a report's table: metrics, or counts where there are none. */
static bool is_shown(const struct cp_values *values, const struct cp_entry *entry)
{
	if (!entry->side[0].runs.n || entry->kind != CP_COUNT)
		return entry->side[0].runs.n > 0;
	for (size_t i = 0; i < values->nentries; i++)
		if (values->entries[i]->kind == CP_METRIC)
			return false;
	return true;
}

static size_t shown_rows(const struct cp_values *values, const struct cp_entry **list)
{
	size_t count = 0;

	for (size_t i = 0; i < values->nentries; i++)
		if (is_shown(values, values->entries[i]))
			list[count++] = values->entries[i];
	return count;
}

static void set_row(struct cp_arena *arena, struct cp_table *table, size_t row,
	const struct cp_entry *entry)
{
	const struct cp_runs *runs = &entry->side[0].runs;

	cp_table_set(table, row, 0, cp_diff_spot(arena, entry));
	cp_table_set(table, row, 1, cp_text_safe(arena, cp_slice_of(entry->name)));
	cp_table_set(table, row, 2, cp_diff_number(arena, entry, runs->mean));
	cp_table_set(table, row, 3, cp_diff_number(arena, entry, runs->min));
	cp_table_set(table, row, 4, cp_diff_number(arena, entry, runs->max));
	cp_table_set(table, row, 5, cp_repeat_spread_text(arena, runs));
}

static void print_answer(const struct repeat *repeat, struct cp_out *out)
{
	struct cp_answer answer = {.count = 0};

	cp_repeat_answer(repeat->arena, repeat->values, &answer);
	for (size_t i = 0; i < answer.count; i++)
		cp_text_wrap(out,
			cp_text_format(repeat->arena, "%s: %s", answer.line[i].label,
				answer.line[i].text),
			0, 2, WIDTH);
}

static void write_text(const void *of, struct cp_out *out, bool colour)
{
	static const char *const headings[] = {
		"region", "value", "mean", "min", "max", "spread"};
	const struct repeat *repeat = of;
	const struct cp_values *values = repeat->values;
	const struct cp_side *side = &values->sides[0];
	const struct cp_entry **list = cp_arena_alloc(
		repeat->arena, (values->nentries + 1) * sizeof(struct cp_entry *));
	size_t count = shown_rows(values, list), shown = count < SHOWN ? count : SHOWN;
	struct cp_table *table = cp_table_new(repeat->arena, 6, shown);

	cp_text_wrap(out,
		cp_text_format(repeat->arena, "cachepeek %s: %zu runs of %s, %s",
			CP_VERSION, side->nruns, side->command, side->engine),
		0, 2, WIDTH);
	if (side->cut)
		cp_text_wrap(out, cp_text_format(repeat->arena, "ended: %s", side->cut),
			0, 2, WIDTH);
	if (*side->machine)
		cp_text_wrap(out, side->machine, 0, 2, WIDTH);
	print_answer(repeat, out);
	cp_out_text(out, "\n");
	table->left = 2;
	for (size_t c = 0; c < 6; c++)
		cp_table_heading(table, c, "", headings[c]);
	for (size_t i = 0; i < shown; i++)
		set_row(repeat->arena, table, i, list[i]);
	cp_table_print(table, out, WIDTH, colour);
	cp_out_text(out, "\n");
	cp_out_text(out, "spread: standard deviation, of the mean\n");
	if (values->nentries > shown)
		cp_out_format(out, "%zu more values: -o FILE.csv has all of them\n",
			values->nentries - shown);
	if (repeat->directory)
		cp_out_format(out, "kept in %s\n", repeat->directory);
}

static void write_csv(const void *of, struct cp_out *out)
{
	const struct cp_values *values = ((const struct repeat *)of)->values;
	const char *cut = values->sides[0].cut;

	cp_out_text(out, "region,kind,name,unit," CP_CELL_HEADINGS("") "\n");
	if (cut) {
		cp_out_text(out, ",ended,ended,,,,,,,,");
		cp_csv_text(out, cut, strlen(cut));
		cp_out_text(out, "\n");
	}
	for (size_t i = 0; i < values->nentries; i++) {
		cp_csv_entry(out, values->entries[i]);
		cp_csv_cell(out, &values->entries[i]->side[0]);
		cp_out_text(out, "\n");
	}
}

static json_t *value_of(const struct cp_entry *entry)
{
	const struct cp_cell *cell = &entry->side[0];
	json_t *made = json_object(), *values = json_array();

	for (size_t i = 0; i < cell->runs.n; i++)
		json_array_append_new(values, cp_json_number(cell->values[i]));
	cp_json_entry(made, entry);
	json_object_update_new(made, cp_json_cell(cell));
	json_object_set_new(made, "values", values);
	return made;
}

/* null: nothing varies. */
static json_t *most_of(const struct cp_values *values)
{
	const struct cp_entry *most = cp_repeat_most(values);
	json_t *made = most ? json_object() : json_null();

	if (most)
		cp_json_entry(made, most);
	return made;
}

static json_t *answers_of(const struct repeat *repeat)
{
	struct cp_answer answer = {.count = 0};

	cp_repeat_answer(repeat->arena, repeat->values, &answer);
	return json_pack("[{sn so so}]", "group", "most", most_of(repeat->values),
		"lines", cp_json_answer_lines(&answer));
}

static json_t *write_json(const void *of)
{
	const struct repeat *repeat = of;
	const struct cp_values *values = repeat->values;
	json_t *list = json_array(), *made;

	for (size_t i = 0; i < values->nentries; i++)
		json_array_append_new(list, value_of(values->entries[i]));
	made = json_pack("{ss ss so so s{ss} s{ss} sI so}", "schema", CP_REPEAT_SCHEMA,
		"cachepeek", CP_VERSION, "command", cp_json_command(repeat->argv),
		"answers", answers_of(repeat), "engine", "name", values->sides[0].engine,
		"machine", "description", values->sides[0].machine, "runs",
		(json_int_t)values->sides[0].nruns, "values", list);
	cp_json_run(made, &values->sides[0]);
	return made;
}

static int write_report(struct repeat *repeat)
{
	const struct cp_document document = {
		repeat, write_text, write_csv, write_json, "repeat.html"};

	return cp_outputs_write(&repeat->outputs, "stderr", &document);
}

static int repeat_all(struct repeat *repeat, const char *outputs)
{
	if (!read_outputs(repeat, outputs ? outputs : ""))
		return 2;
	if (!repeat->directory)
		repeat->directory = getenv("CACHEPEEK_DIR");
	if (repeat->directory && !is_new(repeat))
		return 2;
	unsetenv("CACHEPEEK_DIR");
	repeat->values = cp_values_new(repeat->arena);
	if (run_all(repeat) && write_report(repeat))
		repeat->status = 1 << 8;
	return cp_end_like(repeat->status);
}

int cp_repeat(unsigned count, const char *outputs, char **argv)
{
	static struct repeat repeat;
	static struct cp_arena arena;
	struct cp_escape out_of_memory;
	volatile int status = 1;

	arena.out_of_memory = &out_of_memory;
	repeat.arena = &arena;
	repeat.argv = argv;
	repeat.count = count;
	if (CP_ESCAPE_SET(out_of_memory) == 0)
		status = repeat_all(&repeat, outputs);
	else
		fprintf(stderr, "cachepeek: --repeat: out of memory\n");
	arena.out_of_memory = NULL;
	cp_arena_free(&arena);
	return status;
}
