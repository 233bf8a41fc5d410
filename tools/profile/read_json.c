/* SPDX-License-Identifier: MIT
 *
 * A profile from its own JSON: places with their counts, and the counts of the whole.
 * Which thread had what is not in there.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/counts.h"
#include "tools/shared/json_file.h"
#include "base/text/table.h"
#include "tools/profile/read_json_paths.h"
#include "tools/profile/sampled_json.h"
#include "tools/profile/model/write.h"

struct reader {
	struct cp_profile *profile;
	struct cp_profiled_site *site; /* the next one */
};

static const char *string_of(const json_t *value)
{
	return json_is_string(value) ? json_string_value(value) : "";
}

/* Sampled ones take the place of those that sites have.  NULL: there is none. */
static const char *counter_name(const struct reader *r, unsigned index)
{
	if (!r->profile->sampled)
		return cp_profile_counters[index].name;
	return index < CP_PROFILE_FIRST
		       ? NULL
		       : cp_sampled_counter_name(index - CP_PROFILE_FIRST);
}

/* Documents from before references and lines were distinguished count lines: those
 * that the measurements compute with. */
static const json_t *count_of(const json_t *counts, const char *name)
{
	static const struct {
		const char *now, *then;
	} names[] = {{"l1d_load_lines", "l1d_load_misses"},
		{"l2_load_lines", "l2_load_misses"},
		{"llc_load_lines", "llc_load_misses"},
		{"dtlb_load_pages", "dtlb_load_misses"},
		{"dtlb_store_pages", "dtlb_store_misses"}};
	const json_t *count = name ? json_object_get(counts, name) : NULL;

	for (size_t i = 0; !count && name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].now, name) == 0)
			count = json_object_get(counts, names[i].then);
	return count;
}

/* A missing member is 0: the measurement does not use it. */
static void read_counts(const struct reader *r, const json_t *of, uint64_t *to,
	unsigned first, unsigned n)
{
	const json_t *counts = json_object_get(of, "counts");

	for (unsigned i = 0; i < n; i++) {
		double value =
			json_number_value(count_of(counts, counter_name(r, first + i)));

		to[i] = cp_count_of(value);
	}
}

/* ---- places ---- */

static size_t count_instructions(const json_t *functions)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(functions); i++) {
		const json_t *statements =
			json_object_get(json_array_get(functions, i), "statements");

		for (size_t j = 0; j < json_array_size(statements); j++)
			n += json_array_size(json_object_get(
				json_array_get(statements, j), "instructions"));
	}
	return n;
}

static struct cp_profiled_module *module_of(const struct reader *r, const char *path)
{
	struct cp_profile *profile = r->profile;
	struct cp_profiled_module *module = profile->modules;

	for (; module < profile->modules + profile->nmodules; module++)
		if (strcmp(module->path, path) == 0)
			return module;
	*module = (struct cp_profiled_module){
		.path = path, .name = !*path ? "[no file]" : cp_base_name(path)};
	profile->nmodules++;
	return module;
}

static void read_instructions(
	struct reader *r, const json_t *list, const struct cp_place_in_code *at)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *instruction = json_array_get(list, i);
		uint64_t *count = cp_arena_alloc(
			r->profile->arena, CP_PROFILE_COUNTERS * sizeof(*count));

		read_counts(r, instruction, count, CP_PROFILE_FIRST, CP_PROFILE_COUNTERS);
		r->site->thread = r->profile->threads;
		r->site->at = *at;
		r->site->at.address = cp_json_count(instruction, "address");
		r->site->count = count;
		if (r->profile->sampled)
			r->site->estimates =
				cp_sampled_json_estimates(r->profile->arena, instruction);
		r->site++;
		r->profile->nsites++;
	}
}

static void read_function(struct reader *r, const json_t *function)
{
	struct cp_place_in_code at = {
		.module = module_of(
			r, cp_json_shown(r->profile->arena, function, "module")),
		.function = cp_json_shown(r->profile->arena, function, "function")};
	const json_t *statements = json_object_get(function, "statements");

	for (size_t i = 0; i < json_array_size(statements); i++) {
		const json_t *statement = json_array_get(statements, i);

		at.file = cp_json_shown(r->profile->arena, statement, "file");
		at.line = (unsigned)cp_json_count(statement, "line");
		read_instructions(r, json_object_get(statement, "instructions"), &at);
	}
}

static void read_places(struct reader *r, const json_t *document)
{
	struct cp_profile *profile = r->profile;
	const json_t *functions = json_object_get(document, "functions");

	profile->modules = cp_arena_alloc(profile->arena,
		(json_array_size(functions) + 1) * sizeof(*profile->modules));
	profile->sites = r->site = cp_arena_alloc(
		profile->arena, (count_instructions(functions) + 1) * sizeof(*r->site));
	for (size_t i = 0; i < json_array_size(functions); i++)
		read_function(r, json_array_get(functions, i));
}

/* ---- lines of Python ---- */

static struct cp_profiled_site read_script(
	const struct reader *r, const json_t *row, const char *function)
{
	struct cp_profile *profile = r->profile;
	struct cp_profiled_module *module =
		cp_arena_alloc(profile->arena, sizeof(*module));
	uint64_t *count =
		cp_arena_alloc(profile->arena, CP_PROFILE_COUNTERS * sizeof(*count));
	const char *file = cp_json_shown(r->profile->arena, row, "file");

	*module = (struct cp_profiled_module){.path = file, .name = file};
	read_counts(r, row, count, CP_PROFILE_FIRST, CP_PROFILE_COUNTERS);
	return (struct cp_profiled_site){.thread = profile->threads,
		.count = count,
		.at = {.module = module,
			.function = function,
			.file = file,
			.line = (unsigned)cp_json_count(row, "line")}};
}

static void add_script(struct cp_profile *profile, struct cp_profiled_site **list,
	size_t *n, struct cp_profiled_site script)
{
	*list = cp_profile_grow(profile->arena, *list, *n, sizeof(**list));
	(*list)[(*n)++] = script;
}

static void read_scripts(const struct reader *r, const json_t *document)
{
	struct cp_profile *profile = r->profile;
	const json_t *functions = json_object_get(document, "python_functions"),
		     *lines = json_object_get(document, "python_lines");

	for (size_t i = 0; i < json_array_size(functions); i++) {
		const json_t *function = json_array_get(functions, i),
			     *statements = json_object_get(function, "statements");

		for (size_t j = 0; j < json_array_size(statements); j++)
			add_script(profile, &profile->scripts, &profile->nscripts,
				read_script(r, json_array_get(statements, j),
					cp_json_shown(r->profile->arena, function,
						"function")));
	}
	for (size_t i = 0; i < json_array_size(lines); i++)
		add_script(profile, &profile->own, &profile->nown,
			read_script(r, json_array_get(lines, i),
				cp_json_shown(r->profile->arena, json_array_get(lines, i),
					"function")));
}

/* ---- the head ---- */

/* A level that the machine does not have served nothing, not even no line. */
static bool is_there(const json_t *document, enum cp_weight_of of)
{
	const json_t *counts = json_object_get(document, "counts");
	const char *loads = of == CP_OF_L2 ? "load_from_l2" : "load_from_llc",
		   *fetches = of == CP_OF_L2 ? "fetch_from_l2" : "fetch_from_llc";

	return (of != CP_OF_L2 && of != CP_OF_L3) ||
	       (!json_is_null(json_object_get(counts, loads)) &&
		       !json_is_null(json_object_get(counts, fetches)));
}

static void read_weights(struct cp_profile *profile, const json_t *document)
{
	const json_t *latencies = json_object_get(document, "latencies"),
		     *from = json_object_get(document, "latencies_from");

	profile->weights = cp_weights_assumed();
	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS; of++) {
		const char *key = cp_weight_key(of);
		double cycles = json_number_value(json_object_get(latencies, key));

		if (!json_object_get(latencies, key) && of != CP_OF_L1)
			continue;
		if (!is_there(document, of) ||
			(of > CP_OF_MEMORY &&
				json_is_null(json_object_get(latencies, key))))
			profile->weights.of[of].from = CP_WEIGHT_NONE;
		else
			cp_weight_state(&profile->weights, of, cycles,
				strcmp(cp_json_word(from, key), "assumed") == 0);
		if (cycles > 0 && profile->weights.of[of].from != CP_WEIGHT_NONE &&
			strcmp(cp_json_word(from, key), "user") == 0)
			profile->weights.of[of].from = CP_WEIGHT_USER;
	}
}

/* Returns whether everything is there. */
static bool read_head(struct reader *r, const json_t *document)
{
	struct cp_profile *profile = r->profile;
	const json_t *warnings = json_object_get(document, "warnings");

	profile->command = cp_json_shown(r->profile->arena, document, "command");
	if (json_is_string(json_object_get(document, "ended")))
		profile->cut = cp_json_shown(r->profile->arena, document, "ended");
	profile->machine = cp_json_shown(r->profile->arena, document, "machine");
	read_weights(profile, document);
	profile->nprocesses = cp_json_count(document, "processes");
	profile->inexact = !json_is_true(json_object_get(document, "exact"));
	profile->threads = cp_arena_alloc(profile->arena, sizeof(*profile->threads));
	profile->nthreads = 1;
	profile->threads->name = "";
	if (strcmp(cp_json_word(document, "source"), "sampled") == 0 &&
		!cp_sampled_json_head(profile, document))
		return false;
	read_counts(r, document, profile->threads->count, 0, CP_SIM_NCOUNTERS);
	for (size_t i = 0; i < json_array_size(warnings); i++)
		cp_profile_warn(profile, "%s",
			cp_text_safe(profile->arena,
				cp_slice_of(string_of(json_array_get(warnings, i)))));
	return true;
}

/* By place, of a sample; or of shadows, which older versions had. */
static bool is_estimated(const json_t *document)
{
	return json_object_get(document, "sample") ||
	       json_object_get(document, "shadows");
}

struct cp_profile *cp_profile_read_json(struct cp_arena *arena, const char *path,
	const char **measurement, char *error, size_t error_size)
{
	json_error_t fault;
	json_t *document = cp_json_file(path, &fault);
	const char *schema = json_string_value(json_object_get(document, "schema"));
	struct reader r = {.profile = NULL};

	if (!document && fault.line < 0)
		snprintf(error, error_size, "%s: %s", path, fault.text);
	else if (!document)
		snprintf(error, error_size,
			"%s:%d: not JSON (%s): "
			"make a file of that with cachepeek dcache -o FILE.json",
			path, fault.line, fault.text);
	else if (!schema || strcmp(schema, CP_PROFILE_SCHEMA) != 0)
		snprintf(error, error_size,
			"%s is not the JSON of cachepeek dcache, dtlb or icache: "
			"make one with -o FILE.json",
			path);
	else if (is_estimated(document))
		snprintf(error, error_size,
			"%s is of a sample (CACHEPEEK_SAMPLE), whose estimates by place "
			"are not compared: make one without",
			path);
	else {
		r.profile = cp_profile_new(arena);
		*measurement = cp_json_shown(r.profile->arena, document, "measurement");
		if (read_head(&r, document)) {
			read_places(&r, document);
			read_scripts(&r, document);
			cp_profile_read_json_paths(r.profile, document);
		} else {
			r.profile = NULL;
			snprintf(error, error_size,
				"%s is of a version that wrote no estimates: "
				"name the run's directory (-d) instead",
				path);
		}
	}
	json_decref(document);
	return r.profile;
}
