/* SPDX-License-Identifier: MIT
 *
 * The answer that several runs of one program give first: how much of them is the same
 * each time, and what varies most.
 */
#include <string.h>

#include "tools/diff/diff.h"
#include "tools/runs/repeat.h"

/* The time is another one in each run: nobody asks whether. */
static bool is_counted(const struct cp_entry *entry)
{
	return entry->side[0].runs.n && entry->kind != CP_TIME;
}

static bool is_same(const struct cp_entry *entry)
{
	const struct cp_cell *cell = &entry->side[0];

	return cell->runs.min == cell->runs.max && !cell->missing;
}

static double relative_spread(const struct cp_runs *runs)
{
	return runs->mean > 0 ? cp_runs_stddev(runs) / runs->mean : 0;
}

const char *cp_repeat_spread_text(struct cp_arena *arena, const struct cp_runs *runs)
{
	double share = relative_spread(runs);

	if (runs->min == runs->max)
		return "same";
	if (share < 0.0005)
		return "<0.1 %";
	return cp_text_format(arena, "%.1f %%", 100 * share);
}

/* Rates say more than the parts of a cost, and these more than counts. */
static unsigned rank_of(const struct cp_entry *entry)
{
	bool of_run = !*entry->spot->path;

	if (entry->kind != CP_METRIC)
		return of_run;
	return 2 + 2 * (strcmp(entry->unit, "1/kinstr") == 0) + of_run;
}

static const char *kind_name(const struct cp_entry *entry)
{
	if (entry->kind != CP_METRIC)
		return "counts";
	return strcmp(entry->unit, "1/kinstr") == 0 ? "rates" : "metrics";
}

static bool varies_more(const struct cp_entry *entry, const struct cp_entry *other)
{
	if (!other || rank_of(entry) != rank_of(other))
		return !other || rank_of(entry) > rank_of(other);
	return relative_spread(&entry->side[0].runs) >
	       relative_spread(&other->side[0].runs);
}

const struct cp_entry *cp_repeat_most(const struct cp_values *values)
{
	const struct cp_entry *most = NULL;

	for (size_t i = 0; i < values->nentries; i++) {
		const struct cp_entry *entry = values->entries[i];

		if (is_counted(entry) && !is_same(entry) && varies_more(entry, most))
			most = entry;
	}
	return most;
}

static const char *steady_values(struct cp_arena *arena, const struct cp_values *values)
{
	size_t counted = 0, same = 0, nruns = values->sides[0].nruns;

	for (size_t i = 0; i < values->nentries; i++) {
		counted += is_counted(values->entries[i]);
		same += is_counted(values->entries[i]) && is_same(values->entries[i]);
	}
	if (!counted)
		return "no value was counted";
	if (nruns < 2)
		return "one run does not tell what varies";
	return cp_text_format(arena,
		"%s%s of %s counts and metrics are the same in all %zu runs",
		same == counted ? "all, " : "", cp_text_integer(arena, same),
		cp_text_integer(arena, counted), nruns);
}

void cp_repeat_answer(
	struct cp_arena *arena, const struct cp_values *values, struct cp_answer *answer)
{
	const struct cp_entry *most = cp_repeat_most(values);
	const struct cp_runs *runs = most ? &most->side[0].runs : NULL;

	cp_answer_add(answer, "steady", steady_values(arena, values));
	if (most)
		cp_answer_add(answer, "varies most",
			cp_text_format(arena,
				"%s of %s by %s (%s to %s), the most of %s %s",
				cp_text_safe(arena, cp_slice_of(most->name)),
				cp_diff_spot(arena, most),
				cp_repeat_spread_text(arena, runs),
				cp_diff_number(arena, most, runs->min),
				cp_diff_number(arena, most, runs->max),
				*most->spot->path ? "the regions'" : "the run's",
				kind_name(most)));
}
