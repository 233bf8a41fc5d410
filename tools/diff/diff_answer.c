/* SPDX-License-Identifier: MIT
 *
 * The answer that a comparison gives before its tables, in each of its forms: whether the
 * run costs less, because of what, and what to doubt.
 */
#include <math.h>
#include <string.h>

#include "tools/diff/diff.h"
#include "tools/diff/timed.h"

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

bool cp_diff_is_estimated(const struct cp_entry *entry)
{
	return entry->side[0].status == CP_ESTIMATED ||
	       entry->side[1].status == CP_ESTIMATED;
}

static const char *how_sure(struct cp_arena *arena, const struct cp_difference *it)
{
	if (cp_diff_is_estimated(it->entry) && it->verdict == CP_UNTESTED)
		return ", estimated";
	if (it->verdict == CP_UNTESTED)
		return ", not tested";
	if (it->verdict == CP_EXACTLY)
		return ", exact";
	return cp_text_format(arena, ", p %s", cp_diff_certainty(arena, it));
}

const char *cp_diff_short(
	struct cp_arena *arena, const struct cp_entry *entry, double value)
{
	const char *about = cp_diff_is_estimated(entry) ? "~" : "";

	return cp_text_format(arena, "%s%s", about,
		strcmp(entry->unit, "s") == 0 ? cp_text_seconds(arena, value)
					      : cp_text_short(arena, value));
}

/* "miss_cost ~1.36 M to ~2.05 M (+50.8 %, estimated)" */
static const char *in_words(struct cp_arena *arena, const struct cp_difference *it)
{
	const struct cp_entry *entry = it->entry;
	double before = entry->side[0].runs.mean, after = entry->side[1].runs.mean;

	if (it->verdict == CP_SAME)
		return cp_text_format(arena, "the same %s, %s", entry->name,
			cp_diff_short(arena, entry, before));
	return cp_text_format(arena, "%s %s to %s (%s%s)", entry->name,
		cp_diff_short(arena, entry, before), cp_diff_short(arena, entry, after),
		cp_diff_change(arena, it), how_sure(arena, it));
}

/* How far apart they may be all the same, in percent of before. */
static const char *within(struct cp_arena *arena, const struct cp_difference *it)
{
	double before = fabs(it->entry->side[0].runs.mean),
	       error = it->verdict == CP_NOISE ? cp_diff_error(it) : 0,
	       most = 100 * (fabs(it->change) + fmax(error, 0)) / before;

	if (!(before > 0))
		return " by more than noise";
	return cp_text_format(arena, " within %s %%",
		most < 0.1 ? "0.1" : cp_text_format(arena, "%.1f", most));
}

/* Predicted, where a simulated machine says it. */
static const char *word_of(const struct cp_diff *diff)
{
	bool predicted = strcmp(diff->values->sides[1].engine, "sim") == 0 &&
			 strcmp(diff->cost->word, "time") == 0;

	return cp_text_format(
		diff->arena, "%s%s", predicted ? "predicted " : "", diff->cost->word);
}

/* "cost within 0.4 %: miss_cost ~2.07 M to ~2.06 M (-0.4 %, estimated)" */
static const char *verdict_text(
	const struct cp_diff *diff, const struct cp_difference *it)
{
	const char *words = in_words(diff->arena, it);

	if (!cp_diff_is_small(it) || it->verdict == CP_SAME)
		return words;
	return cp_text_format(
		diff->arena, "%s%s: %s", word_of(diff), within(diff->arena, it), words);
}

static void add_verdict(
	const struct cp_diff *diff, const struct cp_difference *it, struct cp_answer *to)
{
	static const char *const others[] = {"instructions", "time_s"};
	const char *line = verdict_text(diff, it), *label = "no change";

	if (!cp_diff_is_small(it))
		label = cp_text_format(diff->arena, "%s %s",
			it->change < 0 ? "less" : "more", word_of(diff));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const struct cp_difference *other = cp_diff_of_run(diff, others[i]);

		if (other && other->verdict != CP_ONE_SIDED && other != it &&
			!cp_diff_is_estimated(other->entry))
			line = cp_text_format(diff->arena, "%s; %s", line,
				in_words(diff->arena, other));
	}
	cp_answer_add(to, label, line);
}

/* ---- which parts of it changed ---- */

#define WORTH 0.01 /* of the whole run's cost */
#define PARTS 4

static double larger_of(const struct cp_difference *it)
{
	return fmax(it->entry->side[0].runs.mean, it->entry->side[1].runs.mean);
}

static const char *label_of(const struct cp_cost *cost, const char *name)
{
	for (const struct cp_cost_part *part = cost->parts; part->name; part++)
		if (strcmp(part->name, name) == 0)
			return part->label;
	return NULL;
}

/* "memory -33.9 M (-98.0 %)" */
static const char *part_text(
	struct cp_arena *arena, const struct cp_difference *it, const char *label)
{
	return cp_text_format(arena, "%s %s%s (%s)", label, it->change < 0 ? "-" : "+",
		cp_diff_short(arena, it->entry, fabs(it->change)) +
			cp_diff_is_estimated(it->entry),
		cp_diff_change(arena, it));
}

/* The differences have the parts in their order. */
static void add_causes(const struct cp_diff *diff, const struct cp_difference *whole,
	struct cp_answer *to)
{
	const char *line = "";
	unsigned n = 0;

	for (size_t i = 0; i < diff->count && n < PARTS; i++) {
		const struct cp_difference *it = &diff->differences[i];
		const char *label = it->role == CP_PART
					    ? label_of(diff->cost, it->entry->name)
					    : NULL;

		if (!label || it->verdict == CP_ONE_SIDED || cp_diff_is_small(it) ||
			fabs(it->change) < WORTH * larger_of(whole))
			continue;
		line = cp_text_listed(
			diff->arena, line, part_text(diff->arena, it, label));
		n++;
	}
	if (n)
		cp_answer_add(to, "causes", line);
}

/* ---- what speaks against it ---- */

#define APART 0.05 /* of all misses */
#define MANY 1e-4  /* of the instructions */

static double work_of(const struct cp_diff *diff)
{
	const struct cp_difference *work = cp_diff_of_run(diff, "instructions");

	return work && work->verdict != CP_ONE_SIDED ? larger_of(work) : 0;
}

static bool went_against(
	const struct cp_diff *diff, const char *name, const struct cp_difference *it)
{
	const struct cp_difference *other = cp_diff_of_run(diff, name);

	return other && other->verdict != CP_ONE_SIDED && !cp_diff_is_small(other) &&
	       (other->change > 0) != (it->change > 0);
}

/* Misses of L2 and the last level are those of prefetchers, too: what demand waits for
 * went the other way. */
static bool is_of_prefetchers(const struct cp_diff *diff, const struct cp_difference *it)
{
	if (strcmp(it->entry->name, "llc_misses") == 0)
		return went_against(diff, "cost_memory", it);
	return strcmp(it->entry->name, "l2_misses") == 0 &&
	       went_against(diff, "cost_memory", it) && went_against(diff, "cost_l3", it);
}

/* Adds the misses that changed most of those that went the other way than their cost, or
 * a way that it did not go. */
static void add_contradiction(const struct cp_diff *diff,
	const struct cp_difference *whole, struct cp_answer *to)
{
	static const char *const names[] = {
		"l1d_misses", "l2_misses", "llc_misses", "dtlb_walks", "misses"};
	const struct cp_difference *found = NULL;
	bool same = cp_diff_is_small(whole);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct cp_difference *it = cp_diff_of_run(diff, names[i]);

		if (!it || it == whole || it->verdict == CP_ONE_SIDED ||
			cp_diff_is_small(it) ||
			fabs(it->change) < APART * larger_of(it) ||
			fabs(it->change) < MANY * work_of(diff) ||
			(!same && (it->change > 0) == (whole->change > 0)) ||
			is_of_prefetchers(diff, it))
			continue;
		if (!found || fabs(it->change) > fabs(found->change))
			found = it;
	}
	if (found)
		cp_answer_add(to, "and yet",
			cp_text_format(diff->arena, "%s misses, %s",
				found->change > 0 ? "more" : "fewer",
				in_words(diff->arena, found)));
}

/* ---- all of it ---- */

static void answer_without_cost(const struct cp_diff *diff, struct cp_answer *to)
{
	const struct cp_difference *work = cp_diff_of_run(diff, "instructions");
	bool any = diff->count && cp_is_flagged(&diff->differences[0]),
	     untested = diff->count && diff->differences[0].verdict == CP_UNTESTED;

	if (work && work->verdict != CP_ONE_SIDED)
		cp_answer_add(to, "work", in_words(diff->arena, work));
	else
		cp_answer_add(to, "difference",
			any        ? "see the values: both sides have no cost"
			: untested ? "not tested: too few runs to tell a difference "
				     "from noise"
				   : "no value differs by more than noise");
}

/* "zen3 ~3.44 M to ~1.71 M (-50.3 %, estimated)" of each machine that differs. */
static const char *machines_text(const struct cp_diff *diff, unsigned counts[3])
{
	const char *line = "";

	for (size_t i = 0; i < diff->nplaces; i++) {
		const struct cp_cost_place *place = &diff->places[i];
		const struct cp_entry *entry =
			cp_cost_entry(diff->values, place->spot, diff->cost->name);
		const struct cp_difference *it = diff->by_entry[entry->index];

		if (!it || it->verdict == CP_ONE_SIDED)
			continue;
		counts[cp_diff_is_small(it) ? 0 : it->change < 0 ? 1 : 2]++;
		if (!cp_diff_is_small(it))
			line = cp_text_format(diff->arena, "%s%s%s %s", line,
				*line ? "; " : "", cp_diff_spot(diff->arena, entry),
				in_words(diff->arena, it));
	}
	return line;
}

static void answer_of_machines(const struct cp_diff *diff, struct cp_answer *to)
{
	unsigned counts[3] = {0};
	const char *line = machines_text(diff, counts), *label = counts[1] && counts[2]
									 ? "less and more"
								 : counts[1] ? "less"
									     : "more";

	if (!*line)
		cp_answer_add(to, "no change",
			cp_text_format(
				diff->arena, "%s of each machine", diff->cost->name));
	else
		cp_answer_add(to,
			cp_text_format(diff->arena, "%s %s", label, word_of(diff)), line);
}

static bool is_of_machines(const struct cp_diff *diff)
{
	return diff->nplaces && strcmp(diff->places[0].spot->what, "machine") == 0;
}

/* Answers for one run on each side, or of each machine, or values without a cost. */
static void answer_predicted(const struct cp_diff *diff, struct cp_answer *answer)
{
	const struct cp_difference *whole =
		diff->cost ? cp_diff_of_run(diff, diff->cost->name) : NULL;

	if (diff->cost && is_of_machines(diff)) {
		answer_of_machines(diff, answer);
		return;
	}
	if (!whole || whole->verdict == CP_ONE_SIDED) {
		answer_without_cost(diff, answer);
		return;
	}
	add_verdict(diff, whole, answer);
	add_causes(diff, whole, answer);
	add_contradiction(diff, whole, answer);
}

void cp_diff_answer(const struct cp_diff *diff, struct cp_answer *answer)
{
	if (diff->timed)
		cp_answer_add(answer, cp_timed_name(diff->timed->verdict),
			cp_timed_text(diff, diff->timed));
	answer_predicted(diff, answer);
}

/* ---- places ---- */

/* Worth a row: no smaller than a hundredth of the run's cost, nor than noise. */
bool cp_diff_place_counts(const struct cp_diff *diff, const struct cp_cost_place *place)
{
	const struct cp_difference *whole = cp_diff_of_run(diff, diff->cost->name);
	const struct cp_entry *entry =
		cp_cost_entry(diff->values, place->spot, diff->cost->name);
	const struct cp_difference *it = diff->by_entry[entry->index];
	double change = fabs(place->value[1] - place->value[0]),
	       least = whole ? WORTH * larger_of(whole)
			     : WORTH * fmax(place->value[0], place->value[1]);

	if (diff->all)
		return true;
	return change > 0 && change >= least && it && it->verdict != CP_NOISE;
}

const char *cp_diff_place_change(
	struct cp_arena *arena, const struct cp_cost_place *place)
{
	if (place->one_sided)
		return place->value[0] != 0 ? "gone" : "new";
	return cp_diff_change(arena,
		&(struct cp_difference){.change = place->value[1] - place->value[0],
			.ratio = place->value[0] > 0 ? place->value[1] / place->value[0]
						     : -1});
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
		if (diff->values->sides[i].cut)
			to[n++] = cp_text_format(diff->arena,
				"%s is a part of a run (%s): what differs may be that.",
				diff->values->sides[i].label, diff->values->sides[i].cut);
	for (unsigned i = 0; i < 2; i++)
		if (diff->values->sides[i].ends_differ)
			to[n++] = cp_text_format(diff->arena,
				"not all runs of %s ended as the first did (%s): "
				"they may have done something else.",
				diff->values->sides[i].label, diff->values->sides[i].end);
	return n;
}
