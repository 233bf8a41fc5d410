/* SPDX-License-Identifier: MIT
 *
 * --fail-if: what of a comparison makes a build fail.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "base/text/table.h"
#include "tools/diff/diff.h"

/* ---- the expression ---- */

static bool report_wrong(const char *expression, const char *why)
{
	fprintf(stderr,
		"cachepeek: --fail-if '%s': %s: write NAME [in REGION] > or < NUMBER, "
		"as 'l2_mpki>+5%%' or 'l1d_misses in solve > 1000'\n",
		expression, why);
	return false;
}

/* The last < or >: names of regions may hold some, too. */
static const char *sign_in(const char *expression)
{
	const char *found = NULL;

	for (const char *at = expression; *at; at++)
		if (*at == '<' || *at == '>')
			found = at;
	return found;
}

static bool parse_limit(struct cp_gate *gate, const char *text)
{
	char *end;

	text += strspn(text, " ");
	gate->change = *text == '+' || *text == '-';
	if (!strchr("+-.0123456789", *text) || !*text)
		return false;
	gate->limit = strtod(text, &end);
	if (end == text || !isfinite(gate->limit))
		return false;
	gate->relative = *end == '%';
	if (gate->relative) {
		gate->limit /= 100;
		end++;
	}
	return end[strspn(end, " ")] == '\0';
}

static const char *trim_text(struct cp_arena *arena, const char *at, const char *end)
{
	struct cp_slice slice = cp_slice_trim((struct cp_slice){at, end});

	return cp_arena_copy(arena, slice.at, cp_slice_length(slice));
}

bool cp_gate_parse(struct cp_arena *arena, struct cp_gate *gate, const char *expression)
{
	const char *sign = sign_in(expression), *in;

	*gate = (struct cp_gate){.expression = expression};
	if (!sign)
		return report_wrong(expression, "there is no > or <");
	gate->above = *sign == '>';
	if (!parse_limit(gate, sign + 1))
		return report_wrong(expression, "what follows > or < is no number");
	in = strstr(expression, " in ");
	in = in && in < sign ? in : NULL;
	gate->name = trim_text(arena, expression, in ? in : sign);
	gate->region = in ? trim_text(arena, in + 4, sign) : NULL;
	if (!*gate->name || (in && !*gate->region))
		return report_wrong(expression, "a name is missing");
	return true;
}

/* ---- the verdict ---- */

static bool is_at(const struct cp_gate *gate, const struct cp_difference *it)
{
	const char *path = it->entry->spot->path;

	if (strcmp(it->entry->name, gate->name) != 0)
		return false;
	if (gate->region && strcmp(gate->region, "*") == 0)
		return true;
	return strcmp(gate->region ? gate->region : "", path) == 0;
}

static double measure_side(const struct cp_gate *gate, const struct cp_difference *it)
{
	double after = it->entry->side[1].runs.mean;

	if (!gate->change)
		return after;
	if (!gate->relative || it->change == 0)
		return it->change;
	return it->ratio < 0 ? HUGE_VAL : it->ratio - 1;
}

/* By how much what the gate measures may be off, where it was sampled; DBL_MAX: by
 * anything, as a share of what may be nothing. */
static double error_of(const struct cp_gate *gate, const struct cp_difference *it)
{
	double error = gate->change ? 0 : cp_cell_error(&it->entry->side[1]);
	bool judged = gate->change && cp_is_judged_by_intervals(it->entry, &error);

	if (error <= 0 || (gate->change && !judged))
		return 0;
	if (gate->change && gate->relative)
		error /= it->entry->side[0].runs.mean;
	return isfinite(error) ? error : DBL_MAX;
}

static bool has_values(const struct cp_gate *gate, const struct cp_difference *it)
{
	return it->entry->side[1].runs.n && (!gate->change || it->entry->side[0].runs.n);
}

/* A change that may be noise does not fail, but if its interval has one that would, the
 * samples do not tell. */
static enum cp_gate_verdict judge_gate(
	const struct cp_gate *gate, const struct cp_difference *it)
{
	double value = measure_side(gate, it), error = error_of(gate, it),
	       beyond = gate->above ? value - gate->limit : gate->limit - value;
	bool noise = gate->change && it->verdict == CP_NOISE;

	if (!has_values(gate, it))
		return CP_GATE_UNKNOWN;
	if (beyond - error > 0 && !noise)
		return CP_GATE_MET;
	return error > 0 && beyond + error > 0 ? CP_GATE_UNSURE : CP_GATE_CLOSED;
}

/* The worst of the places counts: met anywhere is met. */
static bool judge_all(const struct cp_diff *diff, struct cp_gate *gate)
{
	bool found = false;

	for (size_t i = 0; i < diff->count && gate->verdict != CP_GATE_MET; i++) {
		const struct cp_difference *it = &diff->differences[i];
		enum cp_gate_verdict verdict;

		if (!is_at(gate, it))
			continue;
		found = true;
		verdict = judge_gate(gate, it);
		if (verdict <= gate->verdict)
			continue;
		gate->verdict = verdict;
		gate->at = it;
	}
	return found;
}

/* A value that was asked for and that no run has: it is among the entries. */
static const struct cp_entry *find_uncounted(
	const struct cp_diff *diff, const struct cp_gate *gate)
{
	const struct cp_values *values = diff->values;

	for (size_t i = 0; i < values->nentries; i++) {
		const struct cp_difference it = {.entry = values->entries[i]};

		if (is_at(gate, &it))
			return it.entry;
	}
	return NULL;
}

static bool is_name(const struct cp_values *values, const char *name)
{
	for (size_t i = 0; i < values->nentries; i++)
		if (strcmp(values->entries[i]->name, name) == 0)
			return true;
	return false;
}

/* Names of values, or of regions, for the nearest. */
static const char **list_candidates(const struct cp_diff *diff, bool regions)
{
	const struct cp_values *values = diff->values;
	size_t count = regions ? values->nspots : values->nentries;
	const char **list = cp_arena_alloc(diff->arena, (count + 1) * sizeof(*list));

	for (size_t i = 0; i < count; i++)
		list[i] = regions ? values->spots[i]->path : values->entries[i]->name;
	return list;
}

static bool not_there(const struct cp_diff *diff, const struct cp_gate *gate)
{
	bool region = is_name(diff->values, gate->name);
	const char *word = region ? gate->region : gate->name,
		   *nearest = cp_nearest(word ? word : "", list_candidates(diff, region));

	if (nearest && *nearest)
		fprintf(stderr,
			"cachepeek: --fail-if '%s': the runs have no %s \"%s\": "
			"did you mean \"%s\"?\n",
			gate->expression, region ? "such value in a region" : "value",
			word ? word : "", nearest);
	else
		fprintf(stderr,
			"cachepeek: --fail-if '%s': the runs have no %s \"%s\": "
			"`cachepeek diff --all` shows what they have\n",
			gate->expression, region ? "such value in a region" : "value",
			word ? word : "");
	return false;
}

bool cp_gates_judge(struct cp_diff *diff)
{
	for (size_t i = 0; i < diff->ngates; i++) {
		struct cp_gate *gate = &diff->gates[i];

		if (judge_all(diff, gate))
			continue;
		if (!find_uncounted(diff, gate))
			return not_there(diff, gate);
		gate->verdict = CP_GATE_UNKNOWN;
	}
	return true;
}

static const char *why_unknown(const struct cp_diff *diff, const struct cp_gate *gate)
{
	const struct cp_entry *entry =
		gate->at ? gate->at->entry : find_uncounted(diff, gate);
	unsigned side = entry->side[1].runs.n ? 0 : 1;
	const char *reason = entry->side[side].reason;

	return cp_text_format(diff->arena, "%s, of %s: %s", side ? "after" : "before",
		cp_diff_spot(diff->arena, entry),
		reason ? reason : "the region is not there");
}

/* " \u00b13.1 %", where the value was sampled. */
static const char *off_text(const struct cp_diff *diff, const struct cp_gate *gate)
{
	double error = error_of(gate, gate->at);

	if (error <= 0)
		return "";
	if (error >= DBL_MAX)
		return ", from what may be 0";
	if (gate->change && gate->relative)
		return cp_text_format(diff->arena, " \u00b1%s %%",
			cp_text_decimal(diff->arena, 100 * error));
	return cp_text_format(diff->arena, " \u00b1%s",
		cp_diff_number(diff->arena, gate->at->entry, error));
}

/* "l1d_misses of solve went from 1,000 to 1,020 (+2.0 % \u00b13.1 %)" */
static const char *what_is(const struct cp_diff *diff, const struct cp_gate *gate)
{
	const struct cp_entry *entry = gate->at->entry;
	const char *spot = cp_diff_spot(diff->arena, entry),
		   *after = cp_diff_number(diff->arena, entry, entry->side[1].runs.mean);

	if (gate->change)
		return cp_text_format(diff->arena, "%s of %s went from %s to %s (%s%s)",
			entry->name, spot,
			cp_diff_number(diff->arena, entry, entry->side[0].runs.mean),
			after, cp_diff_change(diff->arena, gate->at),
			off_text(diff, gate));
	return cp_text_format(diff->arena, "%s of %s is %s%s", entry->name, spot, after,
		off_text(diff, gate));
}

const char *cp_gate_text(const struct cp_diff *diff, const struct cp_gate *gate)
{
	if (gate->verdict == CP_GATE_UNKNOWN || !gate->at)
		return cp_text_format(diff->arena, "cannot judge '%s': no value %s",
			gate->expression, why_unknown(diff, gate));
	if (gate->verdict == CP_GATE_UNSURE)
		return cp_text_format(diff->arena,
			"unsure: '%s': %s: its 95 %% interval does not tell",
			gate->expression, what_is(diff, gate));
	return cp_text_format(
		diff->arena, "fails: '%s': %s", gate->expression, what_is(diff, gate));
}
