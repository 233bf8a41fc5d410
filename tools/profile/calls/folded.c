/* SPDX-License-Identifier: MIT
 *
 * Folded stacks, as flamegraph.pl, inferno and speedscope read them: a line for each
 * stack that has misses by itself, and how many.
 */
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/calls/stacks.h"
#include "tools/profile/model/write.h"

/* The separator of frames cannot stand in a frame. */
static const char *frame_text(struct cp_arena *arena, const char *text)
{
	const char *safe = cp_text_safe(arena, cp_slice_of(text));
	char *copy = cp_arena_copy(arena, safe, strlen(safe));

	for (char *at = strchr(copy, ';'); at; at = strchr(at, ';'))
		*at = ':';
	return copy;
}

void cp_profile_write_folded(struct cp_out *out, const struct cp_profile_view *view)
{
	struct cp_arena *arena = view->profile->arena;
	const struct cp_stacks *stacks = cp_stacks_of(view, false);
	const char **name = cp_arena_alloc(arena, (stacks->nframes + 1) * sizeof(*name));
	size_t *list = cp_arena_alloc(arena, (stacks->n + 1) * sizeof(*list));

	for (size_t i = 0; i < stacks->nframes; i++)
		name[i] = frame_text(arena, stacks->frame[i].name);
	for (size_t i = 0; i < stacks->n; i++) {
		uint64_t misses = stacks->stack[i].own[stacks->misses];
		size_t n = misses ? cp_stack_frames(stacks, i, list) : 0;

		for (size_t f = 0; f < n; f++)
			cp_out_format(out, "%s%s", f ? ";" : "", name[list[f]]);
		if (n)
			cp_out_format(out, " %lu\n", (unsigned long)misses);
	}
}
