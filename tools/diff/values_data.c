/* SPDX-License-Identifier: MIT
 *
 * Values of several runs as JSON and CSV have them.
 */
#include <string.h>

#include "output/csv.h"
#include "tools/diff/values.h"

/* ---- JSON ---- */

json_t *cp_json_command(char *const *argv)
{
	json_t *list = json_array();

	for (; *argv; argv++) {
		json_t *word = json_string(*argv);

		json_array_append_new(list, word ? word : json_string("?"));
	}
	return list;
}

json_t *cp_json_answer_lines(const struct cp_answer *answer)
{
	json_t *lines = json_array();

	for (size_t i = 0; i < answer->count; i++)
		json_array_append_new(
			lines, json_pack("{ss ss}", "title", answer->line[i].label,
				       "text", answer->line[i].text));
	return lines;
}

json_t *cp_json_number(double value)
{
	if (value > -9e15 && value < 9e15 && value == (double)(long long)value)
		return json_integer((long long)value);
	return json_real(value); /* NULL, and then null, if it is not finite */
}

void cp_json_set(json_t *object, const char *name, json_t *value)
{
	json_object_set_new(object, name, value ? value : json_null());
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

void cp_json_run(json_t *made, const struct cp_side *side)
{
	cp_json_set(made, "began", text_or_null(side->began));
	cp_json_set(made, "host", text_or_null(side->host));
	cp_json_set(made, "ended", text_or_null(side->cut));
}

void cp_json_entry(json_t *made, const struct cp_entry *entry)
{
	cp_json_set(made, "path", json_incref(entry->spot->names));
	cp_json_set(made, "kind", json_string(cp_kind_name(entry->kind)));
	cp_json_set(made, "name", json_string(entry->name));
	cp_json_set(made, "unit", json_string(entry->unit));
}

json_t *cp_json_cell(const struct cp_cell *cell)
{
	json_t *made = json_object();
	bool there = cell->runs.n > 0;

	cp_json_set(made, "n", json_integer((long long)cell->runs.n));
	cp_json_set(made, "missing", json_integer((long long)cell->missing));
	cp_json_set(made, "mean", there ? cp_json_number(cell->runs.mean) : NULL);
	cp_json_set(made, "min", there ? cp_json_number(cell->runs.min) : NULL);
	cp_json_set(made, "max", there ? cp_json_number(cell->runs.max) : NULL);
	cp_json_set(made, "stddev",
		there ? cp_json_number(cp_runs_stddev(&cell->runs)) : NULL);
	if (cp_cell_error(cell) >= 0)
		cp_json_set(made, "error", cp_json_number(cp_cell_error(cell)));
	cp_json_set(made, "status",
		json_string(cp_status_name(there ? cell->status : CP_UNAVAILABLE)));
	cp_json_set(made, "reason",
		!there && !cell->missing ? json_string("the region is not there")
		: cell->reason           ? json_string(cell->reason)
					 : NULL);
	return made;
}

/* ---- CSV ---- */

static void text_cell(struct cp_out *out, const char *text)
{
	cp_csv_text(out, text, strlen(text));
	cp_out_text(out, ",");
}

void cp_csv_number(struct cp_out *out, bool there, double value)
{
	if (there && value > -9e15 && value < 9e15 && value == (double)(long)value)
		cp_out_format(out, "%ld", (long)value);
	else if (there)
		cp_out_format(out, "%.10g", value);
	cp_out_text(out, ",");
}

void cp_csv_entry(struct cp_out *out, const struct cp_entry *entry)
{
	text_cell(out, entry->spot->path);
	text_cell(out, cp_kind_name(entry->kind));
	text_cell(out, entry->name);
	text_cell(out, entry->unit);
}

void cp_csv_cell(struct cp_out *out, const struct cp_cell *cell)
{
	const struct cp_runs *runs = &cell->runs;
	bool there = runs->n > 0;

	cp_csv_number(out, true, (double)runs->n);
	cp_csv_number(out, true, (double)cell->missing);
	cp_csv_number(out, there, runs->mean);
	cp_csv_number(out, there, runs->min);
	cp_csv_number(out, there, runs->max);
	cp_csv_number(out, there, cp_runs_stddev(runs));
	cp_out_text(out, cp_status_name(there ? cell->status : CP_UNAVAILABLE));
}
