/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "output/json.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/model/fields.h"
#include "tools/profile/model/line_use.h"
#include "tools/profile/model/sampled_write.h"
#include "tools/profile/model/source.h"
#include "tools/profile/model/symbols.h"
#include "tools/profile/model/write.h"

struct json {
	struct cp_out *out;
	const struct cp_profile_view *view;
	const char *const *names;
};

static void put_line(struct json *json, const char *name, const char *text)
{
	cp_json_pair(json->out, name, text);
	cp_out_text(json->out, ",\n");
}

/* Not counted by place; in a page also what is 0, which most counts of most places are.
 */
static bool is_absent(const struct json *json, const char *name,
	const struct cp_tally *tally, const struct cp_value *value)
{
	if (!tally->only_kept)
		return false;
	if (json->view->profile->bursts)
		return !cp_profile_is_placed(json->view, name);
	if (!json->view->is_page || json->view->profile->sampled)
		return value->status == CP_UNAVAILABLE;
	if (value->status == CP_UNAVAILABLE)
		return !cp_profile_is_placed(json->view, name);
	return value->value == 0;
}

/* A value of a sample, and half of its interval in the other list. */
static void put_burst(struct json *json, const char *name, const struct cp_tally *tally,
	bool errors, const char **comma)
{
	struct cp_burst_value b = cp_bursts_measure(
		json->view->profile, json->view->measurement, name, tally);
	double value = errors ? b.error : b.value.value;

	if (is_absent(json, name, tally, &b.value))
		return;
	cp_out_format(json->out, "%s\"%s\": ", *comma, name);
	*comma = ", ";
	if (b.value.status == CP_UNAVAILABLE || value < 0)
		cp_out_text(json->out, "null");
	else
		cp_out_format(json->out, "%.17g", value);
}

/* Places have intervals of sums only. */
static bool has_interval(const struct cp_metric *metric, const struct cp_tally *tally)
{
	static const char *const sums[] = {"misses", "pages", "walks", "lines"};
	bool any = !tally->only_kept;

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		any |= strcmp(metric->unit, sums[i]) == 0;
	return any;
}

/* With metrics: a sum may be known where a part of it is not. */
static void put_bursts(struct json *json, const struct cp_tally *tally, bool errors)
{
	const struct cp_group *m = json->view->measurement;
	const char *comma = "";

	cp_out_format(json->out, "\"%s\": {", errors ? "errors" : "counts");
	for (const char *const *name = json->names; *name; name++)
		put_burst(json, *name, tally, errors, &comma);
	for (size_t i = 0; i < m->nmetrics; i++)
		if (has_interval(&m->metrics[i], tally))
			put_burst(json, m->metrics[i].name, tally, errors, &comma);
	cp_out_text(json->out, "}");
}

static void put_share(struct json *json, const struct cp_tally *tally)
{
	struct cp_burst_value share =
		cp_bursts_share(json->view->profile, json->view->measurement, tally);

	if (share.value.status == CP_UNAVAILABLE) {
		cp_out_text(json->out, ", \"share\": null, \"share_error\": null, ");
		cp_json_pair(json->out, "reason", share.value.reason);
		return;
	}
	cp_out_format(json->out, ", \"share\": %.6g, \"share_error\": %.6g",
		share.value.value, share.error);
}

static void put_sampled(struct json *json, const struct cp_tally *tally)
{
	put_bursts(json, tally, false);
	cp_out_text(json->out, ", ");
	put_bursts(json, tally, true);
	if (tally->only_kept)
		put_share(json, tally);
}

/* null where there is no value. */
static void put_counts(struct json *json, const struct cp_tally *tally)
{
	const char *comma = "";

	if (json->view->profile->bursts) {
		put_sampled(json, tally);
		return;
	}
	cp_out_text(json->out, "\"counts\": {");
	for (const char *const *name = json->names; *name; name++) {
		struct cp_value value = cp_measure(
			json->view->profile, json->view->measurement, *name, tally);

		if (is_absent(json, *name, tally, &value))
			continue;
		cp_out_format(json->out, "%s\"%s\": ", comma, *name);
		comma = ", ";
		if (value.status == CP_UNAVAILABLE)
			cp_out_text(json->out, "null");
		else
			cp_out_format(json->out, "%.17g", value.value);
	}
	cp_out_text(json->out, "}");
	if (json->view->profile->sampled) {
		cp_out_text(json->out, ", ");
		cp_sampled_write_estimates(json->out, tally);
	}
}

/* Writes the status of each count, which does not depend on its value. */
static void put_statuses(struct json *json)
{
	const struct cp_tally none = {.only_kept = false};

	cp_out_text(json->out, "\"statuses\": {");
	for (const char *const *name = json->names; *name; name++) {
		struct cp_value value = cp_measure_counts(
			json->view->profile, json->view->measurement, *name, &none);

		cp_out_format(json->out, "%s\"%s\": \"%s\"",
			name == json->names ? "" : ", ", *name,
			cp_status_name(value.status));
	}
	cp_out_text(json->out, "},\n");
}

/* Writes the fields of a variable whose type is known. */
static void put_fields(struct json *json, const struct cp_fields *fields)
{
	if (!fields)
		return;
	cp_json_next(json->out, "type", fields->type);
	cp_out_format(json->out, ", \"element\": %lu, \"fields\": [",
		(unsigned long)fields->size);
	for (size_t i = 0; i < fields->n; i++) {
		const struct cp_field *field = &fields->field[i];

		cp_out_text(json->out, i ? ", {" : "{");
		cp_json_pair(json->out, "name", field->name);
		cp_out_format(json->out,
			", \"offset\": %lu, \"size\": %lu, \"fetched\": %lu, "
			"\"used\": %lu}",
			(unsigned long)field->offset, (unsigned long)field->size,
			(unsigned long)field->fetched, (unsigned long)field->used);
	}
	cp_out_text(json->out, "]");
}

/* The use of lines, if it was asked for. */
static void line_use(struct json *json, const struct cp_profiled_object *object)
{
	struct cp_line_use use;

	if (!cp_line_use_of(object, &use) || use.seen)
		return;
	cp_out_format(json->out,
		"\"line_use\": {\"fetched\": %lu, \"line\": %u, \"used_bytes\": %.6g, "
		"\"used\": [",
		(unsigned long)use.fetched, use.line, cp_line_use_bytes(&use));
	for (unsigned i = 0; i < use.bits; i++)
		cp_out_format(
			json->out, "%s%lu", i ? "," : "", (unsigned long)use.used[i]);
	cp_out_text(json->out, "]");
	put_fields(json, cp_fields_of(json->view->profile, object));
	cp_out_text(json->out, "}, ");
}

static void rows_of(struct json *json, const char *name, const struct cp_rows *rows);

static void put_instruction(struct json *json, const struct cp_place_in_code *at)
{
	struct cp_symbols *symbols = at->module->symbols;

	cp_out_format(json->out, "\"address\": %lu, ", (unsigned long)at->address);
	cp_json_pair(json->out, "text",
		symbols ? cp_symbols_instruction(
				  symbols, json->view->profile->arena, at->address)
			: "");
}

static void put_data(struct json *json, const struct cp_profiled_object *object)
{
	static const char *const kinds[] = {"unknown", "variable", "module", "heap",
		"heap-other", "stack", "mapping", "mapping", "thread-local"};

	cp_json_pair(json->out, "data", kinds[object->data]);
	cp_json_next(json->out, "name", object->name);
	cp_json_next(json->out, "file", object->file);
	cp_out_format(json->out, ", \"line\": %u, \"size\": %lu, \"blocks\": %lu",
		object->line,
		(unsigned long)(object->data == CP_DATA_MODULE ? 0 : object->size),
		(unsigned long)object->blocks);
}

static void put_file(struct json *json, const struct cp_place_in_code *at)
{
	bool found = cp_source_text(json->view->profile->arena, at->file, 1);

	cp_json_pair(json->out, "file", at->file);
	cp_out_format(json->out, ", \"found\": %s, \"changed\": %s",
		found ? "true" : "false",
		found && cp_source_changed(at->file, at->module->path) ? "true"
								       : "false");
}

static void source_line(struct json *json, const struct cp_place_in_code *at)
{
	const char *text = cp_source_text(json->view->profile->arena, at->file, at->line);

	cp_out_format(json->out, "\"line\": %u, ", at->line);
	cp_json_pair(json->out, "text", text ? text : "");
}

/* Writes the members that distinguish a row from its siblings. */
static void put_place_of_row(
	struct json *json, enum cp_row_kind kind, const struct cp_row *row)
{
	const struct cp_place_in_code *at = &row->site->at;

	switch (kind) {
	case CP_ROW_DATA: /* is in no code */
		break;
	case CP_ROW_THREAD:
		cp_out_format(json->out, "\"pid\": %d, \"tid\": %d, ",
			row->site->thread->pid, row->site->thread->tid);
		cp_json_pair(json->out, "name", row->site->thread->name);
		break;
	case CP_ROW_MODULE:
		cp_json_pair(json->out, "module", at->module->name);
		cp_json_next(json->out, "path", at->module->path);
		break;
	case CP_ROW_FUNCTION:
		cp_json_pair(json->out, "module", at->module->path);
		cp_json_next(json->out, "function", at->function);
		break;
	case CP_ROW_STATEMENT:
		cp_json_pair(json->out, "file", at->file);
		cp_out_format(json->out, ", \"line\": %u", at->line);
		break;
	case CP_ROW_INSTRUCTION:
		put_instruction(json, at);
		break;
	case CP_ROW_FILE:
		put_file(json, at);
		break;
	case CP_ROW_LINE:
		source_line(json, at);
		break;
	}
}

/* None of those whose file is not known. */
static struct cp_rows *lines_of(
	struct json *json, const struct cp_rows *files, const struct cp_row *row)
{
	struct cp_rows *rows = cp_rows_of(json->view, CP_ROW_LINE, files, row);

	cp_rows_order_by_line(rows);
	if (!*row->site->at.file)
		rows->n = 0;
	return rows;
}

static void put_parts(
	struct json *json, const struct cp_rows *rows, const struct cp_row *row)
{
	if (rows->kind == CP_ROW_FUNCTION && !(rows->of_scripts && json->view->is_page))
		rows_of(json, "statements",
			cp_rows_of(json->view, CP_ROW_STATEMENT, rows, row));
	if (rows->kind == CP_ROW_STATEMENT && !rows->of_scripts)
		rows_of(json, "instructions",
			cp_rows_of(json->view, CP_ROW_INSTRUCTION, rows, row));
	if (rows->kind == CP_ROW_FILE)
		rows_of(json, "lines", lines_of(json, rows, row));
}

static void put_known(struct json *json, const char *name, bool known, double value)
{
	cp_out_format(json->out, ", \"%s\": ", name);
	if (known)
		cp_out_format(json->out, "%.17g", value);
	else
		cp_out_text(json->out, "null");
}

/* As put_burst(). */
static void put_misses(struct json *json, const struct cp_tally *tally)
{
	const struct cp_profile_view *view = json->view;
	struct cp_burst_value b;
	bool known;

	if (!view->profile->bursts) {
		put_known(json, "misses", true,
			cp_measure_order(
				view->profile, view->measurement, CP_BY_MISSES, tally));
		return;
	}
	b = cp_bursts_measure(view->profile, view->measurement, "misses", tally);
	known = b.value.status != CP_UNAVAILABLE;
	put_known(json, "misses", known, b.value.value);
	put_known(json, "misses_error", known && b.error >= 0, b.error);
}

/* Few of each data in a page. */
enum { PLACES = 12 };

static void put_place(struct json *json, const struct cp_place_in_code *function,
	const struct cp_row *row, const char *comma)
{
	cp_out_format(json->out, "%s{", comma);
	cp_json_pair(json->out, "module", function->module->path);
	cp_json_next(json->out, "function", function->function);
	cp_json_next(json->out, "file", row->site->at.file);
	cp_out_format(json->out, ", \"line\": %u", row->site->at.line);
	put_misses(json, &row->tally);
	cp_out_text(json->out, "}");
}

/* Which statements missed in the data, of the functions with the most first. */
static void put_places(
	struct json *json, const struct cp_rows *data, const struct cp_row *row)
{
	const struct cp_rows *functions =
		cp_rows_in_data(json->view, CP_ROW_FUNCTION, data, row);
	size_t n = 0, most = json->view->is_page ? PLACES : SIZE_MAX;

	cp_out_text(json->out, ", \"places\": [");
	for (size_t i = 0; i < functions->n && n < most; i++) {
		const struct cp_rows *statements = cp_rows_of(
			json->view, CP_ROW_STATEMENT, functions, &functions->row[i]);

		for (size_t j = 0; j < statements->n && n < most; j++)
			put_place(json, &functions->row[i].site->at, &statements->row[j],
				n++ ? ", " : "");
	}
	cp_out_text(json->out, "]");
}

static bool is_left_out(
	const struct json *json, const struct cp_rows *rows, const struct cp_row *row)
{
	return (rows->kind == CP_ROW_INSTRUCTION || rows->of_scripts) &&
	       cp_measure_order(json->view->profile, json->view->measurement,
		       CP_BY_MISSES, &row->tally) < json->view->least_misses;
}

static void rows_of(struct json *json, const char *name, const struct cp_rows *rows)
{
	const char *comma = "\n{";

	cp_out_format(json->out, ",\n\"%s\": [", name);
	for (size_t i = 0; i < rows->n; i++) {
		if (is_left_out(json, rows, &rows->row[i]))
			continue;
		cp_out_text(json->out, comma);
		comma = ",\n{";
		if (rows->kind == CP_ROW_DATA)
			put_data(json, rows->row[i].object);
		else
			put_place_of_row(json, rows->kind, &rows->row[i]);
		if (rows->of_own) {
			cp_json_next(
				json->out, "function", rows->row[i].site->at.function);
		}
		cp_out_text(json->out, ", ");
		if (rows->kind == CP_ROW_DATA)
			line_use(json, rows->row[i].object);
		put_counts(json, &rows->row[i].tally);
		put_parts(json, rows, &rows->row[i]);
		if (rows->kind == CP_ROW_DATA && json->view->profile->naccesses)
			put_places(json, rows, &rows->row[i]);
		cp_out_text(json->out, "}");
	}
	cp_out_text(json->out, "]");
}

/* Samples have latencies of their own. */
static void put_latencies(struct json *json)
{
	if (json->view->profile->sampled)
		cp_out_text(json->out,
			"\"latencies\": {\"l2\": null, \"llc\": null, \"memory\": null}");
	else
		cp_weights_write_json(json->out, &json->view->profile->weights);
	cp_out_text(json->out, ",\n");
}

static void put_head(struct json *json)
{
	const struct cp_profile *profile = json->view->profile;

	cp_out_text(json->out, "{\n");
	put_line(json, "schema", CP_PROFILE_SCHEMA);
	put_line(json, "cachepeek", CP_VERSION);
	put_line(json, "measurement", json->view->measurement->name);
	put_line(json, "title", json->view->measurement->title);
	cp_json_pair(json->out, "command", profile->command);
	cp_profile_write_command(json->out, profile);
	cp_out_text(json->out, ",\n");
	put_line(json, "machine", profile->machine);
	put_line(json, "source", profile->sampled ? "sampled" : "simulated");
	cp_out_format(json->out, "\"exact\": %s,\n\"processes\": %zu,\n",
		profile->inexact ? "false" : "true", profile->nprocesses);
	if (profile->sampled)
		cp_sampled_write_json(json->out, profile);
	if (profile->bursts)
		cp_out_format(json->out, "\"sample\": {\"sets\": %u, \"groups\": %u},\n",
			profile->bursts->pool.nsets, profile->bursts->pool.ngroups);
	put_latencies(json);
}

static void put_scripts(struct json *json)
{
	if (!json->view->profile->nscripts)
		return;
	rows_of(json, "python_functions",
		cp_rows_of_scripts(json->view, CP_ROW_FUNCTION, false));
	rows_of(json, "python_lines",
		cp_rows_of_scripts(json->view, CP_ROW_STATEMENT, true));
}

static void put_findings(struct json *json)
{
	const struct cp_findings found = cp_advise(json->view);

	cp_out_text(json->out, ",\n");
	cp_findings_write_json(json->out, &found);
}

void cp_profile_write_json(struct cp_out *out, const struct cp_profile_view *view)
{
	struct json json = {out, view, cp_profile_quantities(view)};
	const struct cp_profile *profile = view->profile;
	const struct cp_tally totals = cp_profile_totals(profile);

	put_head(&json);
	put_statuses(&json);
	put_counts(&json, &totals);
	rows_of(&json, "threads", cp_rows_of_all(view, CP_ROW_THREAD));
	rows_of(&json, "modules", cp_rows_of_all(view, CP_ROW_MODULE));
	put_scripts(&json);
	rows_of(&json, "functions", cp_rows_of_all(view, CP_ROW_FUNCTION));
	if (!view->is_page || profile->bursts) /* estimates do not add up */
		rows_of(&json, "sources", cp_rows_of_all(view, CP_ROW_FILE));
	rows_of(&json, "data", cp_rows_of_all(view, CP_ROW_DATA));
	put_findings(&json);
	if (profile->npaths && !view->is_page)
		cp_profile_write_calls_json(out, view);
	cp_out_text(out, ",\n\"warnings\": [");
	for (size_t i = 0; i < profile->nwarnings; i++) {
		cp_out_text(out, i ? ",\n" : "\n");
		cp_json_quoted(out, profile->warnings[i]);
	}
	cp_out_text(out, "]\n}\n");
}
