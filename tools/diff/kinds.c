/* SPDX-License-Identifier: MIT */
#include "tools/diff/kinds.h"

#include <string.h>

#include "base/text/table.h"
#include "output/json.h"

json_t *cp_json_values(json_t *counts, const char *status)
{
	json_t *all = json_object();

	for (void *at = json_object_iter(counts); at;
		at = json_object_iter_next(counts, at))
		json_object_set_new(all, json_object_iter_key(at),
			json_pack("{s:O, s:s}", "value", json_object_iter_value(at),
				"status", status));
	return all;
}

/* ---- cachepeek compare ---- */

/* A machine is a region, and there is no whole of them. */
static json_t *compare_report(const json_t *document)
{
	const json_t *machines = json_object_get(document, "machines"), *machine;
	json_t *regions = json_array();
	size_t i;

	json_array_foreach(machines, i, machine)
	{
		json_array_append_new(
			regions, json_pack("{s:[s], s:s, s:O?, s:O?}", "path",
					 cp_json_word(machine, "name"), "what", "machine",
					 "counts", json_object_get(machine, "counts"),
					 "metrics", json_object_get(machine, "metrics")));
	}
	return json_pack("{s:O?, s:{s:s}, s:{s:s}, s:o}", "command",
		json_object_get(document, "command"), "engine", "name", "sim", "machine",
		"description", "", "regions", regions);
}

/* ---- all of them ---- */

static const struct cp_json_kind kinds[] = {
	{CP_JSON_SCHEMA, CP_REPORT_WHAT, NULL},
	{CP_JSON_BRIEF_SCHEMA, CP_REPORT_WHAT, NULL},
	{CP_REPEAT_SCHEMA, CP_REPORT_WHAT, NULL},
	{"cachepeek-profile/1", "a profile", cp_profile_report},
	{"cachepeek-sharing/1", "what threads share (cachepeek sharing)",
		cp_sharing_report},
	{"cachepeek-compare/1", "a comparison of machines (cachepeek compare)",
		compare_report},
};

const struct cp_json_kind *cp_json_kind_of(const json_t *document)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(cp_json_word(document, "schema"), kinds[i].schema) == 0)
			return &kinds[i];
	return NULL;
}

const char *cp_json_what(
	struct cp_arena *arena, const struct cp_json_kind *kind, const json_t *document)
{
	const char *measurement = cp_json_word(document, "measurement");

	if (!*measurement)
		return kind->what;
	return cp_text_format(arena, "%s (cachepeek %s)", kind->what,
		cp_text_safe(arena, cp_slice_of(measurement)));
}
