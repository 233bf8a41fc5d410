/* SPDX-License-Identifier: MIT
 *
 * The comparison as a table of the values that differ, the one to look at first
 * on top.
 */
#include <string.h>

#include "base/text/table.h"
#include "tools/diff/diff.h"

#define WIDTH 80
#define SHOWN 7 /* with what stands around it, a screen of 24 lines */

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
}

static void print_note(struct cp_out *out, const char *text)
{
	cp_text_wrap(out, text, 0, 2, WIDTH);
}

static void print_table(
	const struct cp_diff *diff, struct cp_out *out, size_t count, bool colour)
{
	struct cp_arena *arena = diff->arena;
	struct cp_table *table = cp_table_new(arena, 6, count);
	static const char *const headings[] = {
		"region", "value", "before", "after", "change", "p"};

	table->left = 2;
	for (size_t c = 0; c < 6; c++)
		cp_table_heading(table, c, "", headings[c]);
	for (size_t i = 0; i < count; i++) {
		const struct cp_difference *it = &diff->differences[i];
		const struct cp_entry *entry = it->entry;

		cp_table_set(table, i, 0, cp_diff_spot(arena, entry));
		cp_table_set(table, i, 1, cp_text_safe(arena, cp_slice_of(entry->name)));
		cp_table_set(table, i, 2, cp_diff_mean(arena, entry, 0));
		cp_table_set(table, i, 3, cp_diff_mean(arena, entry, 1));
		cp_table_set(table, i, 4, cp_diff_change(arena, it));
		cp_table_set(table, i, 5, cp_diff_certainty(arena, it));
	}
	if (count && cp_is_flagged(&diff->differences[0]))
		table->marks[0] = "<==";
	cp_table_print(table, out, WIDTH, colour);
}

/* Counts the rows that a reader looks for first: flagged ones, or where nothing could be
 * tested, what differs. */
static size_t of_interest(const struct cp_diff *diff, size_t flagged)
{
	size_t count = flagged;

	if (diff->all)
		return diff->count;
	while (count < diff->count && diff->differences[count].verdict == CP_UNTESTED)
		count++;
	return count;
}

static size_t count_of(const struct cp_diff *diff, enum cp_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->count; i++)
		count += diff->differences[i].verdict == verdict;
	return count;
}

/* Prints the cost of the misses, and the work done, in the whole run; then the place that
 * changed most. */
static void print_answer(const struct cp_diff *diff, struct cp_out *out)
{
	const char *whole = cp_diff_whole(diff), *first = cp_diff_first(diff);

	if (*whole)
		print_note(out, cp_text_format(diff->arena, "whole run: %s", whole));
	if (*first)
		print_note(out, cp_text_format(diff->arena, "Look first at %s.", first));
}

/* ---- below the table ---- */

static void print_rest(const struct cp_diff *diff, struct cp_out *out, size_t hidden)
{
	struct cp_arena *arena = diff->arena;
	size_t noise = count_of(diff, CP_NOISE), same = count_of(diff, CP_SAME),
	       one = count_of(diff, CP_ONE_SIDED);
	const char *line = "";

	if (diff->all)
		return;
	if (hidden)
		line = cp_text_format(arena, "%zu more differ less. ", hidden);
	if (noise)
		line = cp_text_format(
			arena, "%s%zu differ by no more than noise. ", line, noise);
	if (same)
		line = cp_text_format(arena, "%s%zu are the same. ", line, same);
	if (one)
		line = cp_text_format(
			arena, "%s%zu have a value on one side only. ", line, one);
	if (*line)
		print_note(out, cp_text_format(arena, "%s--all shows them.", line));
}

/* Among the rows of the table. */
static bool shows_untested(const struct cp_diff *diff, size_t shown)
{
	for (size_t i = 0; i < shown; i++)
		if (diff->differences[i].verdict == CP_UNTESTED)
			return true;
	return false;
}

static bool any_by_intervals(const struct cp_diff *diff)
{
	double error;

	for (size_t i = 0; i < diff->count; i++)
		if (diff->differences[i].p >= 0 &&
			cp_is_judged_by_intervals(diff->differences[i].entry, &error))
			return true;
	return false;
}

static void print_test(const struct cp_diff *diff, struct cp_out *out, size_t shown)
{
	bool one_run =
		diff->values->sides[0].nruns < 2 || diff->values->sides[1].nruns < 2;

	if (any_by_intervals(diff))
		print_note(out,
			"Values of samples, and predicted times, are tested by their "
			"intervals.");
	if (diff->tested)
		print_note(
			out, cp_text_format(diff->arena,
				     "p: Welch's t test of the means, adjusted "
				     "(Benjamini and Hochberg) for %zu values that vary; "
				     "below 0.05 a difference is significant.",
				     diff->tested));
	if (count_of(diff, CP_EXACTLY))
		print_note(out,
			one_run ? "exact: simulated, and so no error of counting; "
				  "one run does not tell whether the next is the same."
				: "exact: simulated, the same in all runs of a side: "
				  "the programs differ in this, it is no noise.");
	if (shows_untested(diff, shown))
		print_note(
			out, cp_text_format(diff->arena,
				     "\u2014: not tested: "
				     "it takes %d runs on each side "
				     "to tell a difference from noise "
				     "(cachepeek run --repeat 5 -o FILE.json PROGRAM).",
				     CP_FEWEST_RUNS));
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
	size_t flagged = count_of(diff, CP_EXACTLY) + count_of(diff, CP_SIGNIFICANT),
	       shown = of_interest(diff, flagged), hidden = 0;

	print_side(diff, out, 0);
	print_side(diff, out, 1);
	print_answer(diff, out);
	cp_out_text(out, "\n");
	if (!diff->all && shown > SHOWN) {
		hidden = shown - SHOWN;
		shown = SHOWN;
	}
	if (shown)
		print_table(diff, out, shown, colour);
	else
		cp_out_text(out, "No value differs by more than noise.\n");
	cp_out_text(out, "\n");
	print_rest(diff, out, hidden);
	print_test(diff, out, shown);
	print_warnings(diff, out);
	print_gates(diff, out);
}
