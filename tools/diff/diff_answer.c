/* SPDX-License-Identifier: MIT
 *
 * What a comparison says before its table, in each of its forms: what the whole run costs
 * now, where to look first, and what to doubt.
 */
#include <string.h>

#include "base/text/table.h"
#include "tools/diff/diff.h"

const char *cp_diff_certainty(struct cp_arena *arena, const struct cp_difference *it)
{
	if (it->verdict == CP_EXACTLY)
		return "exact";
	if (it->verdict == CP_SAME)
		return "same";
	if (it->adjusted < 0)
		return "\u2014";
	if (it->adjusted < 0.001)
		return "<0.001";
	return cp_text_format(arena, "%.3f", it->adjusted);
}

const char *cp_diff_mean(
	struct cp_arena *arena, const struct cp_entry *entry, unsigned side)
{
	const struct cp_cell *cell = &entry->side[side];

	return cell->runs.n ? cp_diff_number(arena, entry, cell->runs.mean) : "\u2014";
}

/* ---- the whole run ---- */

static const struct cp_difference *of_whole_run(
	const struct cp_diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct cp_entry *entry = diff->differences[i].entry;

		if (!*entry->spot->path && strcmp(entry->name, name) == 0)
			return &diff->differences[i];
	}
	return NULL;
}

static bool is_estimated(const struct cp_entry *entry)
{
	return entry->side[0].status == CP_ESTIMATED ||
	       entry->side[1].status == CP_ESTIMATED;
}

static const char *how_sure(struct cp_arena *arena, const struct cp_difference *it)
{
	if (is_estimated(it->entry) && it->verdict == CP_UNTESTED)
		return ", estimated";
	if (it->verdict == CP_UNTESTED)
		return ", not tested";
	if (it->verdict == CP_EXACTLY)
		return ", exact";
	return cp_text_format(arena, ", p %s", cp_diff_certainty(arena, it));
}

/* "miss_cost ~1.36 M to ~2.05 M (+50.8 %, estimated)" */
static const char *in_words(struct cp_arena *arena, const struct cp_difference *it)
{
	const struct cp_entry *entry = it->entry;
	const char *about = is_estimated(entry) ? "~" : "";
	double before = entry->side[0].runs.mean, after = entry->side[1].runs.mean;

	if (it->verdict == CP_SAME)
		return cp_text_format(arena, "the same %s, %s%s", entry->name, about,
			cp_text_short(arena, before));
	if (it->verdict == CP_NOISE)
		return cp_text_format(
			arena, "%s by no more than noise apart", entry->name);
	return cp_text_format(arena, "%s %s%s to %s%s (%s%s)", entry->name, about,
		cp_text_short(arena, before), about, cp_text_short(arena, after),
		cp_diff_change(arena, it), how_sure(arena, it));
}

const char *cp_diff_whole(const struct cp_diff *diff)
{
	static const char *const names[][2] = {
		{"miss_cost", "miss_cycles"}, {"instructions", NULL}};
	const char *line = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct cp_difference *it = NULL;

		for (size_t k = 0; k < 2 && names[i][k]; k++)
			if (!it || it->verdict == CP_ONE_SIDED)
				it = of_whole_run(diff, names[i][k]);
		if (it && it->verdict != CP_ONE_SIDED)
			line = cp_text_format(diff->arena, "%s%s%s", line,
				*line ? "; " : "", in_words(diff->arena, it));
	}
	return line;
}

/* ---- where to look first ---- */

const char *cp_diff_first(const struct cp_diff *diff)
{
	const struct cp_difference *it = &diff->differences[0];
	const struct cp_entry *entry = it->entry;
	struct cp_arena *arena = diff->arena;

	if (!diff->count || !cp_is_flagged(it))
		return "";
	return cp_text_format(arena, "%s of %s: from %s to %s (%s)",
		cp_text_safe(arena, cp_slice_of(entry->name)), cp_diff_spot(arena, entry),
		cp_diff_mean(arena, entry, 0), cp_diff_mean(arena, entry, 1),
		cp_diff_change(arena, it));
}

/* ---- what to doubt ---- */

static const char *about_machines(const struct cp_diff *diff)
{
	const struct cp_side *before = &diff->values->sides[0],
			     *after = &diff->values->sides[1];

	if (strcmp(before->engine, after->engine) != 0)
		return "one side was counted by the perf engine and one was simulated: "
		       "what differs may be that.";
	if (strcmp(before->machine, after->machine) != 0)
		return cp_text_format(diff->arena,
			"the machines are not the same: \"%s\" and \"%s\".",
			before->machine, after->machine);
	return NULL;
}

size_t cp_diff_warnings(const struct cp_diff *diff, const char *to[CP_DIFF_WARNINGS])
{
	size_t n = 0;

	to[n] = about_machines(diff);
	n += to[n] != NULL;
	for (unsigned i = 0; i < 2; i++)
		if (diff->values->sides[i].ends_differ)
			to[n++] = cp_text_format(diff->arena,
				"not all runs of %s ended as the first did (%s): "
				"they may have done something else.",
				diff->values->sides[i].label, diff->values->sides[i].end);
	return n;
}
