/* SPDX-License-Identifier: MIT
 *
 * The report as OpenMetrics text, for node_exporter's textfile collector: the
 * regions of the whole run.  It is in the common part of OpenMetrics and of the
 * older text format of Prometheus.
 *
 * Gauges, because a run starts afresh: cachepeek_events{event}, their
 * cachepeek_events_error and cachepeek_events_coverage_ratio where a counter was
 * shared, cachepeek_metric{metric,unit}, cachepeek_region_calls,
 * cachepeek_region_seconds, and cachepeek_info.  Each has the labels exe,
 * region (a path), status.  What could not be counted has no sample but
 * cachepeek_unavailable{kind,name,reason} 1.
 */
#include <stdbool.h>
#include <string.h>

#include "output/formats.h"
#include "output/report/ended.h"

#include "base/text.h"
#include "base/text/utf8.h"

struct metrics {
	struct cp_out *out;
	const struct cp_report *report;
	const char *exe;
	bool first; /* label of its sample */
};

/* ---- labels ---- */

/* Bytes that are not UTF-8 become the code point of the same number, as in the
 * JSON report; control characters too would be taken, but not shown. */
static void put_character(struct cp_out *out, const char *at, size_t length)
{
	unsigned char c = (unsigned char)*at;

	if (length > 1)
		cp_out_bytes(out, at, length);
	else if (c == '"' || c == '\\')
		cp_out_format(out, "\\%c", c);
	else if (c == '\n')
		cp_out_text(out, "\\n");
	else if (!length)
		cp_out_format(out, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
	else
		cp_out_bytes(out, at, 1);
}

static void put_characters(struct cp_out *out, const char *text, size_t length)
{
	for (const char *end = text + length; text < end;) {
		size_t bytes = cp_utf8_length(text, (size_t)(end - text));

		put_character(out, text, bytes);
		text += bytes ? bytes : 1;
	}
}

static void begin_label(struct metrics *m, const char *name)
{
	cp_out_format(m->out, "%s%s=\"", m->first ? "{" : ",", name);
	m->first = false;
}

static void put_label(struct metrics *m, const char *name, const char *text)
{
	begin_label(m, name);
	put_characters(m->out, text, strlen(text));
	cp_out_text(m->out, "\"");
}

/* In a path a slash within a name is \/, and what is not UTF-8 \xNN, so that two
 * regions never have one label; the backslash itself is doubled for the label. */
static void path_character(struct cp_out *out, const char *at, size_t length)
{
	unsigned char c = (unsigned char)*at;

	if (length == 1 && c == '/')
		cp_out_text(out, "\\\\/");
	else if (length == 1 && c == '\\')
		cp_out_text(out, "\\\\\\\\");
	else if (!length || c < ' ' || c == 0x7f)
		cp_out_format(out, "\\\\x%02x", c);
	else
		put_character(out, at, length);
}

static void put_path(struct metrics *m, const struct cp_region *region)
{
	const struct cp_slice *names[CP_MAX_DEPTH];
	unsigned depth = cp_region_path(region, names);

	for (unsigned i = 0; i < depth; i++) {
		cp_out_text(m->out, i ? "/" : "");
		for (const char *at = names[i]->at; at < names[i]->end;) {
			size_t bytes = cp_utf8_length(at, (size_t)(names[i]->end - at));

			path_character(m->out, at, bytes);
			at += bytes ? bytes : 1;
		}
	}
}

static void put_sample(
	struct metrics *m, const char *name, const struct cp_region *region)
{
	cp_out_text(m->out, name);
	m->first = true;
	put_label(m, "exe", m->exe);
	begin_label(m, "region");
	put_path(m, region);
	cp_out_text(m->out, "\"");
}

static void put_number(struct metrics *m, double value)
{
	if (value > -9e15 && value < 9e15 && value == (double)(int64_t)value)
		cp_out_format(m->out, "} %ld\n", (long)value);
	else
		cp_out_format(m->out, "} %.10g\n", value);
}

static void begin_family(struct metrics *m, const char *name, const char *help)
{
	cp_out_format(m->out, "# TYPE %s gauge\n# HELP %s %s\n", name, name, help);
}

#define EACH_REGION(m, region)                                                           \
	for (const struct cp_region *region = (m)->report->total; region;                \
		region = cp_region_next((m)->report->total, region))

/* ---- counts ---- */

static void put_count(struct metrics *m, const char *name, const struct cp_region *region,
	size_t quantity, double value)
{
	put_sample(m, name, region);
	put_label(m, "event", m->report->quantities[quantity]);
	put_label(m, "status", cp_status_name(region->counts[quantity].status));
	put_number(m, value);
}

static bool is_known(const struct metrics *m, const struct cp_region *region, size_t i)
{
	return cp_report_shows(m->report, i) &&
	       region->counts[i].status != CP_UNAVAILABLE;
}

static void put_events(struct metrics *m)
{
	begin_family(m, "cachepeek_events",
		"Events counted in a region, nested ones included.");
	EACH_REGION(m, region)
	for (size_t i = 0; i < m->report->nquantities; i++)
		if (is_known(m, region, i))
			put_count(m, "cachepeek_events", region, i,
				(double)region->counts[i].value);
}

static void put_errors(struct metrics *m)
{
	begin_family(m, "cachepeek_events_error",
		"Half-width of the 95 % error bar of cachepeek_events, in events.");
	EACH_REGION(m, region)
	for (size_t i = 0; i < m->report->nquantities; i++)
		if (region->counts[i].status == CP_SCALED && region->counts[i].error >= 0)
			put_count(m, "cachepeek_events_error", region, i,
				region->counts[i].error);
}

static void put_coverages(struct metrics *m)
{
	begin_family(m, "cachepeek_events_coverage_ratio",
		"Part of the time in which cachepeek_events was counted.");
	EACH_REGION(m, region)
	for (size_t i = 0; i < m->report->nquantities; i++)
		if (is_known(m, region, i))
			put_count(m, "cachepeek_events_coverage_ratio", region, i,
				region->counts[i].coverage);
}

/* ---- metrics, calls, time ---- */

static void put_derived(struct metrics *m)
{
	begin_family(m, "cachepeek_metric",
		"Metrics of the groups, computed from the events.");
	EACH_REGION(m, region)
	for (size_t i = 0; i < m->report->nmetrics; i++) {
		const struct cp_value *value = &region->metrics[i].value;

		if (value->status == CP_UNAVAILABLE)
			continue;
		put_sample(m, "cachepeek_metric", region);
		put_label(m, "metric", m->report->metrics[i]->name);
		put_label(m, "unit", m->report->metrics[i]->unit);
		put_label(m, "status", cp_status_name(value->status));
		put_number(m, value->value);
	}
}

static void put_calls(struct metrics *m)
{
	begin_family(m, "cachepeek_region_calls", "Executions of a region.");
	EACH_REGION(m, region)
	{
		put_sample(m, "cachepeek_region_calls", region);
		put_number(m, (double)region->calls);
	}
}

static void put_seconds(struct metrics *m)
{
	begin_family(
		m, "cachepeek_region_seconds", "Time in a region, summed over threads.");
	EACH_REGION(m, region)
	{
		if (region->seconds.status == CP_UNAVAILABLE)
			continue;
		put_sample(m, "cachepeek_region_seconds", region);
		put_label(m, "status", cp_status_name(region->seconds.status));
		put_number(m, region->seconds.value);
	}
}

/* ---- what is not there ---- */

static void put_missing(struct metrics *m, const struct cp_region *region,
	const char *kind, const char *name, enum cp_status status, const char *reason)
{
	if (status != CP_UNAVAILABLE)
		return;
	put_sample(m, "cachepeek_unavailable", region);
	put_label(m, "kind", kind);
	put_label(m, "name", name);
	put_label(m, "reason", reason ? reason : "");
	put_number(m, 1);
}

static void put_unavailable(struct metrics *m)
{
	begin_family(m, "cachepeek_unavailable", "What could not be counted, and why.");
	EACH_REGION(m, region)
	{
		put_missing(m, region, "time", "time_s", region->seconds.status,
			region->seconds.reason);
		for (size_t i = 0; i < m->report->nquantities; i++)
			if (cp_report_shows(m->report, i))
				put_missing(m, region, "event", m->report->quantities[i],
					region->counts[i].status,
					region->counts[i].reason);
		for (size_t i = 0; i < m->report->nmetrics; i++)
			put_missing(m, region, "metric", m->report->metrics[i]->name,
				region->metrics[i].value.status,
				region->metrics[i].value.reason);
	}
}

static void put_info(struct metrics *m)
{
	static const char *const engines[] = {"none", "perf", "sim"};
	const struct cp_report *report = m->report;
	const char *cut = cp_report_cut(report->arena, report);

	begin_family(m, "cachepeek_info", "What counted the run, and on which machine.");
	cp_out_text(m->out, "cachepeek_info");
	m->first = true;
	put_label(m, "exe", m->exe);
	put_label(m, "version", report->version ? report->version : "");
	put_label(m, "engine", engines[report->engine]);
	put_label(m, "domain", report->domain ? report->domain : "");
	put_label(m, "machine", report->machine ? report->machine : "");
	if (cut)
		put_label(m, "ended", cut);
	put_number(m, 1);
}

void cp_openmetrics_write(struct cp_out *out, const struct cp_report *report)
{
	const char *exe = report->narguments ? report->command[0] : "";
	struct metrics m = {.out = out, .report = report, .exe = cp_base_name(exe)};

	put_info(&m);
	put_calls(&m);
	put_seconds(&m);
	put_events(&m);
	put_errors(&m);
	put_coverages(&m);
	put_derived(&m);
	put_unavailable(&m);
	cp_out_text(out, "# EOF\n");
}
