/* SPDX-License-Identifier: MIT
 *
 * Folded stacks, as flamegraph.pl, inferno and speedscope read them: a line for each
 * function, behind its thread and module, and how many misses it has.
 */
#include <string.h>

#include "output/table.h"
#include "tools/profile/write.h"

/* What separates frames does not stand in one. */
static const char *frame(const struct cp_profile_view *view, const char *text)
{
	const char *safe = cp_text_safe(view->profile->arena, cp_slice_of(text));
	char *copy = cp_arena_copy(view->profile->arena, safe, strlen(safe));

	for (char *at = strchr(copy, ';'); at; at = strchr(at, ';'))
		*at = ':';
	return copy;
}

static void functions_of(struct cp_out *out, const struct cp_profile_view *view,
	const struct cp_rows *threads, const struct cp_row *thread)
{
	const struct cp_rows *rows = cp_rows_of(view, CP_ROW_FUNCTION, threads, thread);
	const struct cp_profiled_thread *of = thread->site->thread;

	for (size_t i = 0; i < rows->n; i++) {
		const struct cp_row *row = &rows->row[i];
		const struct cp_place_in_code *at = &row->site->at;
		double misses = cp_measure_order(
			view->profile, view->measurement, CP_BY_MISSES, &row->tally);

		if (misses <= 0)
			continue;
		if (of->tid)
			cp_out_format(out, "%s-%d",
				*of->name ? frame(view, of->name) : "thread", of->tid);
		else
			cp_out_text(out, "other threads");
		cp_out_format(out, ";%s;%s %.0f\n", frame(view, at->module->name),
			*at->function ? frame(view, at->function) : "[no symbol]",
			misses);
	}
}

void cp_profile_write_folded(struct cp_out *out, const struct cp_profile_view *view)
{
	const struct cp_rows *threads = cp_rows_of_all(view, CP_ROW_THREAD);

	for (size_t i = 0; i < threads->n; i++)
		functions_of(out, view, threads, &threads->row[i]);
}
