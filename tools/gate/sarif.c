/* SPDX-License-Identifier: MIT
 *
 * Writes what a gate says as SARIF 2.1.0, which GitHub's code scanning, GitLab and
 * editors show at the lines of the source.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/table.h"
#include "tools/gate/gate.h"

#define SARIF "https://json.schemastore.org/sarif-2.1.0.json"

enum rule { REGRESSION, NOT_JUDGED };

static const struct {
	const char *id, *name, *text;
} rules[] = {
	[REGRESSION] = {"cache-regression", "CacheRegression",
		"A value is worse than the baseline allows."},
	[NOT_JUDGED] = {"cache-not-judged", "CacheNotJudged",
		"A value of the baseline could not be judged."},
};

static json_t *rules_of(void)
{
	json_t *all = json_array();

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		json_array_append_new(all,
			json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "id", rules[i].id,
				"name", rules[i].name, "shortDescription", "text",
				rules[i].text, "defaultConfiguration", "level", "error"));
	return all;
}

/* RFC 3986: what is not reserved, and the slashes. */
static const char *uri_of(struct cp_arena *arena, const char *path)
{
	char *uri = cp_arena_alloc(arena, 3 * strlen(path) + 8), *to = uri;

	if (*path == '/')
		to = stpcpy(to, "file://");
	for (; *path; path++)
		if (strchr("/-._~", *path) || (*path >= '0' && *path <= '9') ||
			(*path >= 'A' && *path <= 'Z') || (*path >= 'a' && *path <= 'z'))
			*to++ = *path;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*path);
	*to = '\0';
	return uri;
}

static json_t *artifact_of(struct cp_arena *arena, const char *path)
{
	json_t *artifact = json_pack("{s:s}", "uri", uri_of(arena, path));

	if (*path != '/')
		json_object_set_new(artifact, "uriBaseId", json_string("%SRCROOT%"));
	return artifact;
}

static json_t *location_of(
	const struct cp_baseline *gate, struct cp_gate_place place, const char *region)
{
	json_t *location = json_pack("{s:{s:o, s:{s:i}}}", "physicalLocation",
		"artifactLocation", artifact_of(gate->arena, place.file), "region",
		"startLine", place.line ? (int)place.line : 1);

	if (region)
		json_object_set_new(location, "logicalLocations",
			json_pack("[{s:s}]", "fullyQualifiedName", region));
	return location;
}

static json_t *result_of(enum rule rule, const char *text, json_t *location)
{
	return json_pack("{s:s, s:i, s:s, s:{s:s}, s:[o]}", "ruleId", rules[rule].id,
		"ruleIndex", (int)rule, "level", "error", "message", "text", text,
		"locations", location);
}

static json_t *line_result(
	const struct cp_baseline *gate, const struct cp_baseline_line *line)
{
	enum rule rule = line->result == CP_BASELINE_FAILS ? REGRESSION : NOT_JUDGED;
	json_t *result = result_of(rule, cp_baseline_sentence(gate, line),
		location_of(gate, cp_baseline_place(gate, line), line->region));
	const char *mark =
		cp_text_format(gate->arena, "%s of %s", line->name, line->region);

	/* The same result in another commit, wherever its line is then. */
	json_object_set_new(result, "partialFingerprints",
		json_pack("{s:s}", "cachepeekValue/v1", mark));
	return result;
}

static json_t *results_of(const struct cp_baseline *gate)
{
	json_t *all = json_array();

	if (gate->unlike) {
		struct cp_gate_place place = {gate->file, 1};

		json_array_append_new(all, result_of(NOT_JUDGED, gate->unlike,
						   location_of(gate, place, NULL)));
		return all;
	}
	for (size_t i = 0; i < gate->nlines; i++)
		if (gate->lines[i].result >= CP_BASELINE_FAILS)
			json_array_append_new(all, line_result(gate, &gate->lines[i]));
	return all;
}

void cp_gate_write_sarif(const struct cp_baseline *gate, FILE *file)
{
	json_t *log = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:[{s:b}], s:o}]}",
		"$schema", SARIF, "version", "2.1.0", "runs", "tool", "driver", "name",
		"cachepeek", "version", CP_VERSION, "rules", rules_of(), "invocations",
		"executionSuccessful", !gate->unlike, "results", results_of(gate));
	char *text = json_dumps(log, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

	fprintf(file, "%s\n", text ? text : "{}");
	free(text);
	json_decref(log);
}
