/* SPDX-License-Identifier: MIT
 *
 * The report as Chrome's trace events, which Perfetto, Chrome and speedscope open.
 *
 * A slice for each process, from its begin to its end.  With a time series
 * (CACHEPEEK_INTERVAL), a counter for each count, of the process and of each region:
 * what each interval counted; and slices for the intervals in which a region counted
 * anything.  Where regions have times, a row for each thread in which they are as long
 * as all their executions together: when each was, no record says.
 */
#include <string.h>

#include "base/text.h"
#include "output/formats.h"

#include "output/json_lines.h"
#include "output/report/ended.h"
#include "output/report/course.h"

/* Rows of a process that are none of its threads' have numbers above all of them; 0 is
 * the idle thread's, for Perfetto. */
#define PROCESS_ROW (1u << 24)
#define FIRST_ROW (PROCESS_ROW + 1)

struct trace {
	struct cp_out *out;
	const struct cp_report *report;
	const struct cp_process *process;
	uint64_t origin_ns; /* CLOCK_REALTIME of the run's begin */
	unsigned id; /* of the process: pids repeat on other hosts and after an exec */
	bool comma;
	size_t left_out; /* counters */
};

/* ---- parts of an event ---- */

static void begin_event(struct trace *t, const char *phase, unsigned row)
{
	cp_out_text(t->out, t->comma ? ",\n" : "\n");
	t->comma = true;
	cp_out_format(
		t->out, "{\"ph\": \"%s\", \"pid\": %u, \"tid\": %u", phase, t->id, row);
}

static void end_event(struct trace *t)
{
	cp_out_text(t->out, "}}");
}

static void put_characters(struct trace *t, const char *text)
{
	cp_json_characters(t->out, text, strlen(text));
}

/* "solve/halo", within a string. */
static void put_path(struct trace *t, const struct cp_region *region)
{
	const struct cp_slice *names[CP_MAX_DEPTH];
	unsigned depth = cp_region_path(region, names);

	for (unsigned i = 0; i < depth; i++) {
		cp_out_text(t->out, i ? "/" : "");
		cp_json_characters(t->out, names[i]->at, cp_slice_length(*names[i]));
	}
}

/* Microseconds, with all nanoseconds. */
static void put_time(struct trace *t, const char *name, uint64_t ns)
{
	cp_out_format(t->out, ", \"%s\": %lu.%03u", name, (unsigned long)(ns / 1000),
		(unsigned)(ns % 1000));
}

static void put_number(struct trace *t, double value)
{
	if (value < 9e15 && value == (double)(int64_t)value)
		cp_out_format(t->out, "%ld", (long)value);
	else
		cp_out_format(t->out, "%.10g", value);
}

/* The text after "name", up to the quote that ends it, is the caller's. */
static void begin_name(struct trace *t, const char *of, unsigned row)
{
	begin_event(t, "M", row);
	cp_out_format(t->out, ", \"name\": \"%s_name\", \"args\": {\"name\": \"", of);
}

/* ---- time ---- */

/* Nanoseconds of the process's clock since the run began. */
static uint64_t since_begin(const struct trace *t, uint64_t monotonic_ns)
{
	const struct cp_process *process = t->process;
	uint64_t began = process->realtime_ns - t->origin_ns;

	return monotonic_ns > process->start_ns
		       ? began + (monotonic_ns - process->start_ns)
		       : began;
}

/* The begin of interval i, or the end of i - 1.  The simulator's clock begins with
 * itself, and its first interval with the process. */
static uint64_t boundary_of(const struct trace *t, size_t i)
{
	const struct cp_course *course = t->process->course;
	double seconds = i ? course->ends[i - 1] : 0;
	uint64_t begin_ns = course->simulated ? t->process->start_ns : course->start_ns;

	return since_begin(t, begin_ns + (uint64_t)(seconds * 1e9 + 0.5));
}

/* ---- counters ---- */

static void put_counter(struct trace *t, const struct cp_course_line *line,
	const char *quantity, uint64_t at, double value)
{
	begin_event(t, "C", PROCESS_ROW);
	cp_out_text(t->out, ", \"name\": \"");
	put_path(t, line->region);
	cp_out_text(t->out, line->region->parent ? ": " : "");
	put_characters(t, quantity);
	cp_out_text(t->out, "\"");
	put_time(t, "ts", at);
	cp_out_text(t->out, ", \"args\": {\"count\": ");
	put_number(t, value);
	end_event(t);
}

static bool is_known(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (values[i] < 0)
			return false;
	return true;
}

/* A counter keeps its value until the next one: one with a gap would show what nobody
 * counted, and is left out. */
static void put_counters(struct trace *t, const struct cp_course_line *line)
{
	size_t n = t->process->course->npoints - line->first;

	for (size_t q = 0; q < t->report->nquantities; q++) {
		const double *values = line->values[q];
		const char *name = t->report->quantities[q];

		if (values && !is_known(values, n))
			t->left_out++;
		if (!values || !is_known(values, n))
			continue;
		for (size_t i = 0; i < n; i++)
			put_counter(t, line, name, boundary_of(t, line->first + i),
				values[i]);
		put_counter(t, line, name, boundary_of(t, line->first + n), 0);
	}
}

/* ---- regions by interval ---- */

static bool counted_in(const struct trace *t, const struct cp_course_line *line, size_t i)
{
	for (size_t q = 0; q < t->report->nquantities; q++)
		if (line->values[q] && line->values[q][i] > 0)
			return true;
	return false;
}

/* Sums up its intervals in [from, to). */
static void put_sums(
	struct trace *t, const struct cp_course_line *line, size_t from, size_t to)
{
	const char *comma = "";

	for (size_t q = 0; q < t->report->nquantities; q++) {
		double sum = 0;

		if (!line->values[q] || !is_known(line->values[q] + from, to - from))
			continue;
		for (size_t i = from; i < to; i++)
			sum += line->values[q][i];
		cp_out_format(t->out, "%s\"", comma);
		put_characters(t, t->report->quantities[q]);
		cp_out_text(t->out, "\": ");
		put_number(t, sum);
		comma = ", ";
	}
}

static void put_active(struct trace *t, const struct cp_course_line *line, unsigned row,
	size_t from, size_t to)
{
	uint64_t at = boundary_of(t, line->first + from);

	begin_event(t, "X", row);
	cp_out_text(t->out, ", \"name\": \"");
	put_path(t, line->region);
	cp_out_text(t->out, "\"");
	put_time(t, "ts", at);
	put_time(t, "dur", boundary_of(t, line->first + to) - at);
	cp_out_text(t->out, ", \"args\": {");
	put_sums(t, line, from, to);
	end_event(t);
}

static void put_intervals(
	struct trace *t, const struct cp_course_line *line, unsigned row)
{
	size_t n = t->process->course->npoints - line->first, from = 0;

	begin_name(t, "thread", row);
	cp_out_text(t->out, "intervals of ");
	put_path(t, line->region);
	cp_out_text(t->out, "\"");
	end_event(t);
	for (size_t i = 0; i <= n; i++) {
		if (i < n && counted_in(t, line, i))
			continue;
		if (i > from)
			put_active(t, line, row, from, i);
		from = i + 1;
	}
}

static void put_course(struct trace *t, const struct cp_course *course)
{
	for (size_t l = 0; l < course->nlines; l++) {
		put_counters(t, &course->lines[l]);
		if (course->lines[l].region->parent)
			put_intervals(t, &course->lines[l], FIRST_ROW + (unsigned)l);
	}
}

/* ---- regions by time ---- */

static void put_region(struct trace *t, unsigned row, const struct cp_region *region,
	uint64_t at, uint64_t stop)
{
	begin_event(t, "X", row);
	cp_out_text(t->out, ", \"name\": \"");
	if (region->parent)
		cp_json_characters(
			t->out, region->name.at, cp_slice_length(region->name));
	else
		cp_out_text(t->out, "(thread)");
	cp_out_text(t->out, "\"");
	put_time(t, "ts", at);
	put_time(t, "dur", stop - at);
	cp_out_format(t->out, ", \"args\": {\"calls\": %lu, \"seconds\": ",
		(unsigned long)region->calls);
	put_number(t, region->seconds.value);
	end_event(t);
}

/* Each as long as all its executions together, one behind the other, and inside what
 * they are nested in. */
static void put_regions(struct trace *t, unsigned row, const struct cp_region *root)
{
	uint64_t next[CP_MAX_DEPTH + 1], stop[CP_MAX_DEPTH + 1];

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r)) {
		unsigned depth = r->depth;
		uint64_t at = depth ? next[depth - 1] : since_begin(t, 0);

		stop[depth] = at + r->time_ns;
		if (depth && stop[depth] > stop[depth - 1])
			stop[depth] = stop[depth - 1];
		put_region(t, row, r, at, stop[depth]);
		next[depth] = at;
		if (depth)
			next[depth - 1] = stop[depth];
	}
}

static void put_thread(struct trace *t, const struct cp_thread *thread)
{
	unsigned row = (unsigned)thread->tid;

	if (thread->root->seconds.status == CP_UNAVAILABLE || !thread->root->child)
		return;
	begin_name(t, "thread", row);
	put_characters(t, thread->name);
	cp_out_text(t->out, ": times of regions, added up\"");
	end_event(t);
	put_regions(t, row, thread->root);
}

/* ---- processes ---- */

static void put_process_names(struct trace *t)
{
	const struct cp_process *process = t->process;

	begin_name(t, "process", PROCESS_ROW);
	put_characters(t, cp_base_name(process->exe));
	cp_out_format(t->out, " %d", process->pid);
	if (process->rank >= 0)
		cp_out_format(t->out, " (rank %d)", process->rank);
	cp_out_text(t->out, "\"");
	end_event(t);
	begin_name(t, "thread", PROCESS_ROW);
	cp_out_text(t->out, "the process\"");
	end_event(t);
}

/* One whose end is not known has no slice, nor has a row that stands for many. */
static void put_process_slice(struct trace *t)
{
	const struct cp_process *process = t->process;

	if (process->folded || process->end_ns <= process->start_ns)
		return;
	begin_event(t, "X", PROCESS_ROW);
	cp_out_text(t->out, ", \"name\": \"");
	put_characters(t, cp_base_name(process->exe));
	cp_out_text(t->out, "\"");
	put_time(t, "ts", since_begin(t, process->start_ns));
	put_time(t, "dur", process->end_ns - process->start_ns);
	cp_out_format(t->out, ", \"args\": {\"pid\": %d, \"end\": \"%s %d\"",
		process->pid, process->how, process->code);
	end_event(t);
}

static void put_process(struct trace *t)
{
	put_process_names(t);
	put_process_slice(t);
	for (size_t i = 0; i < t->process->nthreads; i++)
		put_thread(t, &t->process->threads[i]);
	if (t->process->course)
		put_course(t, t->process->course);
}

static uint64_t first_begin(const struct cp_report *report)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < report->nprocesses; i++)
		if (report->processes[i].realtime_ns < first)
			first = report->processes[i].realtime_ns;
	return first;
}

static bool has_courses(const struct cp_report *report)
{
	for (size_t i = 0; i < report->nprocesses; i++)
		if (report->processes[i].course)
			return true;
	return false;
}

static void put_left_out(struct trace *t)
{
	bool simulated = t->report->engine == CP_ENGINE_SIM;

	if (t->left_out)
		cp_out_format(t->out,
			",\n"
			"\"left out\": "
			"\"%zu counters that have intervals without a value\"",
			t->left_out);
	else if (t->report->job)
		cp_out_text(t->out, ",\n"
				    "\"left out\": \"the ranks: "
				    "a name with %r has a trace of each\"");
	else if (simulated && !has_courses(t->report))
		cp_out_text(t->out, ",\n"
				    "\"left out\": \"all: "
				    "a simulated run has no times "
				    "but those of CACHEPEEK_INTERVAL\"");
}

/* Notes for the reader of the trace. */
static void put_notes(struct trace *t)
{
	const struct cp_report *report = t->report;
	const char *cut = cp_report_cut(report->arena, report);

	cp_out_text(t->out, "\n],\n\"displayTimeUnit\": \"ms\",\n\"otherData\": {");
	cp_out_text(t->out, "\"exporter\": \"cachepeek ");
	put_characters(t, report->version);
	if (cut) {
		cp_out_text(t->out, "\", \"ended\": \"");
		put_characters(t, cut);
	}
	cp_out_text(t->out, "\", \"machine\": \"");
	put_characters(t, report->machine ? report->machine : "");
	cp_out_format(t->out, "\",\n\"clock\": \"%s\",\n",
		report->engine == CP_ENGINE_SIM
			? "wall time of the simulator, which is slower than the program"
			: "wall time");
	cp_out_text(t->out,
		"\"counters\": \"what each interval counted, drawn from its begin on\"");
	put_left_out(t);
	cp_out_text(t->out, "}}\n");
}

void cp_trace_write(struct cp_out *out, const struct cp_report *report)
{
	struct trace t = {.out = out, .report = report, .origin_ns = first_begin(report)};

	cp_out_text(out, "{\"traceEvents\": [");
	for (size_t i = 0; i < report->nprocesses; i++) {
		t.process = &report->processes[i];
		t.id = (unsigned)i + 1;
		put_process(&t);
	}
	put_notes(&t);
}
