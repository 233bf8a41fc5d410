/* SPDX-License-Identifier: MIT */
#include "output/json.h"
#include "tools/profile/calls/stacks.h"

static void put_frames(struct cp_out *out, const struct cp_stacks *stacks)
{
	cp_out_text(out, "\"frames\": [");
	for (size_t i = 0; i < stacks->nframes; i++) {
		cp_out_text(out, i ? ",\n[" : "\n[");
		cp_json_quoted(out, stacks->frame[i].name);
		cp_out_text(out, ", ");
		cp_json_quoted(out, stacks->frame[i].module);
		cp_out_text(out, "]");
	}
	cp_out_text(out, "],\n");
}

static void put_stacks(struct cp_out *out, const struct cp_stacks *stacks)
{
	cp_out_text(out, "\"stacks\": [");
	for (size_t i = 0; i < stacks->n; i++) {
		const struct cp_stack *stack = &stacks->stack[i];

		cp_out_text(out, i ? ",\n[" : "\n[");
		if (i)
			cp_out_format(out, "%zu", stack->parent);
		else
			cp_out_text(out, "null");
		cp_out_format(out, ",%zu,%lu", stack->frame, (unsigned long)stack->calls);
		for (size_t q = 0; q < stacks->nquantities; q++)
			cp_out_format(out, ",%lu", (unsigned long)stack->own[q]);
		cp_out_text(out, "]");
	}
	cp_out_text(out, "]}\n");
}

void cp_stacks_write_json(struct cp_out *out, const struct cp_stacks *stacks)
{
	cp_out_format(out, "{\"percent\": %g, \"left_out\": %zu, \"misses\": %zu,\n",
		stacks->percent, stacks->left_out, stacks->misses);
	cp_out_text(out, "\"quantities\": [");
	for (size_t q = 0; q < stacks->nquantities; q++) {
		cp_out_text(out, q ? ", " : "");
		cp_json_quoted(out, stacks->quantity[q]);
	}
	cp_out_text(out, "],\n");
	put_frames(out, stacks);
	put_stacks(out, stacks);
}
