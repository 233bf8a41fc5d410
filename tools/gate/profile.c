/* SPDX-License-Identifier: MIT
 *
 * Gates for profiles (cachepeek dcache -o x.json): a function is judged as a region is,
 * and is shown at its statement that misses most.  Lines are not judged: they move with
 * each change above them.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/format.h"
#include "base/text.h"
#include "base/text/table.h"
#include "tools/diff/kinds.h"
#include "tools/gate/gate.h"
#include "tools/shared/json_file.h"

#define PROFILE_SCHEMA "cachepeek-profile/1"
#define SMALL 0.01 /* of all: a function that is not worth a line */

/* ---- as a report has them ---- */

/* Takes the first of several functions of one name in one module: they look the same. */
static void add_functions(json_t *regions, const json_t *profile, const char *status)
{
	const json_t *functions = json_object_get(profile, "functions");
	json_t *seen = json_object();

	for (size_t i = 0; i < json_array_size(functions); i++) {
		const json_t *f = json_array_get(functions, i);
		json_t *path =
			json_pack("[s, s]", cp_base_name(cp_json_word(f, "module")),
				cp_json_word(f, "function"));
		char *key = json_dumps(path, JSON_COMPACT);

		if (key && !json_object_get(seen, key))
			json_array_append_new(regions,
				json_pack("{s:O, s:o}", "path", path, "counts",
					cp_json_values(
						json_object_get(f, "counts"), status)));
		if (key)
			json_object_set_new(seen, key, json_true());
		free(key);
		json_decref(path);
	}
	json_decref(seen);
}

static json_t *report_of(const json_t *profile)
{
	bool exact = json_is_true(json_object_get(profile, "exact"));
	const char *status = exact ? "simulated" : "estimated";
	json_t *regions = json_pack("[{s:[], s:o}]", "path", "counts",
		cp_json_values(json_object_get(profile, "counts"), status));

	add_functions(regions, profile, status);
	return json_pack("{s:[s], s:{s:s}, s:{s:s}, s:o}", "command",
		cp_json_word(profile, "command"), "engine", "name",
		cp_json_word(profile, "source"), "machine", "description",
		cp_json_word(profile, "machine"), "regions", regions);
}

bool cp_gate_add(struct cp_baseline *gate, const char *name, char *error, size_t size)
{
	json_error_t fault;
	json_t *document = cp_json_file(name, &fault), *report;

	if (strcmp(cp_json_word(document, "schema"), PROFILE_SCHEMA) != 0) {
		const struct cp_json_kind *kind = cp_json_kind_of(document);

		if (kind && kind->report) {
			cp_format(error, size,
				"%s is %s: a baseline is of reports or profiles", name,
				kind->what);
			json_decref(document);
			return false;
		}
		json_decref(document);
		return cp_values_add(gate->values, 1, name, error, size);
	}
	report = report_of(document);
	cp_values_keep_run(report, document);
	cp_values_add_report(gate->values, 1, report);
	json_decref(report);
	json_decref(gate->profile);
	gate->profile = document;
	return true;
}

bool cp_gate_is_worth(const struct cp_baseline *gate, const struct cp_entry *entry)
{
	const json_t *all =
		json_object_get(json_object_get(gate->profile, "counts"), entry->name);

	return !gate->profile || !*entry->spot->path ||
	       entry->side[1].runs.mean > SMALL * json_number_value(all);
}

/* ---- where it is in the source ---- */

static const json_t *function_of(const struct cp_baseline *gate, const json_t *path)
{
	const json_t *functions = json_object_get(gate->profile, "functions");
	const char *module = json_string_value(json_array_get(path, 0)),
		   *name = json_string_value(json_array_get(path, 1));

	for (size_t i = 0; module && name && i < json_array_size(functions); i++) {
		const json_t *f = json_array_get(functions, i);

		if (strcmp(cp_base_name(cp_json_word(f, "module")), module) == 0 &&
			strcmp(cp_json_word(f, "function"), name) == 0)
			return f;
	}
	return NULL;
}

static const json_t *worst_of(const json_t *statements, const char *name)
{
	const json_t *worst = NULL;
	double most = 0;

	for (size_t i = 0; i < json_array_size(statements); i++) {
		const json_t *s = json_array_get(statements, i);
		double count = json_number_value(
			json_object_get(json_object_get(s, "counts"), name));

		if (count > most && *cp_json_word(s, "file")) {
			most = count;
			worst = s;
		}
	}
	return worst;
}

/* As it is called from here, where it lies below. */
static const char *from_here(struct cp_arena *arena, const char *path)
{
	char here[PATH_MAX];
	size_t length;

	if (!getcwd(here, sizeof(here)))
		return path;
	length = strlen(here);
	if (length > 1 && cp_starts_with(path, here) && path[length] == '/')
		return cp_arena_copy(arena, path + length + 1, strlen(path + length + 1));
	return path;
}

struct cp_gate_place cp_baseline_place(
	const struct cp_baseline *gate, const struct cp_baseline_line *line)
{
	const json_t *function = function_of(gate, line->path),
		     *statement = worst_of(
			     json_object_get(function, "statements"), line->name);
	struct cp_gate_place place = {gate->file, line->number};

	if (statement) {
		place.file = from_here(gate->arena, cp_json_word(statement, "file"));
		place.line =
			(unsigned)json_integer_value(json_object_get(statement, "line"));
	}
	return place;
}
