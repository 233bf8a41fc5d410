/* SPDX-License-Identifier: MIT */
#include "output/report/ended.h"
#include "output/json.h"

#include <string.h>

#include "output/report/course.h"
#include "output/report/job.h"
#include "output/json_regions.h"
#include "output/report/sweep.h"
#include "output/json_values.h"
#include "output/json_windows.h"

static const char *thread_state(const struct cp_thread *thread)
{
	if (thread->state & CP_THREAD_FOLDS)
		return thread->reason ? "folded, lost" : "folded";
	if (thread->state & CP_THREAD_LOST)
		return "lost";
	return thread->state & CP_THREAD_ENDED ? "ended" : "running";
}

static void put_thread(struct cp_json *json, const struct cp_thread *t)
{
	cp_json_indent(json);
	cp_json_open(json, "{");
	cp_json_key(json, "tid");
	if (t->state & CP_THREAD_FOLDS)
		cp_out_text(json->out, "null");
	else
		cp_out_format(json->out, "%d", t->tid);
	if (t->state & CP_THREAD_FOLDS)
		cp_json_integer(json, "threads", t->threads);
	cp_json_text(json, "name", t->name);
	cp_json_text(json, "state", thread_state(t));
	cp_json_key(json, "adopted");
	cp_out_text(json->out, t->state & CP_THREAD_ADOPTED ? "true" : "false");
	if (t->reason)
		cp_json_text(json, "reason", t->reason);
	cp_json_thread_regions(json, t->root);
	cp_json_close(json, "}");
}

static void put_folded(struct cp_json *json, const struct cp_process *p)
{
	static const char *const how[] = {
		"unknown", "exit", "exec", "signal", "killed", "folded"};

	cp_json_key(json, "folded");
	cp_out_format(json->out, "{\"processes\": %llu, \"ends\": [",
		(unsigned long long)p->folded);
	for (unsigned i = 0; i < CP_MAX_ENDS; i++)
		if (p->ends[i].processes && p->ends[i].how <= CP_HOW_FOLDED)
			cp_out_format(json->out,
				"%s{\"how\": \"%s\", \"code\": %d, \"processes\": %llu}",
				i ? ", " : "", how[p->ends[i].how], p->ends[i].code,
				(unsigned long long)p->ends[i].processes);
	cp_out_text(json->out, "]}");
}

static void process_identity(struct cp_json *json, const struct cp_process *p)
{
	cp_json_key(json, "pid");
	cp_out_format(json->out, "%d", p->pid);
	cp_json_key(json, "ppid");
	cp_out_format(json->out, "%d", p->ppid);
	cp_json_key(json, "rank");
	cp_json_rank(json, p->rank);
	cp_json_text(json, "host", p->host);
	cp_json_text(json, "exe", p->exe);
	cp_json_key(json, "exit");
	cp_out_format(json->out, "{\"how\": \"%s\", \"code\": ", p->how);
	if (strcmp(p->how, "exit") == 0 || strcmp(p->how, "signal") == 0 ||
		(strcmp(p->how, "killed") == 0 && p->code))
		cp_out_format(json->out, "%d}", p->code);
	else
		cp_out_text(json->out, "null}");
	cp_json_text(json, "counted_from", p->counted_from);
	if (p->folded)
		put_folded(json, p);
}

static void put_overhead(struct cp_json *json, const struct cp_process *p)
{
	cp_json_key(json, "overhead");
	cp_out_format(json->out, "{\"start_and_end_ns\": %lu, \"pair_ns\": ",
		(unsigned long)p->overhead_ns);
	if (p->pair_ns)
		cp_out_format(json->out, "%lu}", (unsigned long)p->pair_ns);
	else
		cp_out_text(json->out, "null}");
}

static void put_process(struct cp_json *json, const struct cp_process *p)
{
	const struct cp_json_row row = {.full = !json->brief};

	cp_json_indent(json);
	cp_json_open(json, "{");
	process_identity(json, p);
	cp_json_key(json, "whole_process");
	cp_json_open(json, "{");
	cp_json_counts(json, p->whole, &row);
	cp_json_close(json, "}");
	cp_json_key(json, "unattributed");
	cp_json_open(json, "{");
	cp_json_key(json, "cpu_s");
	if (p->cpu_ns)
		cp_json_value(json, (double)p->unattributed_ns / 1e9);
	else
		cp_out_text(json->out, "null");
	cp_json_counts(json, p->unattributed, &row);
	cp_json_close(json, "}");
	cp_json_key(json, "threads");
	cp_json_open(json, "[");
	for (size_t i = 0; i < p->nthreads; i++)
		put_thread(json, &p->threads[i]);
	cp_json_close(json, "]");
	cp_json_integer(json, "image", p->image);
	put_overhead(json, p);
	if (p->course)
		cp_json_course(json, p->course);
	cp_json_close(json, "}");
}

static void put_engine(struct cp_json *json)
{
	static const char *const names[] = {"none", "perf", "sim"};
	char limits[CP_LIMITS];

	cp_report_limits(json->report, limits, sizeof(limits));
	cp_json_key(json, "engine");
	cp_out_format(json->out, "{\"name\": \"%s\"", names[json->report->engine]);
	cp_json_inline_text(json, "why", json->report->why);
	cp_json_inline_text(json, "domain", json->report->domain);
	if (json->report->engine == CP_ENGINE_SIM)
		cp_json_inline_text(json, "limits", limits);
	cp_out_text(json->out, "}");
	cp_json_key(json, "machine");
	cp_out_text(json->out, "{\"description\": ");
	cp_json_put(json, json->report->machine);
	cp_json_inline_text(json, "host", json->report->host);
	cp_out_text(json->out, ", \"line\": ");
	if (json->report->line > 0)
		cp_json_value(json, json->report->line);
	else
		cp_out_text(json->out, "null");
	cp_out_text(json->out, "}");
}

/* CACHEPEEK_REPRODUCIBLE */
static void put_reproducible(struct cp_json *json)
{
	const struct cp_report *report = json->report;

	if (!report->pinned)
		return;
	cp_json_key(json, "reproducible");
	cp_json_open(json, "{");
	cp_json_list(json, "environment", report->pinned, report->npinned);
	cp_json_list(json, "differs", (const char *const *)report->unpinned,
		report->nunpinned);
	cp_json_close(json, "}");
}

static void put_events(struct cp_json *json)
{
	const struct cp_report *report = json->report;
	const char *comma = "";

	cp_json_key(json, "events");
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < report->nquantities; i++) {
		if (!cp_report_shows(report, i))
			continue;
		cp_out_text(json->out, comma);
		cp_json_put(json, report->quantities[i]);
		comma = ", ";
	}
	cp_out_text(json->out, "]");
}

static void put_or_null(struct cp_json *json, const char *key, const char *text)
{
	if (text) {
		cp_json_text(json, key, text);
		return;
	}
	cp_json_key(json, key);
	cp_out_text(json->out, "null");
}

static void put_header(struct cp_json *json)
{
	const struct cp_report *report = json->report;

	cp_json_text(json, "schema", json->brief ? CP_JSON_BRIEF_SCHEMA : CP_JSON_SCHEMA);
	cp_json_text(json, "cachepeek", report->version);
	cp_json_list(json, "command", report->command, report->narguments);
	put_or_null(json, "ended", cp_report_cut(report->arena, report));
	put_or_null(json, "began", cp_report_began(report->arena, report));
	put_engine(json);
	put_reproducible(json);
	put_events(json);
	cp_json_key(json, "groups");
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < report->ngroups; i++) {
		cp_out_text(json->out, i ? ", " : "");
		cp_json_put(json, report->groups[i]->name);
	}
	cp_out_text(json->out, "],\n  ");
	cp_weights_write_json(json->out, &report->weights);
	cp_spreads_write_json(json->out, &report->spreads);
	if (*report->spreads.why)
		cp_json_text(json, "no_spreads", report->spreads.why);
}

static void put_unfollowed(struct cp_json *json)
{
	const struct cp_report *report = json->report;

	if (!report->nunfollowed)
		return;
	cp_json_key(json, "not_followed");
	cp_json_open(json, "[");
	for (size_t i = 0; i < report->nunfollowed; i++) {
		const struct cp_unfollowed *it = &report->unfollowed[i];

		cp_json_indent(json);
		cp_out_format(json->out, "{\"pid\": %d, \"ppid\": %d", it->pid, it->ppid);
		cp_json_inline_text(json, "exe", it->exe);
		cp_json_inline_text(json, "why", it->why);
		cp_out_text(json->out, "}");
	}
	cp_json_close(json, "]");
}

static void launcher_totals(struct cp_json *json)
{
	const struct cp_report *report = json->report;

	if (!report->ntotals)
		return;
	cp_json_key(json, "launcher_totals");
	cp_json_open(json, "{");
	for (size_t i = 0; i < report->ntotals; i++) {
		cp_json_key(json, report->totals[i].name);
		cp_out_format(json->out, "{\"value\": %lu, \"status\": \"exact\"}",
			(unsigned long)report->totals[i].value);
	}
	cp_json_close(json, "}");
}

static void put_seconds(struct cp_json *json, const char *name, uint64_t ns, bool known,
	const char *why_not)
{
	cp_out_format(json->out, ", \"%s\": {\"value\": ", name);
	if (known)
		cp_json_value(json, (double)ns / 1e9);
	else
		cp_out_text(json->out, "null");
	cp_json_inline_text(
		json, "status", cp_status_name(known ? CP_ESTIMATED : CP_UNAVAILABLE));
	cp_json_inline_text(json, "reason", known ? NULL : why_not);
	cp_out_text(json->out, "}");
}

static void put_rank_counts(struct cp_json *json, const struct cp_job_rank *rank)
{
	const char *comma = "";

	cp_out_text(json->out, ", \"counts\": {");
	for (size_t i = 0; i < CP_RANK_COUNTS; i++) {
		const struct cp_rank_count *count = &rank->counts[i];
		bool known = count->status != CP_UNAVAILABLE;

		if (cp_report_quantity(json->report, cp_rank_counts[i]) < 0)
			continue;
		cp_out_format(
			json->out, "%s\"%s\": {\"value\": ", comma, cp_rank_counts[i]);
		if (known)
			cp_out_format(json->out, "%lu", (unsigned long)count->value);
		else
			cp_out_text(json->out, "null");
		cp_json_inline_text(
			json, "status", cp_status_name((enum cp_status)count->status));
		cp_json_inline_text(json, "reason",
			known ? NULL : "it was not counted in all of the rank");
		cp_out_text(json->out, "}");
		comma = ", ";
	}
	cp_out_text(json->out, "}");
}

static void put_ranks(struct cp_json *json, const struct cp_job *it)
{
	const char *untimed = json->report->total->seconds.reason;

	cp_json_key(json, "by_rank");
	cp_json_open(json, "[");
	for (size_t i = 0; i < it->nlisted; i++) {
		const struct cp_job_rank *rank = &it->ranks[i];

		cp_json_indent(json);
		cp_out_format(json->out,
			"{\"rank\": %d, \"pid\": %d, \"processes\": %lu, \"threads\": "
			"%lu",
			rank->rank, rank->pid, (unsigned long)rank->processes,
			(unsigned long)rank->threads);
		put_seconds(json, "time_s", rank->time_ns, rank->timed,
			untimed ? untimed : "it was not timed");
		put_seconds(json, "mpi_s", rank->mpi_ns, rank->mpi_known,
			cp_job_no_mpi_time(json->report));
		if (rank->mpi_known)
			cp_out_format(json->out, ", \"mpi_calls\": %lu",
				(unsigned long)rank->mpi_calls);
		else
			cp_out_text(json->out, ", \"mpi_calls\": null");
		put_rank_counts(json, rank);
		cp_out_text(json->out, "}");
	}
	cp_json_close(json, "]");
}

/* The ranks of a job, and which are missing. */
static void put_job(struct cp_json *json)
{
	const struct cp_job *it = json->report->job;
	const char *comma = "";

	if (!it)
		return;
	cp_json_key(json, "ranks");
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
	put_ranks(json, it);
}

static void put_sweep(struct cp_json *json)
{
	struct cp_sweep it;

	if (!cp_sweep_find(json->report, &it))
		return;
	cp_json_key(json, "sweep");
	cp_json_sweep(json->out, json->report, &it);
}

static void working_set(struct cp_json *json)
{
	struct cp_windows it;

	if (!cp_windows_find(json->report, &it))
		return;
	cp_json_key(json, "working_set");
	cp_json_windows(json->out, json->report, &it);
}

static void put_metric_names(struct cp_json *json)
{
	cp_json_key(json, "metrics");
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < json->report->nmetrics; i++) {
		const struct cp_metric *metric = json->report->metrics[i];

		cp_out_text(json->out, i ? ", {\"name\": " : "{\"name\": ");
		cp_json_put(json, metric->name);
		cp_json_inline_text(json, "unit", metric->unit);
		cp_out_text(json->out, "}");
	}
	cp_out_text(json->out, "]");
}

static void put_whole(struct cp_json json)
{
	const struct cp_report *report = json.report;

	cp_json_open(&json, "{");
	put_header(&json);
	if (json.page)
		put_metric_names(&json);
	cp_json_answers(&json);
	if (json.brief)
		cp_json_usual(&json);
	cp_json_key(&json, "processes");
	cp_json_open(&json, "[");
	for (size_t i = 0; i < report->nprocesses; i++)
		put_process(&json, &report->processes[i]);
	cp_json_close(&json, "]");
	put_job(&json);
	cp_json_regions(&json);
	put_sweep(&json);
	working_set(&json);
	put_unfollowed(&json);
	launcher_totals(&json);
	cp_json_list(&json, "warnings", report->warnings, report->nwarnings);
	cp_json_close(&json, "}");
	cp_out_text(json.out, "\n");
}

static bool has_many_regions(const struct cp_report *report)
{
	const struct cp_region *root = report->total;
	size_t count = 0;

	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		if (++count > CP_JSON_COMPLETE)
			return true;
	return false;
}

void cp_json_write(struct cp_out *out, const struct cp_report *report)
{
	put_whole((struct cp_json){
		.out = out, .report = report, .brief = has_many_regions(report)});
}

void cp_json_write_page(struct cp_out *out, const struct cp_report *report)
{
	put_whole((struct cp_json){.out = out, .report = report, .page = true});
}
