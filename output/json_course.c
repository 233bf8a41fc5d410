/* SPDX-License-Identifier: MIT
 *
 * "series": what was counted, and touched, over time.
 */
#include "output/json_lines.h"

#include "output/report/course.h"
#include "output/report/windows.h"

/* Below 0: unknown. */
static void put_value(struct cp_json *json, double value)
{
	if (value < 0)
		cp_out_text(json->out, "null");
	else
		cp_json_value(json, value);
}

static void put_values(struct cp_json *json, const double *values, size_t n)
{
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < n; i++) {
		cp_out_text(json->out, i ? ", " : "");
		put_value(json, values[i]);
	}
	cp_out_text(json->out, "]");
}

static void course_values(struct cp_json *json, const struct cp_course_line *line,
	size_t quantity, size_t n)
{
	cp_json_key(json, json->report->quantities[quantity]);
	cp_out_text(json->out, "{\"values\": ");
	put_values(json, line->values[quantity], n);
	cp_json_inline_text(json, "status", cp_status_name(line->status[quantity]));
	if (line->errors[quantity]) {
		cp_out_text(json->out, ", \"errors\": ");
		put_values(json, line->errors[quantity], n);
	}
	if (line->why[quantity])
		cp_json_inline_text(json, "reason", line->why[quantity]);
	cp_out_text(json->out, "}");
}

static void working_set_values(struct cp_json *json, const struct cp_windows *windows,
	const struct cp_course_line *line, size_t quantity, size_t n)
{
	cp_out_text(json->out, "{\"values\": [");
	for (size_t i = 0; i < n; i++) {
		cp_out_text(json->out, i ? ", " : "");
		put_value(json, cp_windows_mean_over(windows, line, quantity, i, i + 1));
	}
	cp_out_text(json->out, "]");
	cp_json_inline_text(json, "status", cp_status_name(line->status[quantity]));
	cp_out_text(json->out, "}");
}

static void tlb_reach(struct cp_json *json, const struct cp_windows *windows,
	const struct cp_course_line *line, size_t n)
{
	cp_json_key(json, "tlb_reach");
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < n; i++) {
		const char *level =
			cp_windows_reach(windows, cp_windows_mean_over(windows, line,
							  windows->data_pages, i, i + 1));

		cp_out_format(
			json->out, level ? "%s\"%s\"" : "%snull", i ? ", " : "", level);
	}
	cp_out_text(json->out, "]");
}

/* Writes the working set of each interval: the mean of its windows. */
static void course_working_set(
	struct cp_json *json, const struct cp_course_line *line, size_t n)
{
	struct cp_windows it;

	if (!cp_windows_find(json->report, &it) || !line->values[it.windows])
		return;
	cp_json_key(json, "working_set");
	cp_json_open(json, "{");
	cp_json_key(json, "data_lines");
	working_set_values(json, &it, line, it.data_lines, n);
	cp_json_key(json, "data_pages");
	working_set_values(json, &it, line, it.data_pages, n);
	cp_json_key(json, "code_lines");
	working_set_values(json, &it, line, it.code_lines, n);
	cp_json_key(json, "code_pages");
	working_set_values(json, &it, line, it.code_pages, n);
	tlb_reach(json, &it, line, n);
	cp_json_close(json, "}");
}

static void course_line(
	struct cp_json *json, const struct cp_course_line *line, size_t npoints)
{
	cp_json_indent(json);
	cp_json_open(json, "{");
	cp_json_key(json, "path");
	cp_json_path(json->out, line->region);
	cp_json_integer(json, "first", line->first);
	cp_json_key(json, "counts");
	cp_json_open(json, "{");
	for (size_t q = 0; q < json->report->nquantities; q++)
		if (line->values[q] && cp_report_shows(json->report, q))
			course_values(json, line, q, npoints - line->first);
	cp_json_close(json, "}");
	course_working_set(json, line, npoints - line->first);
	cp_json_close(json, "}");
}

void cp_json_course(struct cp_json *json, const struct cp_course *it)
{
	cp_json_key(json, "series");
	cp_json_open(json, "{");
	cp_json_key(json, "interval_s");
	cp_json_value(json, it->interval_s);
	cp_json_key(json, "asked_s");
	cp_json_value(json, it->asked_s);
	cp_json_text(json, "clock", it->simulated ? "simulator" : "wall");
	cp_json_integer(json, "not_recorded", it->dropped);
	cp_json_key(json, "ends_s");
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < it->npoints; i++) {
		cp_out_text(json->out, i ? ", " : "");
		cp_json_value(json, it->ends[i]);
	}
	cp_out_text(json->out, "]");
	cp_json_key(json, "lines");
	cp_json_open(json, "[");
	for (size_t i = 0; i < it->nlines; i++)
		course_line(json, &it->lines[i], it->npoints);
	cp_json_close(json, "]");
	cp_json_close(json, "}");
}
