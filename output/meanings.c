/* SPDX-License-Identifier: MIT */
#include "output/meanings.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/embedded.h"
#include "output/json.h"
#include "output/metrics/preset.h"
#include "base/text/words.h"

struct writer {
	struct cp_out *out;
	struct cp_arena *arena;
	const char *comma;
};

/* The meaning in the line "NAME MEANING" of output/names/metrics.names; empty if none. */
static struct cp_slice meaning_of(const char *name)
{
	const char *text = cp_embedded_find("metrics.names");
	struct cp_lines lines = {.at = text ? text : ""};
	struct cp_slice line, word;

	while (cp_lines_next(&lines, &line))
		if (cp_slice_word(&line, &word) && cp_slice_is(word, name))
			return cp_slice_trim(line);
	return (struct cp_slice){0};
}

static void put_text(struct writer *to, const char *key, struct cp_slice text)
{
	cp_out_format(to->out, "\"%s\": ", key);
	cp_json_string(to->out, text.at ? text.at : "", cp_slice_length(text));
}

static void begin_object(struct writer *to, const char *name)
{
	cp_out_text(to->out, to->comma);
	cp_json_quoted(to->out, name);
	cp_out_text(to->out, ": {");
	to->comma = ",\n";
}

static void put_meaning_of_metric(
	struct writer *to, const char *name, const char *formula)
{
	begin_object(to, name);
	put_text(to, "meaning", meaning_of(name));
	if (formula) {
		cp_out_text(to->out, ", ");
		put_text(to, "formula", cp_slice_of(formula));
	}
	cp_out_text(to->out, "}");
}

static void put_metric(struct writer *to, const struct cp_metric *metric)
{
	put_meaning_of_metric(to, metric->name, metric->formula_text);
}

static bool put_quantity(struct writer *to, const char *name)
{
	const char *meaning = cp_preset_meaning(to->arena, name);

	if (!meaning)
		return false;
	begin_object(to, name);
	put_text(to, "meaning", cp_slice_of(meaning));
	cp_out_text(to->out, "}");
	return true;
}

void cp_meanings_write(struct cp_out *out, const struct cp_group *const *groups,
	size_t ngroups, const char *const *quantities, size_t nquantities)
{
	struct cp_escape out_of_memory;
	struct cp_arena arena = {.out_of_memory = &out_of_memory};
	struct writer to = {.out = out, .arena = &arena, .comma = ""};

	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		cp_out_text(out, "{");
		for (size_t i = 0; i < ngroups; i++)
			for (size_t k = 0; k < groups[i]->nmetrics; k++)
				put_metric(&to, &groups[i]->metrics[k]);
		for (size_t i = 0; i < nquantities; i++)
			put_quantity(&to, quantities[i]);
		cp_out_text(out, "}\n");
	} else {
		out->error = ENOMEM;
	}
	cp_arena_free(&arena);
}

/* ---- of names alone ---- */

static const struct cp_group **compiled_groups(struct cp_arena *arena, size_t *n)
{
	const char *const *names = cp_group_names(arena);
	const struct cp_group **groups;
	char error[256];

	for (*n = 0; names[*n];)
		++*n;
	groups = cp_arena_alloc(arena, (*n + 1) * sizeof(struct cp_group *));
	for (size_t i = 0; i < *n; i++)
		groups[i] = cp_group_find(arena, names[i], error, sizeof(error));
	return groups;
}

/* NULL: there is none, or more than one. */
static const char *only_formula(
	const struct cp_group *const *groups, size_t ngroups, const char *name)
{
	const char *formula = NULL;

	for (size_t i = 0; i < ngroups; i++) {
		const struct cp_metric *metric =
			groups[i] ? cp_group_metric(groups[i], name) : NULL;

		if (metric && formula && strcmp(formula, metric->formula_text) != 0)
			return NULL;
		if (metric)
			formula = metric->formula_text;
	}
	return formula;
}

static void put_names(struct writer *to, const char *const *names, size_t n)
{
	const struct cp_group *const *groups;
	size_t ngroups;

	groups = compiled_groups(to->arena, &ngroups);
	cp_out_text(to->out, "{");
	for (size_t i = 0; i < n; i++) {
		const char *formula = only_formula(groups, ngroups, names[i]);

		if (!put_quantity(to, names[i]) &&
			(formula || cp_slice_length(meaning_of(names[i]))))
			put_meaning_of_metric(to, names[i], formula);
	}
	cp_out_text(to->out, "}\n");
}

void cp_meanings_of_names(struct cp_out *out, const char *const *names, size_t n)
{
	struct cp_escape out_of_memory;
	struct cp_arena arena = {.out_of_memory = &out_of_memory};
	struct writer to = {.out = out, .arena = &arena, .comma = ""};

	if (CP_ESCAPE_SET(out_of_memory) == 0)
		put_names(&to, names, n);
	else
		out->error = ENOMEM;
	cp_arena_free(&arena);
}
