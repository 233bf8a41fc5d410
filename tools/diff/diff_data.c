/* SPDX-License-Identifier: MIT
 *
 * The comparison for programs: JSON, schema "cachepeek-diff/1", and CSV.
 */
#include "tools/diff/diff.h"
#include "tools/diff/timed.h"

/* ---- JSON ---- */

static json_t *json_side(const struct cp_side *side)
{
	json_t *made = json_object();

	cp_json_set(made, "name", json_string(side->label));
	cp_json_set(made, "runs", json_integer((long long)side->nruns));
	cp_json_set(made, "command", json_string(side->command));
	cp_json_set(made, "engine", json_string(side->engine));
	cp_json_set(made, "machine", json_string(side->machine));
	cp_json_set(made, "mixed", json_boolean(side->mixed));
	cp_json_run(made, side);
	return made;
}

static json_t *json_test(const struct cp_diff *diff)
{
	json_t *made = json_object();

	cp_json_set(made, "name", json_string("Welch's t"));
	cp_json_set(made, "adjusted", json_string("Benjamini-Hochberg"));
	cp_json_set(made, "level", json_real(CP_DIFF_LEVEL));
	cp_json_set(made, "values", json_integer((long long)diff->tested));
	cp_json_set(made, "fewest_runs", json_integer(CP_FEWEST_RUNS));
	return made;
}

static json_t *line_of(unsigned line)
{
	return line ? json_integer(line) : json_null();
}

/* Adds what it is, if it is no region, and where a line is on each side. */
static void add_place(json_t *made, const struct cp_spot *spot)
{
	if (*spot->what)
		cp_json_set(made, "what", json_string(spot->what));
	if (spot->line[0] || spot->line[1])
		cp_json_set(made, "lines",
			json_pack("[o, o]", line_of(spot->line[0]),
				line_of(spot->line[1])));
}

static json_t *json_value(const struct cp_difference *it)
{
	const struct cp_entry *entry = it->entry;
	bool both = it->verdict != CP_ONE_SIDED;
	json_t *made = json_object();

	cp_json_entry(made, entry);
	add_place(made, entry->spot);
	cp_json_set(made, "verdict", json_string(cp_verdict_name(it->verdict)));
	cp_json_set(made, "role", json_string(cp_role_name(it->role)));
	cp_json_set(made, "difference", both ? cp_json_number(it->change) : NULL);
	cp_json_set(made, "ratio", it->ratio >= 0 ? cp_json_number(it->ratio) : NULL);
	cp_json_set(made, "p", it->p >= 0 ? cp_json_number(it->p) : NULL);
	cp_json_set(made, "p_adjusted",
		it->adjusted >= 0 ? cp_json_number(it->adjusted) : NULL);
	cp_json_set(made, "before", cp_json_cell(&entry->side[0]));
	cp_json_set(made, "after", cp_json_cell(&entry->side[1]));
	return made;
}

static json_t *json_gate(const struct cp_diff *diff, const struct cp_gate *gate)
{
	static const char *const verdicts[] = {"not met", "unsure", "unknown", "met"};
	bool open = gate->verdict != CP_GATE_CLOSED;
	json_t *made = json_object();

	cp_json_set(made, "expression", json_string(gate->expression));
	cp_json_set(made, "verdict", json_string(verdicts[gate->verdict]));
	cp_json_set(made, "text", open ? json_string(cp_gate_text(diff, gate)) : NULL);
	return made;
}

/* As the reports have it: of no group. */
static json_t *json_answers(const struct cp_diff *diff)
{
	struct cp_answer answer = {.count = 0};

	cp_diff_answer(diff, &answer);
	return json_pack("[{sn so}]", "group", "lines", cp_json_answer_lines(&answer));
}

/* null: the sides have none in common. */
static json_t *json_cost(const struct cp_diff *diff)
{
	json_t *made, *places;

	if (!diff->cost)
		return json_null();
	made = json_pack("{ss ss}", "name", diff->cost->name, "is", diff->cost->word);
	places = json_array();
	for (size_t i = 0; i < diff->nplaces; i++) {
		const struct cp_cost_place *place = &diff->places[i];

		json_t *one = json_pack("{sO so so ss}", "path", place->spot->names,
			"before", cp_json_number(place->value[0]), "after",
			cp_json_number(place->value[1]), "mostly", place->mostly);

		add_place(one, place->spot);
		json_array_append_new(places, one);
	}
	cp_json_set(made, "places", places);
	return made;
}

static json_t *json_warnings(const struct cp_diff *diff)
{
	const char *warnings[CP_DIFF_WARNINGS];
	size_t n = cp_diff_warnings(diff, warnings);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(warnings[i]));
	return list;
}

json_t *cp_diff_json(const void *of)
{
	const struct cp_diff *diff = of;
	json_t *made = json_object(), *values = json_array(), *gates = json_array();

	for (size_t i = 0; i < diff->count; i++)
		json_array_append_new(values, json_value(&diff->differences[i]));
	for (size_t i = 0; i < diff->ngates; i++)
		json_array_append_new(gates, json_gate(diff, &diff->gates[i]));
	cp_json_set(made, "schema", json_string("cachepeek-diff/1"));
	cp_json_set(made, "cachepeek", json_string(CP_VERSION));
	cp_json_set(made, "answers", json_answers(diff));
	cp_json_set(made, "before", json_side(&diff->values->sides[0]));
	cp_json_set(made, "after", json_side(&diff->values->sides[1]));
	cp_json_set(made, "test", json_test(diff));
	cp_json_set(made, "time", diff->timed ? cp_timed_json(diff, diff->timed) : NULL);
	cp_json_set(made, "cost", json_cost(diff));
	cp_json_set(made, "values", values);
	cp_json_set(made, "fail_if", gates);
	cp_json_set(made, "warnings", json_warnings(diff));
	return made;
}

/* ---- CSV ---- */

static const char headings[] =
	"region,kind,name,unit,verdict,difference,ratio,p,p_adjusted," CP_CELL_HEADINGS(
		"before_") "," CP_CELL_HEADINGS("after_") "\n";

void cp_diff_csv(const void *of, struct cp_out *out)
{
	const struct cp_diff *diff = of;

	cp_out_text(out, headings);
	for (size_t i = 0; i < diff->count; i++) {
		const struct cp_difference *it = &diff->differences[i];
		const struct cp_entry *entry = it->entry;

		cp_csv_entry(out, entry);
		cp_out_format(out, "%s,", cp_verdict_name(it->verdict));
		cp_csv_number(out, it->verdict != CP_ONE_SIDED, it->change);
		cp_csv_number(out, it->ratio >= 0, it->ratio);
		cp_csv_number(out, it->p >= 0, it->p);
		cp_csv_number(out, it->adjusted >= 0, it->adjusted);
		cp_csv_cell(out, &entry->side[0]);
		cp_out_text(out, ",");
		cp_csv_cell(out, &entry->side[1]);
		cp_out_text(out, "\n");
	}
}
