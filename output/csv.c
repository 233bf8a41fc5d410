/* SPDX-License-Identifier: MIT
 *
 * The CSV report: one row per value, each with its provenance, for tools that
 * read tables.  One record is one line.
 *
 * Below a line of headings stand the values: of the whole run (scope "run"), of
 * each process from its first instruction ("process"), and of each thread
 * ("thread").  Counts are integers; a value that is not there is empty, and the
 * reason says why.
 */
#include "output/csv.h"

#include <stdbool.h>
#include <string.h>

#include "output/formats.h"
#include "output/report/course.h"
#include "output/report/ended.h"
#include "base/text/utf8.h"
#include "output/report/windows.h"

static const char headings[] =
	"scope,host,rank,pid,tid,thread,region,kind,name,value,unit,status,coverage,"
	"error,reason,end_s\n";

/* Where a value belongs: the columns on its left. */
struct place {
	struct cp_out *out;
	const struct cp_report *report;
	const char *scope;
	const struct cp_process *process; /* NULL: the run */
	const struct cp_thread *thread;   /* NULL: the process or the run */
	const struct cp_region *region;
};

/* ---- cells ---- */

/* Writes one character of length bytes (0: not UTF-8). */
static void write_character(struct cp_out *out, const char *at, size_t length)
{
	unsigned char c = (unsigned char)*at;

	if (length > 1)
		cp_out_bytes(out, at, length);
	else if (c == '"')
		cp_out_text(out, "\"\"");
	else if (c == '\\')
		cp_out_text(out, "\\\\");
	else if (c == '\n')
		cp_out_text(out, "\\n");
	else if (c == '\t')
		cp_out_text(out, "\\t");
	else if (c == '\r')
		cp_out_text(out, "\\r");
	else if (!length || c < ' ' || c == 0x7f)
		cp_out_format(out, "\\x%02x", c);
	else
		cp_out_bytes(out, at, 1);
}

static void write_characters(struct cp_out *out, const char *text, size_t length)
{
	for (const char *end = text + length; text < end;) {
		size_t bytes = cp_utf8_length(text, (size_t)(end - text));

		write_character(out, text, bytes);
		text += bytes ? bytes : 1;
	}
}

static bool is_formula(const char *text, size_t length)
{
	return length && memchr("=+-@", *text, 4);
}

void cp_csv_text(struct cp_out *out, const char *text, size_t length)
{
	bool formula = is_formula(text, length);
	bool quote = memchr(text, ',', length) || memchr(text, '"', length) ||
		     (length && (*text == ' ' || text[length - 1] == ' '));

	if (quote)
		cp_out_text(out, "\"");
	if (formula)
		cp_out_text(out, "'");
	write_characters(out, text, length);
	if (quote)
		cp_out_text(out, "\"");
}

static void text_cell(struct cp_out *out, const char *text)
{
	cp_out_text(out, ",");
	if (text)
		cp_csv_text(out, text, strlen(text));
}

static void number_cell(struct cp_out *out, double value)
{
	if (value > -9e15 && value < 9e15 && value == (double)(int64_t)value)
		cp_out_format(out, ",%ld", (long)value);
	else
		cp_out_format(out, ",%.10g", value);
}

static void empty_cell(struct cp_out *out)
{
	cp_out_text(out, ",");
}

/* ---- the left side ---- */

static void path_name(struct cp_out *out, const struct cp_slice *name)
{
	const char *at = name->at;

	for (const char *slash; (slash = memchr(at, '/', (size_t)(name->end - at)));
		at = slash + 1) {
		write_characters(out, at, (size_t)(slash - at));
		cp_out_text(out, "\\/");
	}
	write_characters(out, at, (size_t)(name->end - at));
}

/* "solve/halo", a slash in a name as \/; always quoted, so that nobody has to
 * look for commas in all its names first. */
static void path_cell(struct cp_out *out, const struct cp_region *region)
{
	const struct cp_slice *names[CP_MAX_DEPTH];
	unsigned depth = cp_region_path(region, names);

	cp_out_text(out, ",");
	if (!depth)
		return;
	cp_out_text(out, "\"");
	if (is_formula(names[0]->at, cp_slice_length(*names[0])))
		cp_out_text(out, "'");
	for (unsigned i = 0; i < depth; i++) {
		cp_out_text(out, i ? "/" : "");
		path_name(out, names[i]);
	}
	cp_out_text(out, "\"");
}

static void process_cells(const struct place *place)
{
	const struct cp_process *process = place->process;

	if (!process) {
		cp_out_text(place->out, ",,,");
		return;
	}
	text_cell(place->out, process->host);
	if (process->rank < 0)
		empty_cell(place->out);
	else
		cp_out_format(place->out, ",%d", process->rank);
	cp_out_format(place->out, ",%d", process->pid);
}

/* Begins a row, up to the name of the value. */
static void begin_row(const struct place *place, const char *kind, const char *name)
{
	cp_out_text(place->out, place->scope);
	process_cells(place);
	if (place->thread) {
		if (place->thread->state & CP_THREAD_FOLDS)
			empty_cell(place->out);
		else
			cp_out_format(place->out, ",%d", place->thread->tid);
		text_cell(place->out, place->thread->name);
	} else {
		cp_out_text(place->out, ",,");
	}
	if (place->region)
		path_cell(place->out, place->region);
	else
		empty_cell(place->out);
	cp_out_format(place->out, ",%s", kind);
	text_cell(place->out, name);
}

/* ---- values ---- */

/* error < 0: it has none. */
static void write_value(const struct place *place, const char *kind, const char *name,
	const struct cp_value *value, double error, const char *unit)
{
	begin_row(place, kind, name);
	if (value->status == CP_UNAVAILABLE)
		empty_cell(place->out);
	else
		number_cell(place->out, value->value);
	text_cell(place->out, unit);
	text_cell(place->out, cp_status_name(value->status));
	empty_cell(place->out);
	if (error >= 0)
		number_cell(place->out, error);
	else
		empty_cell(place->out);
	text_cell(place->out, value->reason);
	cp_out_text(place->out, ",\n");
}

static void write_count(const struct place *place, const char *kind, const char *name,
	const struct cp_count *count, uint64_t number)
{
	bool there = count->status != CP_UNAVAILABLE;
	enum cp_status status = count->status;

	if (strcmp(kind, "exclusive") == 0 && there && count->exclusive_status > status)
		status = count->exclusive_status;

	begin_row(place, kind, name);
	if (there && status != CP_UNAVAILABLE)
		cp_out_format(place->out, ",%lu", (unsigned long)number);
	else
		empty_cell(place->out);
	cp_out_format(place->out, ",events,%s", cp_status_name(status));
	if (there)
		number_cell(place->out, count->coverage);
	else
		empty_cell(place->out);
	if (there && count->error >= 0 && strcmp(kind, "count") == 0)
		number_cell(place->out, count->error);
	else
		empty_cell(place->out);
	text_cell(place->out, count->reason);
	cp_out_text(place->out, ",\n");
}

static void write_counts(const struct place *place, const struct cp_count *all)
{
	const struct cp_report *report = place->report;

	for (size_t i = 0; i < report->nquantities; i++) {
		const char *name = report->quantities[i];

		if (!cp_report_shows(report, i))
			continue;
		write_count(place, "count", name, &all[i], all[i].value);
		write_count(place, "exclusive", name, &all[i], all[i].exclusive);
	}
}

static void write_region(struct place *place, const struct cp_region *region)
{
	const struct cp_report *report = place->report;
	struct cp_value calls = {.value = (double)region->calls};

	place->region = region;
	write_value(place, "calls", "calls", &calls, -1, "calls");
	write_value(
		place, "time", "time_s", &region->seconds, region->seconds_error, "s");
	write_counts(place, region->counts);
	for (size_t i = 0; i < report->nmetrics; i++)
		write_value(place, "metric", report->metrics[i]->name,
			&region->metrics[i].value, region->metrics[i].error,
			report->metrics[i]->unit);
}

static void write_regions(struct place place, const struct cp_region *root)
{
	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		write_region(&place, r);
}

/* Writes the count of one interval, of a region or of the whole process. */
static void write_interval(const struct place *place, const struct cp_course_line *line,
	size_t quantity, size_t interval, double end)
{
	double value = line->values[quantity][interval];
	const char *why = line->why[quantity];

	begin_row(place, "count", place->report->quantities[quantity]);
	if (value >= 0)
		number_cell(place->out, value);
	else
		empty_cell(place->out);
	cp_out_format(place->out, ",events,%s,",
		cp_status_name(value >= 0 ? line->status[quantity] : CP_UNAVAILABLE));
	if (value >= 0 && line->errors[quantity])
		number_cell(place->out, line->errors[quantity][interval]);
	else
		empty_cell(place->out);
	text_cell(place->out, value < 0 ? why : NULL);
	number_cell(place->out, end);
	cp_out_text(place->out, "\n");
}

/* The mean of an interval's windows; below 0 there was none. */
static struct cp_value mean_touched(const struct cp_windows *windows,
	const struct cp_course_line *line, size_t quantity, size_t interval)
{
	double mean =
		cp_windows_mean_over(windows, line, quantity, interval, interval + 1);

	return (struct cp_value){.value = mean,
		.status = mean >= 0 ? line->status[quantity] : CP_UNAVAILABLE};
}

/* The working set of one interval: lines or pages in the mean of its windows. */
static void write_touched(const struct place *place, const char *name, const char *unit,
	struct cp_value mean, const char *reach, double end)
{
	begin_row(place, "metric", name);
	if (mean.value >= 0)
		number_cell(place->out, mean.value);
	else
		empty_cell(place->out);
	cp_out_format(place->out, ",%s,%s,,,%s%s", unit, cp_status_name(mean.status),
		reach ? "TLB reach: " : "", reach ? reach : "");
	number_cell(place->out, end);
	cp_out_text(place->out, "\n");
}

static void write_working_set(const struct place *place, const struct cp_windows *windows,
	const struct cp_course_line *line, const struct cp_course *it)
{
	for (size_t i = 0; i < it->npoints - line->first; i++) {
		double end = it->ends[line->first + i];
		struct cp_value lines = mean_touched(
					windows, line, windows->data_lines, i),
				pages = mean_touched(
					windows, line, windows->data_pages, i);

		write_touched(place, "working_set_data_lines", "lines", lines, NULL, end);
		write_touched(place, "working_set_data_pages", "pages", pages,
			cp_windows_reach(windows, pages.value), end);
	}
}

static void write_course(struct place place, const struct cp_course *it)
{
	struct cp_windows windows;
	bool has_windows = cp_windows_find(place.report, &windows);

	for (size_t l = 0; l < it->nlines; l++) {
		const struct cp_course_line *line = &it->lines[l];

		place.region = line->region;
		for (size_t q = 0; q < place.report->nquantities; q++)
			for (size_t i = line->first; line->values[q] && i < it->npoints;
				i++)
				write_interval(
					&place, line, q, i - line->first, it->ends[i]);
		if (has_windows && line->values[windows.windows])
			write_working_set(&place, &windows, line, it);
	}
}

static void write_process(struct place place, const struct cp_process *process)
{
	place.process = process;
	place.scope = "process";
	write_counts(&place, process->whole);
	place.scope = "thread";
	for (size_t i = 0; i < process->nthreads; i++) {
		place.thread = &process->threads[i];
		write_regions(place, place.thread->root);
	}
	place.thread = NULL;
	place.scope = "interval";
	if (process->course)
		write_course(place, process->course);
}

/* The first row of a run that was cut short. */
static void write_end(const struct place *place)
{
	const char *cut = cp_report_cut(place->report->arena, place->report);

	if (!cut)
		return;
	cp_out_text(place->out, "run,,,,,,,ended,ended,,,,,,");
	cp_csv_text(place->out, cut, strlen(cut));
	cp_out_text(place->out, ",\n");
}

void cp_csv_write(struct cp_out *out, const struct cp_report *report)
{
	struct place place = {.out = out, .report = report, .scope = "run"};

	cp_out_text(out, headings);
	write_end(&place);
	write_regions(place, report->total);
	for (size_t i = 0; i < report->nprocesses; i++)
		write_process(place, &report->processes[i]);
}
