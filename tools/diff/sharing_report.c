/* SPDX-License-Identifier: MIT
 *
 * Makes a report of what `cachepeek sharing` found: lines by the names of the data in
 * them, since their addresses are others in another build.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/kinds.h"
#include "tools/diff/program.h"

/* The reason of a run in which nobody took turns. */
#define NO_TURNS "the threads took no turns: it takes --quantum"

static double number_of(const json_t *line, const char *key)
{
	return json_number_value(json_object_get(line, key));
}

static void add_count(json_t *counts, const char *name, double value)
{
	json_t *count = json_object_get(counts, name);

	value += json_number_value(json_object_get(count, "value"));
	json_object_set_new(counts, name,
		json_pack("{s:f, s:s}", "value", value, "status", "simulated"));
}

/* Adds a count that is known only where threads take turns. */
static void add_known(json_t *counts, const json_t *line, const char *name)
{
	if (json_is_number(json_object_get(line, name)))
		add_count(counts, name, number_of(line, name));
	else
		json_object_set_new(counts, name,
			json_pack("{s:n, s:s, s:s}", "value", "status", "unavailable",
				"reason", NO_TURNS));
}

static void add_line(json_t *counts, const json_t *line)
{
	double all = number_of(line, "transfers_at_most"),
	       nothing = number_of(line, "for_nothing_at_most");
	bool is_false = strcmp(cp_json_word(line, "sharing"), "false") == 0;

	add_count(counts, "transfers_at_most", all);
	add_count(counts, "for_nothing_at_most", nothing);
	add_count(counts, "for_data_at_most", all > nothing ? all - nothing : 0);
	add_count(counts, "lines", 1);
	add_count(counts, "lines_falsely_shared", is_false);
	add_known(counts, line, "hitm");
	add_known(counts, line, "invalidations");
}

/* Lines of the same data are one region. */
static json_t *counts_of(json_t *regions, json_t *known, const char *data)
{
	json_t *counts = json_object_get(known, data);

	if (counts)
		return counts;
	counts = json_object();
	json_object_set_new(known, data, counts);
	json_array_append_new(regions, json_pack("{s:[s], s:s, s:O}", "path", data,
					       "what", "data", "counts", counts));
	return counts;
}

/* "share::counters (share.c:2)" without the program and the line, "counters". */
static char *name_of(const json_t *line, const char *command)
{
	char *name = cp_without_program(cp_json_word(line, "data"), command), *open;

	if (name && cp_cut_number(name, ":", ")")) {
		open = strrchr(name, '(');
		if (open && open > name && open[-1] == ' ')
			open[-1] = '\0';
	}
	if (name)
		cp_cut_number(name, ", ", " B");
	return name;
}

/* A run without lines that are shared has none, which is a number. */
static json_t *nothing_shared(void)
{
	const json_t *none = NULL;
	json_t *counts = json_object();

	add_line(counts, none);
	add_count(counts, "lines", -1);
	return counts;
}

json_t *cp_sharing_report(const json_t *sharing)
{
	const json_t *lines = json_object_get(sharing, "lines"), *line;
	const char *command = cp_json_word(sharing, "command");
	json_t *all = nothing_shared(),
	       *regions = json_pack("[{s:[], s:o}]", "path", "counts", all),
	       *known = json_object();
	size_t i;

	json_array_foreach(lines, i, line)
	{
		char *data = name_of(line, command);

		add_line(all, line);
		if (data)
			add_line(counts_of(regions, known, data), line);
		free(data);
	}
	json_decref(known);
	return json_pack("{s:[s], s:O?, s:{s:s}, s:{s:s}, s:o}", "command", command,
		"arguments", json_object_get(sharing, "arguments"), "engine", "name",
		"sim", "machine", "description", cp_json_word(sharing, "machine"),
		"regions", regions);
}
