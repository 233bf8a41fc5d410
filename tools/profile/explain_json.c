/* SPDX-License-Identifier: MIT
 *
 * Findings from the JSON of a report.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tools/shared/json_file.h"
#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/explain.h"

static const char *text_in(struct cp_arena *arena, const json_t *in, const char *name)
{
	const char *text = json_string_value(json_object_get(in, name));

	return text ? cp_text_safe(arena, cp_slice_of(text)) : NULL;
}

static unsigned line_of(const json_t *in)
{
	json_int_t line = json_integer_value(json_object_get(in, "line"));

	return line > 0 && line <= 0x7fffffff ? (unsigned)line : 0;
}

static double known(const json_t *in, const char *name)
{
	const json_t *value = json_object_get(in, name);

	return json_is_number(value) ? json_number_value(value) : -1;
}

static struct cp_place_in_code *place_in(
	struct cp_arena *arena, const json_t *in, const char *path)
{
	struct cp_place_in_code *at = cp_arena_alloc(arena, sizeof(*at));
	struct cp_profiled_module *module = cp_arena_alloc(arena, sizeof(*module));

	*module = (struct cp_profiled_module){.path = path, .name = cp_base_name(path)};
	*at = (struct cp_place_in_code){.module = module,
		.function = cp_json_shown(arena, in, "function"),
		.file = cp_json_shown(arena, in, "file"),
		.line = line_of(in)};
	return at;
}

static struct cp_finding finding_in(struct cp_arena *arena, const json_t *in)
{
	const json_t *cost = json_object_get(in, "cost"),
		     *python = json_object_get(in, "python"),
		     *caller = json_object_get(in, "caller");
	const char *module = cp_json_shown(arena, in, "module");

	return (struct cp_finding){
		.rule = cp_json_shown(arena, in, "rule"),
		.at = *module ? place_in(arena, in, module) : NULL,
		.data = cp_json_shown(arena, in, "data"),
		.evidence = cp_json_shown(arena, in, "evidence"),
		.threshold = cp_json_shown(arena, in, "threshold"),
		.advice = cp_json_shown(arena, in, "advice"),
		.script = python ? place_in(arena, python,
					   cp_json_shown(arena, python, "file"))
				 : NULL,
		.caller = caller ? place_in(arena, caller, module) : NULL,
		.cause = cp_json_shown(arena, in, "cause"),
		.expected = cp_json_shown(arena, in, "expected"),
		.cost = {.count = known(cost, "count"),
			.of = cp_json_shown(arena, cost, "of"),
			.cycles = known(cost, "cycles"),
			.share = known(cost, "share"),
			.per_instruction = known(cost, "cycles_per_instruction")},
	};
}

static const char **texts_in(
	struct cp_arena *arena, const json_t *document, const char *name, size_t *n)
{
	const json_t *list = json_object_get(document, name);
	const char **texts =
		cp_arena_alloc(arena, (json_array_size(list) + 1) * sizeof(*texts));

	for (*n = 0; *n < json_array_size(list); ++*n) {
		const char *text = json_string_value(json_array_get(list, *n));

		texts[*n] = cp_text_safe(arena, cp_slice_of(text ? text : ""));
	}
	return *n ? texts : NULL;
}

static void read_all(
	struct cp_arena *arena, const json_t *document, struct cp_explained *to)
{
	const json_t *list = json_object_get(document, "findings");
	size_t n = json_array_size(list);
	const char *source = text_in(arena, document, "source");

	to->command = cp_json_shown(arena, document, "command");
	to->machine = cp_json_shown(arena, document, "machine");
	to->ended = text_in(arena, document, "ended");
	to->source = source ? source : "simulated";
	to->words = texts_in(arena, document, "arguments", &to->nwords);
	to->warnings = texts_in(arena, document, "warnings", &to->nwarnings);
	to->found.finding = cp_arena_alloc(arena, (n + 1) * sizeof(*to->found.finding));
	for (; to->found.n < n; to->found.n++)
		to->found.finding[to->found.n] =
			finding_in(arena, json_array_get(list, to->found.n));
	to->found.why_none = cp_advice_why_none(strcmp(to->source, "sampled") == 0,
		json_object_get(document, "sample") != NULL);
	to->found.not_looked_at = text_in(arena, document, "not_looked_at");
	to->found.below_limit = text_in(arena, document, "below_limit");
}

bool cp_explain_json(struct cp_arena *arena, const char *path, struct cp_explained *to,
	char *error, size_t size)
{
	json_error_t fault;
	json_t *document = cp_json_file(path, &fault);
	bool is_known = json_is_array(json_object_get(document, "findings"));

	*to = (struct cp_explained){.from = path, .is_file = true};
	if (!document && fault.line < 0)
		snprintf(error, size, "%s: %s", path, fault.text);
	else if (!document)
		snprintf(error, size,
			"%s:%d: not JSON (%s): "
			"make a file of that with cachepeek dcache -o FILE.json",
			path, fault.line, fault.text);
	else if (!is_known)
		snprintf(error, size,
			"%s has no findings: make a file that has some with "
			"cachepeek dcache -o FILE.json (dtlb, icache, sharing)",
			path);
	else
		read_all(arena, document, to);
	json_decref(document);
	return is_known;
}
