/* SPDX-License-Identifier: MIT
 *
 * A profile (cachepeek dcache, dtlb, icache) as a report: functions, lines and data are
 * regions.  They are the same by their names: addresses are others in another build, and
 * a line has moved where lines above it changed, so that its text says which it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/diff/kinds.h"
#include "base/text.h"
#include "tools/diff/program.h"

struct reader {
	const json_t *profile;
	const char *command, *status;
	json_t *regions;
	json_t *seen;   /* keys of regions */
	json_t *texts;  /* of lines: "FILE:LINE" */
	size_t unknown; /* lines without a text that can be trusted */
};

/* ---- what it costs ---- */

/* < 0: it has none. */
static double count_of(const json_t *counts, const char *name)
{
	const json_t *count = json_object_get(counts, name);

	return json_is_number(count) ? json_number_value(count) : -1;
}

static void set_value(json_t *values, const char *name, double value, const char *status)
{
	json_object_set_new(values, name,
		json_pack(
			"{s:f, s:s, s:s}", "value", value, "status", status, "unit", ""));
}

/* The sum of the misses by which the profile is sorted, if all of them are counted. */
static void add_misses(const struct reader *r, const json_t *counts, json_t *values)
{
	static const struct {
		const char *measurement, *names[4], *sum;
	} sums[] = {
		{"dcache", {"l1d_load_misses", "l1d_store_misses", "l1d_bypasses"},
			"misses"},
		{"dtlb", {"dtlb_load_misses", "dtlb_store_misses"}, "misses"},
		{"dtlb", {"dtlb_load_walks", "dtlb_store_walks"}, "walks"},
		{"icache", {"l1i_misses"}, "misses"},
	};

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		double sum = 0;
		bool all = strcmp(sums[i].measurement,
				   cp_json_word(r->profile, "measurement")) == 0;

		for (const char *const *name = sums[i].names; all && *name; name++) {
			all = count_of(counts, *name) >= 0;
			sum += count_of(counts, *name);
		}
		if (all)
			set_value(values, sums[i].sum, sum, r->status);
	}
}

static double larger(double one, double other)
{
	return one > other ? one : other;
}

/* Lines that loads or code got from a level, and those that stores got there. */
static double lines_from(const struct reader *r, const json_t *counts, unsigned level)
{
	static const char *const loads[] = {
		"load_from_l2", "load_from_llc", "load_from_memory"};
	static const char *const code[] = {
		"fetch_from_l2", "fetch_from_llc", "fetch_from_memory"};
	static const char *const stores[] = {
		"l1d_store_lines", "l2_store_lines", "llc_store_lines"};
	bool no_llc = !json_is_number(
		json_object_get(json_object_get(r->profile, "latencies"), "llc"));
	double n = larger(count_of(counts, loads[level]), 0) +
		   larger(count_of(counts, code[level]), 0),
	       missed = level < 2 ? larger(count_of(counts, stores[level + 1]), 0) : 0;

	if (no_llc && level == 2)
		return n + larger(count_of(counts, stores[1]), 0);
	return n + larger(larger(count_of(counts, stores[level]), 0) - missed, 0);
}

/* Adds what its misses cost if nothing hides it, as the report of a run has it: lines by
 * the latency of the level that they came from. */
static void add_cost(const struct reader *r, const json_t *counts, json_t *values)
{
	static const char *const names[] = {"cost_l2", "cost_l3", "cost_memory"},
				 *const keys[] = {"l2", "llc", "memory"};
	const json_t *latencies = json_object_get(r->profile, "latencies");
	double sum = 0;

	if (count_of(counts, "load_latency") < 0 && count_of(counts, "fetch_latency") < 0)
		return;
	for (unsigned level = 0; level < 3; level++) {
		double latency = count_of(latencies, keys[level]),
		       cost = latency * lines_from(r, counts, level);

		if (latency < 0)
			continue;
		set_value(values, names[level], cost, "estimated");
		sum += cost;
	}
	set_value(values, "miss_cost", sum, "estimated");
}

/* ---- regions ---- */

/* Half of the intervals of what was sampled. */
static void add_errors(const json_t *errors, json_t *values)
{
	const char *name;
	json_t *value;

	json_object_foreach(values, name, value)
	{
		json_t *error = json_object_get(errors, name);

		if (json_is_number(error))
			json_object_set(value, "error", error);
	}
}

static json_t *values_of(const struct reader *r, const json_t *of)
{
	json_t *counts = json_object_get(of, "counts"),
	       *values = cp_json_values(counts, r->status);

	add_errors(json_object_get(of, "errors"), values);
	add_misses(r, counts, values);
	add_cost(r, counts, values);
	return values;
}

/* Data of one name, and functions of one in a module, are one region. */
static void add_up(json_t *to, const json_t *values)
{
	const char *name;
	json_t *value, *sum;

	json_object_foreach((json_t *)values, name, value)
	{
		sum = json_object_get(to, name);
		if (!json_is_number(json_object_get(sum, "value")) ||
			!json_is_number(json_object_get(value, "value")))
			continue;
		json_object_del(sum, "error");
		json_object_set_new(sum, "value",
			json_real(json_number_value(json_object_get(sum, "value")) +
				  json_number_value(json_object_get(value, "value"))));
	}
}

/* Takes the path.  Returns the region if it is a new one. */
static json_t *add_region(
	struct reader *r, const char *what, json_t *path, const json_t *of)
{
	json_t *values = values_of(r, of), *region = NULL;
	char *key = json_dumps(path, JSON_COMPACT);
	json_t *known = key ? json_object_get(r->seen, key) : NULL;

	if (known)
		add_up(known, values);
	else
		region = json_pack(
			"{s:O, s:s, s:O}", "path", path, "what", what, "counts", values);
	if (region && key) {
		json_object_set(r->seen, key, values);
		json_array_append_new(r->regions, region);
	}
	free(key);
	json_decref(values);
	json_decref(path);
	return region;
}

/* ---- lines ---- */

/* Where a file was changed after it was compiled, its text is another one's. */
static void read_texts(struct reader *r)
{
	const json_t *sources = json_object_get(r->profile, "sources"), *source, *line;
	char key[4096];
	size_t i, j;

	json_array_foreach(sources, i, source)
	{
		if (json_is_true(json_object_get(source, "changed")))
			continue;
		json_array_foreach(json_object_get(source, "lines"), j, line)
		{
			snprintf(key, sizeof(key), "%s:%lld",
				cp_json_word(source, "file"),
				json_integer_value(json_object_get(line, "line")));
			if (*cp_json_word(line, "text"))
				json_object_set(
					r->texts, key, json_object_get(line, "text"));
		}
	}
}

static json_t *path_of_function(const struct reader *r, const json_t *function)
{
	const char *module = cp_json_word(function, "module"),
		   *name = cp_json_word(function, "function");

	if (cp_is_program(module, r->command))
		return json_pack("[s]", name);
	return json_pack("[s, s]", cp_base_name(module), name);
}

static json_t *text_of(const struct reader *r, const json_t *statement)
{
	char key[4096];

	snprintf(key, sizeof(key), "%s:%lld", cp_json_word(statement, "file"),
		json_integer_value(json_object_get(statement, "line")));
	return json_object_get(r->texts, key);
}

static int by_line(const void *one, const void *other)
{
	json_int_t x = json_integer_value(json_object_get(*(json_t *const *)one, "line")),
		   y = json_integer_value(
			   json_object_get(*(json_t *const *)other, "line"));

	return x < y ? -1 : x > y;
}

/* "sum", "stride.c", "s += v[i];": several lines of one text are told apart by their
 * order. */
static void add_line(struct reader *r, const json_t *function, const json_t *statement)
{
	json_t *text = text_of(r, statement), *path, *region;
	const char *file = cp_base_name(cp_json_word(statement, "file"));
	char *key;

	if (!text) {
		r->unknown += *file &&
			      cp_is_program(cp_json_word(function, "module"), r->command);
		return;
	}
	path = path_of_function(r, function);
	json_array_append_new(path, json_string(file));
	json_array_append(path, text);
	while ((key = json_dumps(path, JSON_COMPACT)) && json_object_get(r->seen, key)) {
		json_array_append_new(path, json_string("again"));
		free(key);
	}
	free(key);
	region = add_region(r, "line", path, statement);
	json_object_set(region, "line", json_object_get(statement, "line"));
	json_object_set_new(region, "file", json_string(file));
	json_object_set(region, "function", json_object_get(function, "function"));
}

static void add_lines(struct reader *r, const json_t *function)
{
	const json_t *statements = json_object_get(function, "statements");
	size_t n = json_array_size(statements);
	json_t **sorted = calloc(n + 1, sizeof(*sorted));

	for (size_t i = 0; sorted && i < n; i++)
		sorted[i] = json_array_get(statements, i);
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), by_line);
	for (size_t i = 0; sorted && i < n; i++)
		add_line(r, function, sorted[i]);
	free(sorted);
}

/* ---- data ---- */

static void add_data(struct reader *r, const json_t *data)
{
	const char *file = cp_json_word(data, "file");
	char *name = cp_without_program(cp_json_word(data, "name"), r->command);

	if (!name)
		return;
	cp_cut_number(name, ", ", " B");
	cp_cut_number(name, " (tid ", ")");
	add_region(r, "data",
		*file ? json_pack("[s, s]", name, cp_base_name(file))
		      : json_pack("[s]", name),
		data);
	free(name);
}

/* ---- Python ---- */

/* A function with what libraries had for it: a line that was changed is another one. */
static void add_python_line(struct reader *r, const json_t *line)
{
	add_region(r, "python",
		json_pack("[s, s]", cp_base_name(cp_json_word(line, "file")),
			cp_json_word(line, "function")),
		line);
}

/* ---- all of it ---- */

json_t *cp_profile_report(const json_t *profile)
{
	bool sampled = strcmp(cp_json_word(profile, "source"), "sampled") == 0,
	     exact = json_is_true(json_object_get(profile, "exact"));
	struct reader r = {.profile = profile,
		.command = cp_json_word(profile, "command"),
		.status = exact && !sampled ? "simulated" : "estimated",
		.regions = json_array(),
		.seen = json_object(),
		.texts = json_object()};
	const json_t *each;
	size_t i;

	json_array_append_new(r.regions,
		json_pack("{s:[], s:o}", "path", "counts", values_of(&r, profile)));
	read_texts(&r);
	json_array_foreach(json_object_get(profile, "functions"), i, each)
	{
		add_region(&r, "function", path_of_function(&r, each), each);
		add_lines(&r, each);
	}
	json_array_foreach(json_object_get(profile, "python_lines"), i, each)
	{
		add_python_line(&r, each);
	}
	json_array_foreach(json_object_get(profile, "data"), i, each)
	{
		add_data(&r, each);
	}
	json_decref(r.seen);
	json_decref(r.texts);
	return json_pack("{s:[s], s:O?, s:{s:s}, s:{s:s}, s:o, s:I}", "command",
		r.command, "arguments", json_object_get(profile, "arguments"), "engine",
		"name", sampled ? "perf" : "sim", "machine", "description",
		cp_json_word(profile, "machine"), "regions", r.regions,
		"lines_without_text", (json_int_t)r.unknown);
}
