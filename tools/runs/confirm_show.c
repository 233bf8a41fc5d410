/* SPDX-License-Identifier: MIT
 *
 * Shows what --confirm found: text, CSV and JSON.
 */
#include <string.h>

#include "output/csv.h"
#include "base/text/table.h"
#include "tools/diff/diff.h"
#include "tools/runs/confirm.h"

#define WIDTH 80

static const char *name_of(struct cp_arena *arena, const struct cp_confirm *region)
{
	return *region->spot->path ? cp_text_safe(arena, cp_slice_of(region->spot->path))
				   : "(whole run)";
}

static const char *ratio_of(struct cp_arena *arena, const struct cp_confirm *region)
{
	if (region->verdict == CP_NOT_TOLD || region->native <= 0)
		return "-";
	return cp_text_format(arena, "%.2f", region->predicted / region->native);
}

/* "~12.3 ms ±4 %" */
static const char *predicted_of(struct cp_arena *arena, const struct cp_confirm *region)
{
	const char *interval = "";

	if (!region->has_predicted)
		return "-";
	if (region->off >= 0 && region->predicted > 0)
		interval = cp_text_format(arena, " \u00b1%s %%",
			cp_text_decimal(arena, 100 * region->off / region->predicted));
	return cp_text_format(
		arena, "~%s%s", cp_text_seconds(arena, region->predicted), interval);
}

/* ---- what it says first ---- */

static size_t count_of(const struct cp_confirmation *c, enum cp_confirmed verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < c->count; i++)
		count += c->regions[i].verdict == verdict;
	return count;
}

static double distance_of(const struct cp_confirm *region)
{
	double ratio = region->predicted / region->native;

	return ratio > 1 ? ratio : 1 / ratio;
}

static const struct cp_confirm *worst_of(const struct cp_confirmation *c)
{
	const struct cp_confirm *worst = NULL;

	for (size_t i = 0; i < c->count; i++)
		if (c->regions[i].verdict == CP_BADLY &&
			(!worst || distance_of(&c->regions[i]) > distance_of(worst)))
			worst = &c->regions[i];
	return worst;
}

static void fill_answer(const struct cp_confirmation *c, struct cp_answer *answer)
{
	size_t well = count_of(c, CP_WELL), judged = well + count_of(c, CP_BADLY);
	const struct cp_confirm *worst = worst_of(c);

	if (judged == 1 && c->count == 1)
		cp_answer_add(answer, "explained",
			cp_text_format(c->arena,
				"%s, which has no regions; within a factor of %g",
				well ? "the whole run" : "not the whole run",
				CP_CONFIRM_FACTOR));
	else if (judged)
		cp_answer_add(answer, "explained",
			cp_text_format(c->arena,
				"%zu of the %zu that can be judged "
				"(the whole run is one), within a factor of %g",
				well, judged, CP_CONFIRM_FACTOR));
	else
		cp_answer_add(answer, "explained",
			"nothing can be judged: no region takes long enough natively, "
			"does the same in both runs and has both times");
	if (worst)
		cp_answer_add(answer, "badly explained",
			cp_text_format(c->arena,
				"%s: predicted %s, natively %s: "
				"do not trust what the model says of it",
				name_of(c->arena, worst),
				cp_text_seconds(c->arena, worst->predicted),
				cp_text_seconds(c->arena, worst->native)));
	if (count_of(c, CP_OTHER_WORK))
		cp_answer_add(answer, "other work",
			"the two runs did not call some regions equally often: "
			"a program that goes by the time, or by chance, "
			"cannot be confirmed");
}

/* When and where the native run was, and how that one, or the simulated one, was cut
 * short. */
static struct cp_side run_of(const struct cp_confirmation *c)
{
	struct cp_side run = c->values->sides[0];

	if (!run.cut)
		run.cut = c->values->sides[1].cut;
	return run;
}

/* ---- text ---- */

static void set_row(const struct cp_confirmation *c, struct cp_table *table, size_t row)
{
	const struct cp_confirm *region = &c->regions[row];
	struct cp_arena *arena = c->arena;

	cp_table_set(table, row, 0, name_of(arena, region));
	if (region->calls >= 0)
		cp_table_set(
			table, row, 1, cp_text_integer(arena, (uint64_t)region->calls));
	cp_table_set(table, row, 2,
		region->has_native ? cp_text_seconds(arena, region->native) : "-");
	cp_table_set(table, row, 3, predicted_of(arena, region));
	cp_table_set(table, row, 4, ratio_of(arena, region));
	cp_table_set(table, row, 5, cp_confirmed_name(region->verdict));
	table->marks[row] = region->verdict == CP_BADLY ? "<==" : NULL;
}

static bool is_all_cpu(const struct cp_confirmation *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->regions[i].has_native && !c->regions[i].of_cpu)
			return false;
	return true;
}

/* Where any has one. */
static const char *intervals_text(const struct cp_confirmation *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->regions[i].off >= 0)
			return "; \u00b1: how far the rounds of the calibration are apart, "
			       "without errors of the model";
	return "";
}

void cp_confirm_text(const void *of, struct cp_out *out, bool colour)
{
	static const char *const headings[] = {
		"region", "calls", "native", "predicted", "ratio", "explained"};
	const struct cp_confirmation *c = of;
	const char *cut = run_of(c).cut;
	struct cp_table *table = cp_table_new(c->arena, 6, c->count);
	struct cp_answer answer = {.count = 0};

	cp_text_wrap(out,
		cp_text_format(c->arena, "cachepeek %s: %s, natively and by the %s",
			CP_VERSION, c->values->sides[0].command, c->model),
		0, 2, WIDTH);
	if (cut)
		cp_text_wrap(
			out, cp_text_format(c->arena, "ended: %s", cut), 0, 2, WIDTH);
	if (*c->values->sides[1].machine)
		cp_text_wrap(out, c->values->sides[1].machine, 0, 2, WIDTH);
	fill_answer(c, &answer);
	for (size_t i = 0; i < answer.count; i++)
		cp_text_wrap(out,
			cp_text_format(c->arena, "%s: %s", answer.line[i].label,
				answer.line[i].text),
			0, 2, WIDTH);
	cp_out_text(out, "\n");
	table->left = 1;
	for (size_t i = 0; i < 6; i++)
		cp_table_heading(table, i, "", headings[i]);
	for (size_t i = 0; i < c->count; i++)
		set_row(c, table, i);
	cp_table_print(table, out, WIDTH, colour);
	cp_out_text(out, "\n");
	cp_text_wrap(out,
		cp_text_format(c->arena,
			"native: %s of one run; ratio: predicted / native; badly: "
			"further apart than a factor of %g%s",
			is_all_cpu(c) ? "CPU time, the kernel's work for it included,"
				      : "wall time (the kernel counts no CPU time here)",
			CP_CONFIRM_FACTOR, intervals_text(c)),
		0, 2, WIDTH);
}

/* ---- CSV ---- */

void cp_confirm_csv(const void *of, struct cp_out *out)
{
	const struct cp_confirmation *c = of;
	const char *cut = run_of(c).cut;

	cp_out_text(out,
		"region,calls,native_s,predicted_s,ratio,explained,predicted_error\n");
	if (cut) {
		cp_out_text(out, "ended,,,,,");
		cp_csv_text(out, cut, strlen(cut));
		cp_out_text(out, ",\n");
	}
	for (size_t i = 0; i < c->count; i++) {
		const struct cp_confirm *region = &c->regions[i];
		bool both = region->has_native && region->has_predicted;

		cp_csv_text(out, region->spot->path, strlen(region->spot->path));
		cp_out_text(out, ",");
		cp_csv_number(out, region->calls >= 0, region->calls);
		cp_csv_number(out, region->has_native, region->native);
		cp_csv_number(out, region->has_predicted, region->predicted);
		cp_csv_number(out, both && region->native > 0,
			both ? region->predicted / region->native : 0);
		cp_out_text(out, cp_confirmed_name(region->verdict));
		if (region->off >= 0)
			cp_out_format(out, ",%.10g\n", region->off);
		else
			cp_out_text(out, ",\n");
	}
}

/* ---- JSON ---- */

static json_t *time_of(bool there, double value, const char *status, const char *reason)
{
	return json_pack("{so ss so}", "value", there ? json_real(value) : json_null(),
		"status", there ? status : "unavailable", "reason",
		!there && reason ? json_string(reason) : json_null());
}

static json_t *region_of(const struct cp_confirm *region)
{
	json_t *made = json_object();
	bool both = region->has_native && region->has_predicted && region->native > 0;

	cp_json_set(made, "path", json_incref(region->spot->names));
	cp_json_set(
		made, "calls", region->calls >= 0 ? cp_json_number(region->calls) : NULL);
	cp_json_set(made, "native",
		time_of(region->has_native, region->native, "exact",
			region->native_reason));
	cp_json_set(made, "native_is",
		region->has_native ? json_string(region->of_cpu ? "cpu" : "wall") : NULL);
	cp_json_set(made, "predicted",
		time_of(region->has_predicted, region->predicted, "estimated",
			region->predicted_reason));
	if (region->off >= 0)
		json_object_set_new(json_object_get(made, "predicted"), "error",
			json_real(region->off));
	cp_json_set(made, "ratio",
		both ? json_real(region->predicted / region->native) : NULL);
	cp_json_set(made, "explained", json_string(cp_confirmed_name(region->verdict)));
	return made;
}

static json_t *answers_of(const struct cp_confirmation *c)
{
	struct cp_answer answer = {.count = 0};

	fill_answer(c, &answer);
	return json_pack("[{sn so}]", "group", "lines", cp_json_answer_lines(&answer));
}

json_t *cp_confirm_json(const void *of)
{
	const struct cp_confirmation *c = of;
	const struct cp_side run = run_of(c);
	json_t *regions = json_array(), *made;

	for (size_t i = 0; i < c->count; i++)
		json_array_append_new(regions, region_of(&c->regions[i]));
	made = json_pack("{ss ss so so s{ss} ss sf so}", "schema", CP_CONFIRM_SCHEMA,
		"cachepeek", CP_VERSION, "command", cp_json_command(c->argv), "answers",
		answers_of(c), "machine", "description", c->values->sides[1].machine,
		"model", c->model, "factor", CP_CONFIRM_FACTOR, "regions", regions);
	cp_json_run(made, &run);
	return made;
}
