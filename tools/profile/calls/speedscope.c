/* SPDX-License-Identifier: MIT
 *
 * The file format of speedscope: frames, and for each quantity a "sampled" profile,
 * whose samples are the stacks that have some of it by themselves.
 */
#include "output/json.h"
#include "base/text/table.h"
#include "tools/profile/calls/stacks.h"
#include "tools/profile/model/write.h"

struct scope {
	struct cp_out *out;
	const struct cp_profile_view *view;
	const struct cp_stacks *stacks;
	size_t *list;
};

static void put_frames(struct scope *s)
{
	cp_out_text(s->out, "\"shared\": {\"frames\": [");
	for (size_t i = 0; i < s->stacks->nframes; i++) {
		const struct cp_stack_frame *frame = &s->stacks->frame[i];

		cp_out_text(s->out, i ? ",\n{" : "\n{");
		cp_json_pair(s->out, "name", frame->name);
		if (*frame->file || *frame->module) {
			cp_json_next(s->out, "file",
				*frame->file ? frame->file : frame->module);
		}
		if (*frame->file && frame->line)
			cp_out_format(s->out, ", \"line\": %u", frame->line);
		cp_out_text(s->out, "}");
	}
	cp_out_text(s->out, "]},\n");
}

static uint64_t total_of(const struct cp_stacks *stacks, size_t quantity)
{
	uint64_t total = 0;

	for (size_t i = 0; i < stacks->n; i++)
		total += stacks->stack[i].own[quantity];
	return total;
}

static void put_samples(struct scope *s, size_t quantity)
{
	const char *comma = "\n";

	cp_out_text(s->out, "\"samples\": [");
	for (size_t i = 0; i < s->stacks->n; i++) {
		size_t n;

		if (!s->stacks->stack[i].own[quantity])
			continue;
		n = cp_stack_frames(s->stacks, i, s->list);
		cp_out_text(s->out, comma);
		for (size_t f = 0; f < n; f++)
			cp_out_format(s->out, "%s%zu", f ? "," : "[", s->list[f]);
		cp_out_text(s->out, n ? "]" : "[]");
		comma = ",\n";
	}
	cp_out_text(s->out, "],\n");
}

static void put_weights(struct scope *s, size_t quantity)
{
	const char *comma = "";

	cp_out_text(s->out, "\"weights\": [");
	for (size_t i = 0; i < s->stacks->n; i++) {
		uint64_t own = s->stacks->stack[i].own[quantity];

		if (!own)
			continue;
		cp_out_format(s->out, "%s%lu", comma, (unsigned long)own);
		comma = ",";
	}
	cp_out_text(s->out, "]");
}

static void put_profile(struct scope *s, size_t quantity)
{
	cp_out_text(s->out, "{\"type\": \"sampled\", ");
	cp_json_pair(s->out, "name", s->stacks->quantity[quantity]);
	cp_out_format(s->out,
		", \"unit\": \"none\", \"startValue\": 0, \"endValue\": %lu,\n",
		(unsigned long)total_of(s->stacks, quantity));
	put_samples(s, quantity);
	put_weights(s, quantity);
	cp_out_text(s->out, "}");
}

void cp_profile_write_speedscope(struct cp_out *out, const struct cp_profile_view *view)
{
	struct scope s = {.out = out, .view = view, .stacks = cp_stacks_of(view, false)};

	s.list =
		cp_arena_alloc(view->profile->arena, (s.stacks->n + 1) * sizeof(*s.list));
	cp_out_text(out, "{\"$schema\": "
			 "\"https://www.speedscope.app/file-format-schema.json\",\n");
	cp_json_pair(out, "exporter", "cachepeek " CP_VERSION);
	cp_out_text(out, ",\n");
	cp_json_pair(out, "name", cp_stacks_title(view, s.stacks));
	cp_out_format(out, ",\n\"activeProfileIndex\": %zu,\n", s.stacks->misses);
	put_frames(&s);
	cp_out_text(out, "\"profiles\": [");
	for (size_t q = 0; q < s.stacks->nquantities; q++) {
		cp_out_text(out, q ? ",\n" : "\n");
		put_profile(&s, q);
	}
	cp_out_text(out, "]}\n");
}
