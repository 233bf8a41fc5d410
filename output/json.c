/* SPDX-License-Identifier: MIT */
#include "output/json.h"

#include <string.h>

#include "output/course.h"
#include "output/job.h"
#include "output/sweep.h"
#include "output/utf8.h"

/* Where in the document we are: indentation, and whether a comma is due. */
struct json {
	struct cp_out *out;
	const struct cp_report *report;
	int depth;
	bool comma;
};

static void put_escaped(struct cp_out *out, unsigned char c)
{
	if (c == '"' || c == '\\')
		cp_out_format(out, "\\%c", c);
	else if (c == '\n')
		cp_out_text(out, "\\n");
	else if (c == '\t')
		cp_out_text(out, "\\t");
	else
		cp_out_format(out, "\\u%04x", c);
}

/* In a page, "</script" and "<!--" would end the report or hide what follows. */
static bool is_markup(const char *text, const char *end)
{
	return *text == '<' && text + 1 < end && (text[1] == '/' || text[1] == '!');
}

void cp_json_string(struct cp_out *out, const char *text, size_t length)
{
	const char *end = text + length;

	cp_out_text(out, "\"");
	while (text < end) {
		size_t bytes = cp_utf8_length(text, (size_t)(end - text));
		unsigned char c = (unsigned char)*text;

		if (bytes > 1 || (bytes == 1 && c >= ' ' && c != '"' && c != '\\' &&
					 c != 0x7f && !is_markup(text, end)))
			cp_out_bytes(out, text, bytes);
		else
			put_escaped(out, c);
		text += bytes ? bytes : 1;
	}
	cp_out_text(out, "\"");
}

static void indent(struct json *json)
{
	if (json->comma)
		cp_out_text(json->out, ",");
	cp_out_text(json->out, "\n");
	for (int i = 0; i < json->depth; i++)
		cp_out_text(json->out, " ");
	json->comma = true;
}

/* A member that begins on a line of its own; its value follows. */
static void key(struct json *json, const char *name)
{
	indent(json);
	cp_json_string(json->out, name, strlen(name));
	cp_out_text(json->out, ": ");
}

static void string(struct json *json, const char *text)
{
	if (text)
		cp_json_string(json->out, text, strlen(text));
	else
		cp_out_text(json->out, "null");
}

static void string_member(struct json *json, const char *name, const char *text)
{
	key(json, name);
	string(json, text);
}

static void integer_member(struct json *json, const char *name, uint64_t value)
{
	key(json, name);
	cp_out_format(json->out, "%lu", (unsigned long)value);
}

static void open_scope(struct json *json, const char *bracket)
{
	cp_out_text(json->out, bracket);
	json->depth++;
	json->comma = false;
}

static void close_scope(struct json *json, const char *bracket)
{
	bool empty = !json->comma;

	json->depth--;
	json->comma = false;
	if (!empty)
		indent(json);
	cp_out_text(json->out, bracket);
	json->comma = true;
}

static void string_list(
	struct json *json, const char *name, const char *const *texts, size_t count)
{
	key(json, name);
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < count; i++) {
		cp_out_text(json->out, i ? ", " : "");
		string(json, texts[i]);
	}
	cp_out_text(json->out, "]");
}

/* Integers exactly; else 10 digits, more than any counter's noise allows. */
static void number(struct json *json, double value)
{
	if (value > -9e15 && value < 9e15 && value == (double)(int64_t)value) {
		cp_out_format(json->out, "%ld", (long)value);
		return;
	}
	cp_out_format(json->out, "%.10g", value);
}

/* , "NAME": VALUE within a line */
static void inline_number(struct json *json, const char *name, double value)
{
	cp_out_format(json->out, ", \"%s\": ", name);
	number(json, value);
}

static void inline_string(struct json *json, const char *name, const char *text)
{
	cp_out_format(json->out, ", \"%s\": ", name);
	string(json, text);
}

static void place(struct json *json, const char *name, const struct cp_place *at)
{
	cp_out_format(json->out, ", \"%s\": {\"rank\": ", name);
	if (at->rank < 0)
		cp_out_text(json->out, "null");
	else
		cp_out_format(json->out, "%d", at->rank);
	cp_out_format(json->out, ", \"pid\": %d, \"tid\": %d}", at->pid, at->tid);
}

static void extent(struct json *json, const struct cp_extent *over)
{
	if (!over->nthreads)
		return;
	inline_number(json, "min", over->min);
	inline_number(json, "max", over->max);
	inline_number(json, "mean", cp_extent_mean(over));
	inline_number(json, "stddev", cp_extent_stddev(over));
	if (cp_extent_mean(over) > 0)
		inline_number(json, "imbalance", over->max / cp_extent_mean(over));
	place(json, "min_at", &over->min_at);
	place(json, "max_at", &over->max_at);
}

static void per_call(struct json *json, const struct cp_count *count)
{
	cp_out_text(json->out, ", \"per_call\": ");
	if (!count->calls_known) {
		cp_out_text(json->out, "null");
		return;
	}
	cp_out_text(json->out, "{\"min\": ");
	number(json, count->call_min);
	inline_number(json, "max", count->call_max);
	inline_number(json, "mean", count->call_mean);
	inline_number(json, "stddev", count->call_stddev);
	cp_out_text(json->out, "}");
}

static void count_value(struct json *json, const struct cp_count *c)
{
	if (c->status == CP_UNAVAILABLE)
		cp_out_text(json->out, "{\"value\": null, \"exclusive\": null");
	else
		cp_out_format(json->out, "{\"value\": %lu, \"exclusive\": %lu",
			(unsigned long)c->value, (unsigned long)c->exclusive);
}

static void inline_null(struct json *json, const char *name)
{
	cp_out_format(json->out, ", \"%s\": null", name);
}

static void count(
	struct json *json, const char *name, const struct cp_count *c, bool merged)
{
	bool there = c->status != CP_UNAVAILABLE;

	key(json, name);
	count_value(json, c);
	inline_string(json, "status", cp_status_name(c->status));
	if (there && c->exclusive_status > c->status)
		inline_string(
			json, "exclusive_status", cp_status_name(c->exclusive_status));
	if (there)
		inline_number(json, "coverage", c->coverage);
	else
		inline_null(json, "coverage");
	if (there && c->error >= 0)
		inline_number(json, "error", c->error);
	else
		inline_null(json, "error");
	inline_string(json, "reason", c->reason);
	if (c->socket)
		inline_string(json, "scope", "socket");
	per_call(json, c);
	if (there && merged)
		extent(json, &c->over);
	cp_out_text(json->out, "}");
}

static void counts(
	struct json *json, const char *name, const struct cp_count *all, bool merged)
{
	key(json, name);
	open_scope(json, "{");
	for (size_t i = 0; i < json->report->nquantities; i++)
		count(json, json->report->quantities[i], &all[i], merged);
	close_scope(json, "}");
}

static void value(struct json *json, const struct cp_value *v)
{
	cp_out_text(json->out, "{\"value\": ");
	if (v->status == CP_UNAVAILABLE)
		cp_out_text(json->out, "null");
	else
		number(json, v->value);
}

static void metric(struct json *json, const struct cp_metric *m,
	const struct cp_result *result, bool merged)
{
	key(json, m->name);
	value(json, &result->value);
	inline_string(json, "unit", m->unit);
	inline_string(json, "status", cp_status_name(result->value.status));
	inline_string(json, "reason", result->value.reason);
	if (merged && result->value.status != CP_UNAVAILABLE)
		extent(json, &result->over);
	cp_out_text(json->out, "}");
}

static void metrics(struct json *json, const struct cp_region *region, bool merged)
{
	key(json, "metrics");
	open_scope(json, "{");
	for (size_t i = 0; i < json->report->nmetrics; i++)
		metric(json, json->report->metrics[i], &region->metrics[i], merged);
	close_scope(json, "}");
}

static void path(struct json *json, const struct cp_region *region)
{
	const struct cp_slice *names[CP_MAX_DEPTH + 1];
	unsigned depth = region->depth;

	for (unsigned i = depth; i > 0; i--, region = region->parent)
		names[i - 1] = &region->name;
	key(json, "path");
	cp_out_text(json->out, "[");
	for (unsigned i = 0; i < depth; i++) {
		cp_out_text(json->out, i ? ", " : "");
		cp_json_string(json->out, names[i]->at, cp_slice_length(*names[i]));
	}
	cp_out_text(json->out, "]");
}

static void region_flags(struct json *json, uint32_t flags)
{
	static const char *const names[] = {"end_without_begin", "wrong_name",
		"left_open", "read_failed", "overlapping", "deeper", "continued", "short",
		"elsewhere"};
	bool first = true;

	key(json, "flags");
	cp_out_text(json->out, "[");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(flags & 1u << i))
			continue;
		cp_out_format(json->out, "%s\"%s\"", first ? "" : ", ", names[i]);
		first = false;
	}
	cp_out_text(json->out, "]");
}

static void region(struct json *json, const struct cp_region *r, bool merged)
{
	indent(json);
	open_scope(json, "{");
	path(json, r);
	integer_member(json, "calls", r->calls);
	key(json, "time_s");
	value(json, &r->seconds);
	inline_string(json, "status", cp_status_name(r->seconds.status));
	inline_string(json, "reason", r->seconds.reason);
	cp_out_text(json->out, "}");
	if (merged)
		integer_member(json, "threads", r->nthreads);
	if (r->flags)
		region_flags(json, r->flags);
	counts(json, "counts", r->counts, merged);
	metrics(json, r, merged);
	close_scope(json, "}");
}

static void regions(struct json *json, const struct cp_region *root, bool merged)
{
	key(json, "regions");
	open_scope(json, "[");
	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		region(json, r, merged);
	close_scope(json, "]");
}

static const char *thread_state(const struct cp_thread *thread)
{
	if (thread->state & CP_THREAD_FOLDS)
		return thread->reason ? "folded, lost" : "folded";
	if (thread->state & CP_THREAD_LOST)
		return "lost";
	return thread->state & CP_THREAD_ENDED ? "ended" : "running";
}

static void thread(struct json *json, const struct cp_thread *t)
{
	indent(json);
	open_scope(json, "{");
	key(json, "tid");
	if (t->state & CP_THREAD_FOLDS)
		cp_out_text(json->out, "null");
	else
		cp_out_format(json->out, "%d", t->tid);
	if (t->state & CP_THREAD_FOLDS)
		integer_member(json, "threads", t->threads);
	string_member(json, "name", t->name);
	string_member(json, "state", thread_state(t));
	key(json, "adopted");
	cp_out_text(json->out, t->state & CP_THREAD_ADOPTED ? "true" : "false");
	if (t->reason)
		string_member(json, "reason", t->reason);
	regions(json, t->root, false);
	close_scope(json, "}");
}

static void process_identity(struct json *json, const struct cp_process *p)
{
	key(json, "pid");
	cp_out_format(json->out, "%d", p->pid);
	key(json, "ppid");
	cp_out_format(json->out, "%d", p->ppid);
	key(json, "rank");
	if (p->rank < 0)
		cp_out_text(json->out, "null");
	else
		cp_out_format(json->out, "%d", p->rank);
	string_member(json, "host", p->host);
	string_member(json, "exe", p->exe);
	key(json, "exit");
	cp_out_format(json->out, "{\"how\": \"%s\", \"code\": ", p->how);
	if (strcmp(p->how, "exit") == 0 || strcmp(p->how, "signal") == 0 ||
		(strcmp(p->how, "killed") == 0 && p->code))
		cp_out_format(json->out, "%d}", p->code);
	else
		cp_out_text(json->out, "null}");
	string_member(json, "counted_from", p->counted_from);
}

static void overhead(struct json *json, const struct cp_process *p)
{
	key(json, "overhead");
	cp_out_format(json->out, "{\"start_and_end_ns\": %lu, \"pair_ns\": ",
		(unsigned long)p->overhead_ns);
	if (p->pair_ns)
		cp_out_format(json->out, "%lu}", (unsigned long)p->pair_ns);
	else
		cp_out_text(json->out, "null}");
}

static void course_values(
	struct json *json, const struct cp_course_line *line, size_t quantity, size_t n)
{
	key(json, json->report->quantities[quantity]);
	cp_out_text(json->out, "{\"values\": [");
	for (size_t i = 0; i < n; i++) {
		double value = line->values[quantity][i];

		cp_out_text(json->out, i ? ", " : "");
		if (value < 0)
			cp_out_text(json->out, "null");
		else
			number(json, value);
	}
	cp_out_text(json->out, "]");
	inline_string(json, "status", cp_status_name(line->status[quantity]));
	cp_out_text(json->out, "}");
}

static void course_line(
	struct json *json, const struct cp_course_line *line, size_t npoints)
{
	indent(json);
	open_scope(json, "{");
	path(json, line->region);
	integer_member(json, "first", line->first);
	key(json, "counts");
	open_scope(json, "{");
	for (size_t q = 0; q < json->report->nquantities; q++)
		if (line->values[q])
			course_values(json, line, q, npoints - line->first);
	close_scope(json, "}");
	close_scope(json, "}");
}

static void course(struct json *json, const struct cp_course *it)
{
	key(json, "series");
	open_scope(json, "{");
	key(json, "interval_s");
	number(json, it->interval_s);
	key(json, "asked_s");
	number(json, it->asked_s);
	string_member(json, "clock", it->simulated ? "simulator" : "wall");
	integer_member(json, "not_recorded", it->dropped);
	key(json, "ends_s");
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < it->npoints; i++) {
		cp_out_text(json->out, i ? ", " : "");
		number(json, it->ends[i]);
	}
	cp_out_text(json->out, "]");
	key(json, "lines");
	open_scope(json, "[");
	for (size_t i = 0; i < it->nlines; i++)
		course_line(json, &it->lines[i], it->npoints);
	close_scope(json, "]");
	close_scope(json, "}");
}

static void process(struct json *json, const struct cp_process *p)
{
	indent(json);
	open_scope(json, "{");
	process_identity(json, p);
	key(json, "whole_process");
	open_scope(json, "{");
	counts(json, "counts", p->whole, false);
	close_scope(json, "}");
	key(json, "unattributed");
	open_scope(json, "{");
	key(json, "cpu_s");
	if (p->cpu_ns)
		number(json, (double)p->unattributed_ns / 1e9);
	else
		cp_out_text(json->out, "null");
	counts(json, "counts", p->unattributed, false);
	close_scope(json, "}");
	key(json, "threads");
	open_scope(json, "[");
	for (size_t i = 0; i < p->nthreads; i++)
		thread(json, &p->threads[i]);
	close_scope(json, "]");
	integer_member(json, "image", p->image);
	overhead(json, p);
	if (p->course)
		course(json, p->course);
	close_scope(json, "}");
}

static void engine(struct json *json)
{
	static const char *const names[] = {"none", "perf", "sim"};
	char limits[CP_LIMITS];

	cp_report_limits(json->report, limits, sizeof(limits));
	key(json, "engine");
	cp_out_format(json->out, "{\"name\": \"%s\"", names[json->report->engine]);
	inline_string(json, "why", json->report->why);
	inline_string(json, "domain", json->report->domain);
	if (json->report->engine == CP_ENGINE_SIM)
		inline_string(json, "limits", limits);
	cp_out_text(json->out, "}");
	key(json, "machine");
	cp_out_text(json->out, "{\"description\": ");
	string(json, json->report->machine);
	inline_string(json, "host", json->report->host);
	cp_out_text(json->out, ", \"line\": ");
	if (json->report->line > 0)
		number(json, json->report->line);
	else
		cp_out_text(json->out, "null");
	cp_out_text(json->out, "}");
}

static void header(struct json *json)
{
	const struct cp_report *report = json->report;

	string_member(json, "schema", CP_JSON_SCHEMA);
	string_member(json, "cachepeek", report->version);
	string_list(json, "command", report->command, report->narguments);
	engine(json);
	string_list(json, "events", report->quantities, report->nquantities);
	key(json, "groups");
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < report->ngroups; i++) {
		cp_out_text(json->out, i ? ", " : "");
		string(json, report->groups[i]->name);
	}
	cp_out_text(json->out, "]");
}

static void unfollowed(struct json *json)
{
	const struct cp_report *report = json->report;

	if (!report->nunfollowed)
		return;
	key(json, "not_followed");
	open_scope(json, "[");
	for (size_t i = 0; i < report->nunfollowed; i++) {
		const struct cp_unfollowed *it = &report->unfollowed[i];

		indent(json);
		cp_out_format(json->out, "{\"pid\": %d, \"ppid\": %d", it->pid, it->ppid);
		inline_string(json, "exe", it->exe);
		inline_string(json, "why", it->why);
		cp_out_text(json->out, "}");
	}
	close_scope(json, "]");
}

static void launcher_totals(struct json *json)
{
	const struct cp_report *report = json->report;

	if (!report->ntotals)
		return;
	key(json, "launcher_totals");
	open_scope(json, "{");
	for (size_t i = 0; i < report->ntotals; i++) {
		key(json, report->totals[i].name);
		cp_out_format(json->out, "{\"value\": %lu, \"status\": \"exact\"}",
			(unsigned long)report->totals[i].value);
	}
	close_scope(json, "}");
}

/* The ranks of a job, and which are missing. */
static void job(struct json *json)
{
	const struct cp_job *it = json->report->job;
	const char *comma = "";

	if (!it)
		return;
	key(json, "ranks");
	cp_out_format(json->out, "{\"recorded\": %zu, \"of\": ", it->nranks);
	if (it->wanted)
		cp_out_format(json->out, "%d", it->wanted);
	else
		cp_out_text(json->out, "null");
	cp_out_format(json->out, ", \"processes\": %zu, \"missing\": [", it->nprocesses);
	for (int32_t rank = cp_job_missing(it, 0); rank >= 0;
		rank = cp_job_missing(it, rank + 1)) {
		cp_out_format(json->out, "%s%d", comma, rank);
		comma = ", ";
	}
	cp_out_text(json->out, "]}");
}

static void sweep(struct json *json)
{
	struct cp_sweep it;

	if (!cp_sweep_find(json->report, &it))
		return;
	key(json, "sweep");
	cp_json_sweep(json->out, json->report, &it);
}

void cp_json_write(struct cp_out *out, const struct cp_report *report)
{
	struct json json = {.out = out, .report = report};

	open_scope(&json, "{");
	header(&json);
	key(&json, "processes");
	open_scope(&json, "[");
	for (size_t i = 0; i < report->nprocesses; i++)
		process(&json, &report->processes[i]);
	close_scope(&json, "]");
	job(&json);
	regions(&json, report->total, true);
	sweep(&json);
	unfollowed(&json);
	launcher_totals(&json);
	string_list(&json, "warnings", report->warnings, report->nwarnings);
	close_scope(&json, "}");
	cp_out_text(out, "\n");
}
