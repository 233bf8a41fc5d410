/* SPDX-License-Identifier: MIT
 *
 * The baseline: JSON with a line for each region and value, made to be read in the diff
 * of a commit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/gate/gate.h"
#include "tools/gate/file.h"
#include "tools/shared/json_file.h"

#define TOLERANCE "0.5%"

bool cp_baseline_tolerance(const char *text, double *limit, bool *relative)
{
	char *end;

	*limit = strtod(text, &end);
	*relative = *end == '%';
	if (*relative)
		*limit /= 100;
	return end != text && isfinite(*limit) && *limit >= 0 &&
	       strcmp(end, *relative ? "%" : "") == 0;
}

static bool refuse_line(const struct cp_baseline *gate, unsigned line, const char *why)
{
	fprintf(stderr, "cachepeek: gate: %s:%u: %s\n", gate->file, line, why);
	return false;
}

/* Which line of the file has the nth value: each has one with its path. */
static void find_lines(struct cp_baseline *gate)
{
	FILE *file = cp_gate_read(gate->file);
	char text[4096];
	unsigned number = 1;
	size_t n = 0;

	while (file && fgets(text, sizeof(text), file)) {
		if (strstr(text, "\"path\"") && n < gate->nlines)
			gate->lines[n++].number = number;
		number += strchr(text, '\n') != NULL;
	}
	if (file)
		fclose(file);
}

static const char *region_of(struct cp_baseline *gate, const json_t *path)
{
	const char *all = "";

	for (size_t i = 0; i < json_array_size(path); i++) {
		const char *name = json_string_value(json_array_get(path, i));

		all = cp_text_format(
			gate->arena, "%s%s%s", all, i ? "/" : "", name ? name : "");
	}
	return *all ? all : "whole run";
}

/* "2%", "100" or 100; what is neither is refused as a tolerance. */
static const char *tolerance_of(struct cp_baseline *gate, const json_t *value)
{
	const json_t *tolerance = json_object_get(value, "tolerance");
	char text[48];

	if (!tolerance || json_is_string(tolerance))
		return json_string_value(tolerance);
	snprintf(text, sizeof(text), "%g",
		json_is_number(tolerance) ? json_number_value(tolerance) : NAN);
	return cp_arena_copy(gate->arena, text, strlen(text));
}

static bool read_line(
	struct cp_baseline *gate, struct cp_baseline_line *line, const json_t *value)
{
	const json_t *number = json_object_get(value, "value");
	const char *worse = json_string_value(json_object_get(value, "worse"));

	line->path = json_object_get(value, "path");
	line->name = json_string_value(json_object_get(value, "name"));
	line->tolerance = tolerance_of(gate, value);
	line->value = json_number_value(number);
	line->was_off = fabs(json_number_value(json_object_get(value, "error")));
	line->lower = worse && strcmp(worse, "lower") == 0;
	if (!json_is_array(line->path) || !line->name || !json_is_number(number))
		return refuse_line(gate, line->number,
			"a value has \"path\" (a list), \"name\" "
			"and \"value\" (a number)");
	if (worse && !line->lower && strcmp(worse, "higher") != 0)
		return refuse_line(
			gate, line->number, "\"worse\" is \"higher\" or \"lower\"");
	if (!cp_baseline_tolerance(line->tolerance ? line->tolerance : gate->tolerance,
		    &line->limit, &line->relative))
		return refuse_line(gate, line->number,
			"a tolerance is a number, as \"0.5%\" or \"100\"");
	line->region = region_of(gate, line->path);
	return true;
}

static bool read_lines(struct cp_baseline *gate, const json_t *values)
{
	gate->nlines = json_array_size(values);
	gate->lines =
		cp_arena_alloc(gate->arena, (gate->nlines + 1) * sizeof(*gate->lines));
	find_lines(gate);
	for (size_t i = 0; i < gate->nlines; i++)
		if (!read_line(gate, &gate->lines[i], json_array_get(values, i)))
			return false;
	return true;
}

static const char *text_of(const json_t *document, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(document, key));

	return text ? text : otherwise;
}

bool cp_baseline_read(struct cp_baseline *gate)
{
	json_error_t fault;
	const char *schema;

	gate->document = cp_json_file(gate->file, &fault);
	gate->tolerance = tolerance_of(gate, gate->document);
	if (!gate->tolerance)
		gate->tolerance = TOLERANCE;
	if (!gate->document && access(gate->file, F_OK) < 0)
		return true;
	if (!gate->document)
		return refuse_line(gate, fault.line > 0 ? (unsigned)fault.line : 1,
			cp_text_format(gate->arena,
				fault.line > 0
					? "%s: this is no baseline: --update makes "
					  "one of a run, where there is no file"
					: "%s",
				fault.text));
	schema = text_of(gate->document, "schema", "none");
	if (strcmp(schema, CP_BASELINE_SCHEMA) != 0)
		return refuse_line(
			gate, 1, "this is no baseline: --update makes one of a run");
	gate->engine = text_of(gate->document, "engine", NULL);
	gate->machine = text_of(gate->document, "machine", NULL);
	gate->environment = text_of(gate->document, "environment", NULL);
	return read_lines(gate, json_object_get(gate->document, "values"));
}

/* ---- writing ---- */

static bool is_named(const char *metrics, const char *name)
{
	const char *piece;
	size_t length;

	if (!metrics)
		return cp_ends_with(name, "_misses");
	while ((piece = cp_next_piece(&metrics, ',', &length)))
		if (strlen(name) == length && strncmp(piece, name, length) == 0)
			return true;
	return false;
}

/* Half of the interval, of what was sampled. */
static void set_error(json_t *value, const struct cp_entry *entry)
{
	double error = cp_cell_error(&entry->side[1]);

	json_object_del(value, "error");
	if (error >= 0)
		json_object_set_new(value, "error", cp_json_number(error));
}

static json_t *value_of(const struct cp_entry *entry)
{
	json_t *value = json_pack("{s:O, s:s, s:o}", "path", entry->spot->names, "name",
		entry->name, "value", cp_json_number(entry->side[1].runs.mean));

	set_error(value, entry);
	return value;
}

static json_t *new_values(const struct cp_baseline *gate, const char *metrics)
{
	json_t *all = json_array();

	for (size_t i = 0; i < gate->values->nentries; i++) {
		const struct cp_entry *entry = gate->values->entries[i];

		if (entry->side[1].runs.n && is_named(metrics, entry->name) &&
			cp_gate_is_worth(gate, entry))
			json_array_append_new(all, value_of(entry));
	}
	return all;
}

/* The rest of the line stays as it is. */
static json_t *renewed_values(const struct cp_baseline *gate)
{
	json_t *all = json_array();

	for (size_t i = 0; i < gate->nlines; i++) {
		const struct cp_baseline_line *line = &gate->lines[i];
		json_t *value = json_copy(
			json_array_get(json_object_get(gate->document, "values"), i));

		if (line->entry) {
			json_object_set_new(value, "value", cp_json_number(line->now));
			set_error(value, line->entry);
		}
		json_array_append_new(all, value);
	}
	return all;
}

static void put_pair(FILE *file, const char *key, const char *text)
{
	json_t *value = json_string(text ? text : "");
	char *dumped = json_dumps(value, JSON_ENCODE_ANY);

	fprintf(file, "\"%s\": %s", key, dumped ? dumped : "\"\"");
	free(dumped);
	json_decref(value);
}

static void put_member(FILE *file, const char *key, const char *text)
{
	put_pair(file, key, text);
	fputs(",\n", file);
}

static void put_values(FILE *file, const json_t *values)
{
	for (size_t i = 0; i < json_array_size(values); i++) {
		char *text = json_dumps(json_array_get(values, i), JSON_PRESERVE_ORDER);

		fprintf(file, "  %s%s\n", text ? text : "",
			i + 1 < json_array_size(values) ? "," : "");
		free(text);
	}
}

struct contents {
	const struct cp_baseline *gate;
	const json_t *values;
};

static void put_baseline(FILE *file, const void *context)
{
	const struct contents *it = context;
	const struct cp_side *runs = &it->gate->values->sides[1];

	fputs("{\n", file);
	put_member(file, "schema", CP_BASELINE_SCHEMA);
	put_member(file, "engine", runs->engine);
	put_member(file, "machine", runs->machine);
	put_member(file, "tolerance", it->gate->tolerance);
	fputs("\"values\": [\n", file);
	put_values(file, it->values);
	fputs("]", file);
	if (runs->environment) {
		fputs(",\n", file);
		put_pair(file, "environment", runs->environment);
	}
	fputs("\n}\n", file);
}

static bool write_file(const struct cp_baseline *gate, const json_t *values)
{
	return cp_gate_write(
		gate->file, put_baseline, &(const struct contents){gate, values});
}

bool cp_baseline_update(struct cp_baseline *gate, const char *metrics)
{
	json_t *values =
		gate->document ? renewed_values(gate) : new_values(gate, metrics);
	bool done = json_array_size(values) > 0;

	if (!done)
		fprintf(stderr,
			"cachepeek: gate: the runs have none of %s: "
			"name others with --metrics\n",
			metrics);
	else
		done = write_file(gate, values);
	json_decref(values);
	return done;
}
