/* SPDX-License-Identifier: MIT
 *
 * The answers of the text report, for who reads JSON and for pages: the same lines, from
 * the same functions.
 */
#include <errno.h>
#include <string.h>

#include "output/json_lines.h"
#include "output/text/text_parts.h"

struct answer {
	const struct cp_group *group;  /* NULL: to what was asked for beside the groups */
	const char *ranked_by;         /* a metric or a quantity; NULL: nothing */
	const struct cp_region *first; /* the region with the mark; NULL: none */
	struct cp_answer lines;
};

struct answers {
	size_t count;
	struct answer *of;
};

static void find_answer(
	struct cp_text *text, const struct cp_group *group, struct answer *answer)
{
	answer->group = group;
	text->kept = &answer->lines;
	if (group) {
		cp_text_verdict(text, group);
		answer->ranked_by = cp_text_mark(text->report, group);
		answer->first = cp_text_worst(text, answer->ranked_by);
	} else {
		cp_text_answers(text);
	}
}

static struct answers find_answers(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	struct answers found = {.of = cp_arena_alloc(text->arena,
					(report->ngroups + 1) * sizeof(*found.of))};

	for (size_t i = 0; i <= report->ngroups; i++) {
		struct answer *next = &found.of[found.count];

		memset(next, 0, sizeof(*next));
		find_answer(text, i ? report->groups[i - 1] : NULL, next);
		found.count += next->lines.count > 0 || next->first;
	}
	return found;
}

void cp_json_answer(struct cp_out *out, const struct cp_answer *answer)
{
	cp_out_text(out, "[");
	for (size_t i = 0; i < answer->count; i++) {
		cp_out_text(out, i ? ", {" : "{");
		cp_json_pair(out, "title", answer->line[i].label);
		cp_json_next(out, "text", answer->line[i].text);
		cp_out_text(out, "}");
	}
	cp_out_text(out, "]");
}

static void put_answer(struct cp_json *json, const struct answer *answer)
{
	cp_json_indent(json);
	cp_out_text(json->out, "{\"group\": ");
	cp_json_put(json, answer->group ? answer->group->name : NULL);
	cp_json_inline_text(json, "ranked_by", answer->ranked_by);
	cp_out_text(json->out, ", \"look_first\": ");
	if (answer->first)
		cp_json_path(json->out, answer->first);
	else
		cp_out_text(json->out, "null");
	cp_out_text(json->out, ", \"lines\": ");
	cp_json_answer(json->out, &answer->lines);
	cp_out_text(json->out, "}");
}

void cp_json_answers(struct cp_json *json)
{
	struct cp_escape out_of_memory;
	struct cp_arena arena = {.out_of_memory = &out_of_memory};
	struct cp_text text = {.arena = &arena, .report = json->report, .width = 80};

	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		struct answers found = find_answers(&text);

		cp_json_key(json, "answers");
		cp_json_open(json, "[");
		for (size_t i = 0; i < found.count; i++)
			put_answer(json, &found.of[i]);
		cp_json_close(json, "]");
	} else {
		json->out->error = ENOMEM;
	}
	cp_arena_free(&arena);
}
