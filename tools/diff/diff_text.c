/* SPDX-License-Identifier: MIT
 *
 * The comparison as text: whether the run costs less, where, and what else changed.
 */
#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/diff/diff.h"

#define WIDTH 80
/* Rows, so that with what stands around them they are a screen of 24 lines. */
#define PLACES 5
#define PLACES_OF_PROFILE 3 /* of functions, of lines and of data each */
#define ALSO 4
#define SHOWN 7 /* of values, where there is no cost */

static const char *runs_text(struct cp_arena *arena, size_t n)
{
	return n == 1 ? "1 run" : cp_text_format(arena, "%zu runs", n);
}

static void print_side(const struct cp_diff *diff, struct cp_out *out, unsigned number)
{
	const struct cp_side *side = &diff->values->sides[number];
	const char *line = cp_text_format(diff->arena, "%s  %s: %s of %s, %s%s",
		number ? "after " : "before",
		cp_text_safe(diff->arena, cp_slice_of(side->label)),
		runs_text(diff->arena, side->nruns), side->command, side->engine,
		side->mixed ? " (the first one's; others differ)" : "");

	cp_text_wrap(out, line, 0, 8, WIDTH);
	if (!side->cut)
		return;
	cp_out_text(out, "        ");
	cp_text_wrap(out, side->cut, 8, 8, WIDTH);
}

static void print_note(struct cp_out *out, const char *text)
{
	cp_text_wrap(out, text, 0, 2, WIDTH);
}

static void print_answer(const struct cp_diff *diff, struct cp_out *out)
{
	struct cp_answer answer = {.count = 0};

	cp_diff_answer(diff, &answer);
	for (size_t i = 0; i < answer.count; i++)
		print_note(out, cp_text_format(diff->arena, "%s: %s",
					answer.line[i].label, answer.line[i].text));
}

/* ---- where it changed ---- */

static const struct cp_difference *difference_at(
	const struct cp_diff *diff, const struct cp_cost_place *place)
{
	return diff->by_entry[cp_cost_entry(diff->values, place->spot, diff->cost->name)
				      ->index];
}

static const char *certainty_at(
	const struct cp_diff *diff, const struct cp_cost_place *place)
{
	const struct cp_difference *it = difference_at(diff, place);

	if (it && it->verdict == CP_UNTESTED && cp_diff_is_estimated(it->entry))
		return "estimated";
	return it && place->tested ? cp_diff_certainty(diff->arena, it) : "\u2014";
}

/* The whole run is what is in no region, where there are some. */
static const char *name_of(const struct cp_diff *diff, const struct cp_cost_place *place)
{
	const struct cp_entry entry = {.spot = (struct cp_spot *)place->spot};

	return *place->spot->path ? cp_diff_spot(diff->arena, &entry)
				  : "(outside of regions)";
}

static void set_place(const struct cp_diff *diff, struct cp_table *table, size_t row,
	const struct cp_cost_place *place)
{
	const struct cp_entry *entry =
		cp_cost_entry(diff->values, place->spot, diff->cost->name);

	cp_table_set(table, row, 0, name_of(diff, place));
	for (unsigned side = 0; side < 2; side++)
		cp_table_set(table, row, 1 + side,
			entry->side[side].runs.n
				? cp_diff_short(diff->arena, entry, place->value[side])
				: "\u2014");
	cp_table_set(table, row, 3, cp_diff_place_change(diff->arena, place));
	cp_table_set(table, row, 4, certainty_at(diff, place));
	cp_table_set(table, row, 5, place->mostly);
}

/* The kinds of places: a table for each. */
static const struct {
	const char *what, *heading; /* before the name of the cost */
} tables[] = {{"", "region:"}, {"machine", "machine:"}, {"python", "Python function:"},
	{"function", "function:"}, {"line", "line:"}, {"data", "data:"}};
#define NTABLES (sizeof(tables) / sizeof(tables[0]))

static bool is_in(const struct cp_diff *diff, const struct cp_cost_place *place,
	const char *what, bool only)
{
	/* The whole run stands above, and is what is in no region if there are some. */
	return strcmp(place->spot->what, what) == 0 && (*place->spot->path || !only) &&
	       cp_diff_place_counts(diff, place);
}

static void print_places(const struct cp_diff *diff, struct cp_out *out,
	const struct cp_cost_place *const *list, size_t count, const char *heading,
	bool colour)
{
	const char *headings[] = {heading, "before", "after", "change", "p", "mostly"};
	struct cp_table *table = cp_table_new(diff->arena, 6, count);

	table->left = 1;
	for (size_t c = 0; c < 6; c++)
		cp_table_heading(table, c, "", headings[c]);
	for (size_t i = 0; i < count; i++)
		set_place(diff, table, i, list[i]);
	cp_out_text(out, "\n");
	cp_table_print(table, out, WIDTH, colour);
}

static bool has_regions(const struct cp_diff *diff)
{
	for (size_t i = 0; i < diff->nplaces; i++)
		if (!*diff->places[i].spot->what && *diff->places[i].spot->path)
			return true;
	return false;
}

/* Returns how many places changed that the tables have no room for. */
static size_t print_all_places(
	const struct cp_diff *diff, struct cp_out *out, bool colour)
{
	const struct cp_cost_place **list = cp_arena_alloc(
		diff->arena, (diff->nplaces + 1) * sizeof(struct cp_cost_place *));
	bool whole_alone = !has_regions(diff);
	size_t left = 0, most = whole_alone ? PLACES_OF_PROFILE : PLACES;

	for (size_t t = 0; t < NTABLES; t++) {
		size_t count = 0;

		for (size_t i = 0; i < diff->nplaces; i++)
			if (is_in(diff, &diff->places[i], tables[t].what, whole_alone))
				list[count++] = &diff->places[i];
		if (!diff->all && count > most) {
			left += count - most;
			count = most;
		}
		if (count)
			print_places(diff, out, list, count,
				cp_text_format(diff->arena, "%s %s", tables[t].heading,
					diff->cost->name),
				colour);
	}
	return left;
}

/* ---- what else changed ---- */

static void print_table(const struct cp_diff *diff, struct cp_out *out,
	const struct cp_difference *const *rows, size_t count, bool colour)
{
	struct cp_arena *arena = diff->arena;
	struct cp_table *table = cp_table_new(arena, 6, count);
	const char *const headings[] = {"region",
		diff->cost && !diff->all ? "what else changed" : "value", "before",
		"after", "change", "p"};

	table->left = 2;
	for (size_t c = 0; c < 6; c++)
		cp_table_heading(table, c, "", headings[c]);
	for (size_t i = 0; i < count; i++) {
		const struct cp_difference *it = rows[i];
		const struct cp_entry *entry = it->entry;

		cp_table_set(table, i, 0, cp_diff_spot(arena, entry));
		cp_table_set(table, i, 1, cp_text_safe(arena, cp_slice_of(entry->name)));
		cp_table_set(table, i, 2, cp_diff_mean(arena, entry, 0));
		cp_table_set(table, i, 3, cp_diff_mean(arena, entry, 1));
		cp_table_set(table, i, 4, cp_diff_change(arena, it));
		cp_table_set(table, i, 5, cp_diff_certainty(arena, it));
	}
	cp_out_text(out, "\n");
	cp_table_print(table, out, WIDTH, colour);
}

/* The model's variances are intervals, which the values have. */
static bool is_row(const struct cp_diff *diff, const struct cp_difference *it)
{
	if (cp_ends_with(it->entry->name, "_variance"))
		return false;
	return diff->all ||
	       (it->role == CP_ALSO && (cp_is_flagged(it) || it->verdict == CP_UNTESTED));
}

/* Returns how many rows there are. */
static size_t print_values(const struct cp_diff *diff, struct cp_out *out, bool colour,
	const struct cp_difference **rows)
{
	size_t count = 0, most = diff->cost ? ALSO : SHOWN;

	for (size_t i = 0; i < diff->count && (diff->all || count < most); i++)
		if (is_row(diff, &diff->differences[i]))
			rows[count++] = &diff->differences[i];
	if (count)
		print_table(diff, out, rows, count, colour);
	return count;
}

static size_t count_of(const struct cp_diff *diff, enum cp_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->count; i++)
		count += diff->differences[i].verdict == verdict;
	return count;
}

/* ---- below the table ---- */

static void print_rest(const struct cp_diff *diff, struct cp_out *out, size_t shown)
{
	struct cp_arena *arena = diff->arena;
	size_t noise = count_of(diff, CP_NOISE), same = count_of(diff, CP_SAME),
	       one = count_of(diff, CP_ONE_SIDED),
	       differ = diff->count - noise - same - one;
	const char *line = "";

	if (diff->all)
		return;
	if (differ > shown)
		line = cp_text_format(arena, "%zu value%s. ", differ,
			differ == 1 ? " differs" : "s differ");
	if (noise)
		line = cp_text_format(arena, "%s%zu differ%s by no more than noise. ",
			line, noise, noise == 1 ? "s" : "");
	if (same)
		line = cp_text_format(arena, "%s%zu %s the same. ", line, same,
			same == 1 ? "is" : "are");
	if (one)
		line = cp_text_format(arena, "%s%zu ha%s a value on one side only. ",
			line, one, one == 1 ? "s" : "ve");
	if (*line)
		print_note(out, cp_text_format(arena, "%s--all shows them.", line));
}

/* Among the rows of the table. */
static bool shows_untested(const struct cp_difference *const *rows, size_t shown)
{
	for (size_t i = 0; i < shown; i++)
		if (rows[i]->verdict == CP_UNTESTED)
			return true;
	return false;
}

/* By what the p of all values were found. */
static const char *tests_of(const struct cp_diff *diff)
{
	bool intervals = false, runs = false;
	double error;

	for (size_t i = 0; i < diff->count; i++) {
		const struct cp_difference *it = &diff->differences[i];
		bool judged = cp_is_judged_by_intervals(it->entry, &error);

		intervals |= it->p >= 0 && judged;
		runs |= it->p >= 0 && !judged;
	}
	if (intervals)
		return runs ? "Welch's t test of the means, or the intervals of what was "
			      "sampled or predicted"
			    : "by the intervals of what was sampled or predicted";
	return "Welch's t test of the means";
}

static void print_test(const struct cp_diff *diff, struct cp_out *out,
	const struct cp_difference *const *rows, size_t shown)
{
	bool one_run =
		diff->values->sides[0].nruns < 2 || diff->values->sides[1].nruns < 2;

	if (diff->tested)
		print_note(
			out, cp_text_format(diff->arena,
				     "p: %s, adjusted (Benjamini and Hochberg) for %zu "
				     "values that vary; below 0.05 a difference is "
				     "significant.",
				     tests_of(diff), diff->tested));
	if (count_of(diff, CP_EXACTLY))
		print_note(out,
			one_run ? "exact: simulated, and so no error of counting; "
				  "one run does not tell whether the next is the same."
				: "exact: simulated, the same in all runs of a side: "
				  "the programs differ in this, it is no noise.");
	if (shows_untested(rows, shown))
		print_note(
			out, cp_text_format(diff->arena,
				     "\u2014: not tested: "
				     "it takes %d runs on each side "
				     "to tell a difference from noise "
				     "(cachepeek run --repeat 5 -o FILE.json PROGRAM).",
				     CP_FEWEST_RUNS));
}

/* Which lines are the same. */
static void print_lines(const struct cp_diff *diff, struct cp_out *out)
{
	const struct cp_values *values = diff->values;
	bool moved = false;

	for (size_t i = 0; i < values->nspots; i++) {
		const unsigned *line = values->spots[i]->line;

		moved |= line[0] && line[1] &&
			 (line[0] != line[1] || values->spots[i]->edited);
	}
	if (moved)
		print_note(out,
			"Lines were moved or edited: the same text in a function is the "
			"same line, and so are the only one that is gone and the only "
			"new one.");
	if (values->without_text)
		print_note(out,
			cp_text_format(diff->arena,
				"%zu lines are compared with their functions alone: "
				"their source is not there, or was changed after it was "
				"compiled.",
				values->without_text));
}

static void print_warnings(const struct cp_diff *diff, struct cp_out *out)
{
	const char *warnings[CP_DIFF_WARNINGS];
	size_t n = cp_diff_warnings(diff, warnings);

	for (size_t i = 0; i < n; i++)
		print_note(out, cp_text_format(diff->arena, "Warning: %s", warnings[i]));
}

static void print_gates(const struct cp_diff *diff, struct cp_out *out)
{
	for (size_t i = 0; i < diff->ngates; i++)
		if (diff->gates[i].verdict != CP_GATE_CLOSED)
			print_note(out, cp_gate_text(diff, &diff->gates[i]));
}

void cp_diff_text(const void *of, struct cp_out *out, bool colour)
{
	const struct cp_diff *diff = of;
	const struct cp_difference **rows = cp_arena_alloc(
		diff->arena, (diff->count + 1) * sizeof(struct cp_difference *));
	size_t places, shown;

	print_side(diff, out, 0);
	print_side(diff, out, 1);
	print_answer(diff, out);
	places = diff->cost ? print_all_places(diff, out, colour) : 0;
	if (places)
		cp_out_format(out, "%zu more places changed less.\n", places);
	shown = print_values(diff, out, colour, rows);
	cp_out_text(out, "\n");
	print_rest(diff, out, shown);
	print_test(diff, out, rows, shown);
	print_lines(diff, out);
	print_warnings(diff, out);
	print_gates(diff, out);
}
