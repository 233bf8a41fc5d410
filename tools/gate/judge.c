/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/gate/gate.h"

/* Counts and metrics have no name in common. */
static const struct cp_entry *entry_of(
	const struct cp_baseline *gate, const struct cp_spot *spot, const char *name)
{
	const struct cp_entry *entry = NULL;

	for (enum cp_kind kind = CP_CALLS; !entry && kind <= CP_METRIC; kind++)
		entry = cp_values_find(gate->values, spot, kind, name);
	return entry;
}

static const struct cp_spot *spot_of(const struct cp_baseline *gate, const json_t *path)
{
	for (size_t i = 0; i < gate->values->nspots; i++)
		if (json_equal(gate->values->spots[i]->names, path))
			return gate->values->spots[i];
	return NULL;
}

/* How far it is beyond the baseline, in the direction that is worse. */
static double worse_by(const struct cp_baseline_line *line)
{
	return line->lower ? line->value - line->now : line->now - line->value;
}

static double allowed_by(const struct cp_baseline_line *line)
{
	return line->relative ? line->limit * fabs(line->value) : line->limit;
}

/* The error of a value that was sampled, in the baseline or now. */
static double error_of(const struct cp_baseline_line *line)
{
	double now = cp_cell_error(&line->entry->side[1]);

	return sqrt(line->was_off * line->was_off + (now > 0 ? now * now : 0));
}

/* A value of a sample without an interval may be off by anything. */
static bool has_no_interval(
	const struct cp_baseline *gate, const struct cp_baseline_line *line)
{
	const struct cp_cell *cell = &line->entry->side[1];

	return cell->unsized && (line->was_off > 0 || cp_values_sampled(gate->values, 1));
}

static enum cp_baseline_result result_of(const struct cp_baseline_line *line)
{
	double by = worse_by(line), allowed = allowed_by(line);

	return by - line->off > allowed    ? CP_BASELINE_FAILS
	       : by + line->off < -allowed ? CP_BASELINE_BETTER
	       : by + line->off <= allowed ? CP_BASELINE_HELD
					   : CP_BASELINE_UNSURE;
}

static void judge_line(const struct cp_baseline *gate, struct cp_baseline_line *line)
{
	const struct cp_spot *spot = spot_of(gate, line->path);

	line->entry = spot ? entry_of(gate, spot, line->name) : NULL;
	line->result = CP_BASELINE_UNKNOWN_VALUE;
	if (!line->entry || !line->entry->side[1].runs.n) {
		line->entry = NULL;
		return;
	}
	line->now = line->entry->side[1].runs.mean;
	line->off = error_of(line);
	line->result = has_no_interval(gate, line) ? CP_BASELINE_UNSURE : result_of(line);
}

/* Counts of different provenance are neither worse nor better. */
static const char *why_unlike(const struct cp_baseline *gate)
{
	const struct cp_side *runs = &gate->values->sides[1];

	if (runs->cut)
		return cp_text_format(gate->arena, "the run is a part: %s", runs->cut);
	if (runs->mixed)
		return "the runs are not of one program, engine and machine";
	if (gate->engine && strcmp(gate->engine, runs->engine) != 0)
		return cp_text_format(gate->arena,
			"the baseline was counted by %s, the run by %s", gate->engine,
			runs->engine);
	if (gate->machine && strcmp(gate->machine, runs->machine) != 0)
		return cp_text_format(gate->arena,
			"the baseline is of another machine (%s) than the run (%s)",
			gate->machine, runs->machine);
	return NULL;
}

/* Does a word of the list begin so? */
static bool has_word(const char *list, const char *start, size_t length)
{
	const char *word;
	size_t n;

	while ((word = cp_next_piece(&list, ' ', &n)))
		if (n >= length && strncmp(word, start, length) == 0)
			return true;
	return false;
}

/* The variables that are there and not the same in the other one, behind names; without
 * those that skip has, too. */
static const char *add_variables(struct cp_arena *arena, const char *names,
	const char *there, const char *other, const char *skip)
{
	const char *word;
	size_t length;

	while ((word = cp_next_piece(&there, ' ', &length))) {
		const char *colon = memchr(word, ':', length);

		if (colon && !has_word(other, word, length) &&
			!has_word(skip, word, (size_t)(colon + 1 - word)))
			names = cp_text_listed(arena, names,
				cp_text_format(arena, "%.*s", (int)(colon - word), word));
	}
	return names;
}

static const char *variables_that_differ(const struct cp_baseline *gate)
{
	const char *before = gate->environment, *now = gate->values->sides[1].environment,
		   *names = "";

	if (!before || !now)
		return NULL;
	names = add_variables(gate->arena, names, before, now, "");
	names = add_variables(gate->arena, names, now, before, before);
	return *names ? cp_text_safe(gate->arena, cp_slice_of(names)) : NULL;
}

void cp_baseline_judge(struct cp_baseline *gate)
{
	gate->unlike = why_unlike(gate);
	gate->variables = variables_that_differ(gate);
	for (size_t i = 0; i < gate->nlines; i++)
		judge_line(gate, &gate->lines[i]);
}

enum { STATUS_FAILS = 3, STATUS_UNKNOWN = 4 };

int cp_baseline_status(const struct cp_baseline *gate)
{
	int status = gate->unlike ? STATUS_UNKNOWN : 0;

	for (size_t i = 0; !gate->unlike && i < gate->nlines; i++) {
		if (gate->lines[i].result == CP_BASELINE_FAILS)
			return STATUS_FAILS;
		if (gate->lines[i].result == CP_BASELINE_UNKNOWN_VALUE)
			status = STATUS_UNKNOWN;
	}
	return status;
}

const char *cp_baseline_number(struct cp_arena *arena, double value)
{
	char text[48];

	if (value >= 0 && value < 9e15 && value == floor(value))
		return cp_text_integer(arena, (uint64_t)value);
	snprintf(text, sizeof(text), "%.6g", value);
	return cp_arena_copy(arena, text, strlen(text));
}

const char *cp_baseline_change(
	struct cp_arena *arena, const struct cp_baseline_line *line)
{
	double by = line->now - line->value;
	char text[48];

	if (by == 0)
		return "=";
	if (line->value == 0)
		snprintf(text, sizeof(text), "%+g", by);
	else
		snprintf(text, sizeof(text), "%+.3g %%", 100 * by / fabs(line->value));
	return cp_arena_copy(arena, text, strlen(text));
}

/* ", ±1.2 %", of a difference between samples. */
static const char *off_text(struct cp_arena *arena, const struct cp_baseline_line *line)
{
	if (line->off <= 0)
		return "";
	if (line->value == 0)
		return cp_text_format(
			arena, ", \u00b1%s", cp_text_decimal(arena, line->off));
	return cp_text_format(arena, ", \u00b1%s %%",
		cp_text_decimal(arena, 100 * line->off / fabs(line->value)));
}

const char *cp_baseline_sentence(
	const struct cp_baseline *gate, const struct cp_baseline_line *line)
{
	const char *allowed = line->tolerance ? line->tolerance : gate->tolerance;

	if (line->result == CP_BASELINE_UNKNOWN_VALUE)
		return cp_text_format(gate->arena, "%s of %s: the run has no such value",
			line->name, line->region);
	return cp_text_format(gate->arena, "%s of %s: %s -> %s (%s%s), %s is allowed",
		line->name, line->region, cp_baseline_number(gate->arena, line->value),
		cp_baseline_number(gate->arena, line->now),
		cp_baseline_change(gate->arena, line), off_text(gate->arena, line),
		allowed);
}
