/* SPDX-License-Identifier: MIT */
#include "output/json_values.h"

#include <string.h>

static bool same_text(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static double known_coverage(const struct cp_count *c)
{
	return c->status == CP_UNAVAILABLE ? -1 : c->coverage;
}

/* ---- over threads ---- */

void cp_json_rank(struct cp_json *json, int rank)
{
	if (rank < 0)
		cp_out_text(json->out, "null");
	else
		cp_out_format(json->out, "%d", rank);
}

void cp_json_place(struct cp_json *json, const char *name, const struct cp_place *at)
{
	cp_json_member(json, name);
	cp_json_first(json, "rank");
	cp_json_rank(json, at->rank);
	cp_json_inline_number(json, "pid", at->pid);
	cp_json_inline_number(json, "tid", at->tid);
	cp_out_text(json->out, "}");
}

static bool is_same_place(const struct cp_place *one, const struct cp_place *other)
{
	return one->rank == other->rank && one->pid == other->pid &&
	       one->tid == other->tid;
}

/* Whether that value, too, is of the place, which is that of the first one. */
static bool is_there(const struct cp_extent *over, const struct cp_place **place)
{
	if (!*place)
		*place = &over->min_at;
	return over->nthreads == 1 && is_same_place(&over->min_at, *place);
}

const struct cp_place *cp_json_only_place(
	const struct cp_report *report, const struct cp_region *region)
{
	const struct cp_place *place = NULL;

	for (size_t i = 0; i < report->nquantities; i++)
		if (cp_report_shows(report, i) &&
			region->counts[i].status != CP_UNAVAILABLE &&
			!is_there(&region->counts[i].over, &place))
			return NULL;
	for (size_t i = 0; i < report->nmetrics; i++)
		if (region->metrics[i].value.status != CP_UNAVAILABLE &&
			!is_there(&region->metrics[i].over, &place))
			return NULL;
	return place;
}

static void put_extent(struct cp_json *json, const struct cp_extent *over, double value,
	const struct cp_json_row *row)
{
	if (!over->nthreads || (row->at && over->min == value))
		return;
	cp_json_inline_number(json, "min", over->min);
	cp_json_inline_number(json, "max", over->max);
	cp_json_inline_number(json, "mean", cp_extent_mean(over));
	cp_json_inline_number(json, "stddev", cp_extent_stddev(over));
	if (cp_extent_mean(over) > 0)
		cp_json_inline_number(
			json, "imbalance", over->max / cp_extent_mean(over));
	cp_json_place(json, "min_at", &over->min_at);
	cp_json_place(json, "max_at", &over->max_at);
}

/* ---- counts ---- */

/* Is it clear what a missing value means: that there is none, or that each execution had
 * the same? */
static bool is_per_call_clear(const struct cp_count *c, uint64_t calls)
{
	if (!c->calls_known)
		return !calls || c->status == CP_UNAVAILABLE;
	return calls && c->status != CP_UNAVAILABLE && c->call_min == c->call_max &&
	       c->call_mean == c->call_min && c->call_stddev == 0 &&
	       c->call_mean * (double)calls == (double)c->value;
}

static void per_call(
	struct cp_json *json, const struct cp_count *count, const struct cp_json_row *row)
{
	if (!row->full && is_per_call_clear(count, row->calls))
		return;
	cp_json_member(json, "per_call");
	if (!count->calls_known) {
		cp_out_text(json->out, "null");
		return;
	}
	cp_json_first(json, "min");
	cp_json_value(json, count->call_min);
	cp_json_inline_number(json, "max", count->call_max);
	cp_json_inline_number(json, "mean", count->call_mean);
	cp_json_inline_number(json, "stddev", count->call_stddev);
	cp_out_text(json->out, "}");
}

static void count_value(struct cp_json *json, const struct cp_count *c, bool full)
{
	bool there = c->status != CP_UNAVAILABLE,
	     own = there && c->exclusive_status != CP_UNAVAILABLE;

	cp_json_first(json, "value");
	if (there)
		cp_out_format(json->out, "%lu", (unsigned long)c->value);
	else
		cp_out_text(json->out, "null");
	if (!full && own == there && (!own || c->exclusive == c->value))
		return;
	cp_json_member(json, "exclusive");
	if (own)
		cp_out_format(json->out, "%lu", (unsigned long)c->exclusive);
	else
		cp_out_text(json->out, "null");
}

/* Writes what is known of it, except for what is usual; NULL: all. */
static void count_state(
	struct cp_json *json, const struct cp_count *c, const struct cp_count *usual)
{
	bool there = c->status != CP_UNAVAILABLE;

	if (!usual || c->status != usual->status)
		cp_json_inline_text(json, "status", cp_status_name(c->status));
	if (there && c->exclusive_status > c->status)
		cp_json_inline_text(
			json, "exclusive_status", cp_status_name(c->exclusive_status));
	if (!usual || known_coverage(c) != known_coverage(usual))
		cp_json_inline_known(json, "coverage", known_coverage(c));
	if (!usual || (there && c->error >= 0))
		cp_json_inline_known(json, "error", there ? c->error : -1);
	if (!usual || !same_text(c->reason, usual->reason))
		cp_json_inline_text(json, "reason", c->reason);
	if (c->socket != (usual && usual->socket))
		cp_json_inline_text(json, "scope", c->socket ? "socket" : NULL);
}

static void put_count(struct cp_json *json, size_t which, const struct cp_count *c,
	const struct cp_json_row *row)
{
	const struct cp_report *report = json->report;

	cp_json_key(json, report->quantities[which]);
	count_value(json, c, row->full);
	count_state(json, c, row->full ? NULL : &report->total->counts[which]);
	per_call(json, c, row);
	if (c->status != CP_UNAVAILABLE && row->merged)
		put_extent(json, &c->over, (double)c->value, row);
	cp_out_text(json->out, "}");
}

void cp_json_counts(
	struct cp_json *json, const struct cp_count *all, const struct cp_json_row *row)
{
	cp_json_key(json, "counts");
	cp_json_open(json, "{");
	for (size_t i = 0; i < json->report->nquantities; i++)
		if (cp_report_shows(json->report, i))
			put_count(json, i, &all[i], row);
	cp_json_close(json, "}");
}

/* ---- other values ---- */

static void put_value(struct cp_json *json, const struct cp_value *v)
{
	cp_json_first(json, "value");
	if (v->status == CP_UNAVAILABLE)
		cp_out_text(json->out, "null");
	else
		cp_json_value(json, v->value);
}

static void value_state(struct cp_json *json, const struct cp_value *v, double error,
	const struct cp_value *usual)
{
	if (!usual || v->status != usual->status)
		cp_json_inline_text(json, "status", cp_status_name(v->status));
	if (error >= 0 && v->status != CP_UNAVAILABLE)
		cp_json_inline_number(json, "error", error);
	if (!usual || !same_text(v->reason, usual->reason))
		cp_json_inline_text(json, "reason", v->reason);
}

void cp_json_seconds(struct cp_json *json, const struct cp_region *region,
	const struct cp_json_row *row)
{
	cp_json_key(json, "time_s");
	put_value(json, &region->seconds);
	value_state(json, &region->seconds, region->seconds_error,
		row->full ? NULL : &json->report->total->seconds);
	cp_out_text(json->out, "}");
}

static void put_metric(struct cp_json *json, size_t which, const struct cp_result *it,
	const struct cp_json_row *row)
{
	const struct cp_report *report = json->report;

	cp_json_key(json, report->metrics[which]->name);
	put_value(json, &it->value);
	if (row->full)
		cp_json_inline_text(json, "unit", report->metrics[which]->unit);
	value_state(json, &it->value, it->error,
		row->full ? NULL : &report->total->metrics[which].value);
	if (row->merged && it->value.status != CP_UNAVAILABLE)
		put_extent(json, &it->over, it->value.value, row);
	cp_out_text(json->out, "}");
}

void cp_json_metrics(
	struct cp_json *json, const struct cp_result *all, const struct cp_json_row *row)
{
	cp_json_key(json, "metrics");
	cp_json_open(json, "{");
	for (size_t i = 0; i < json->report->nmetrics; i++)
		put_metric(json, i, &all[i], row);
	cp_json_close(json, "}");
}

/* ---- what is usual ---- */

static void usual_count(struct cp_json *json, size_t which)
{
	const struct cp_count *c = &json->report->total->counts[which];

	cp_json_key(json, json->report->quantities[which]);
	cp_out_format(json->out, "{\"status\": \"%s\"", cp_status_name(c->status));
	cp_json_inline_known(json, "coverage", known_coverage(c));
	cp_json_inline_text(json, "error", NULL);
	cp_json_inline_text(json, "reason", c->reason);
	if (c->socket)
		cp_json_inline_text(json, "scope", "socket");
	cp_out_text(json->out, "}");
}

static void usual_metric(struct cp_json *json, size_t which)
{
	const struct cp_value *value = &json->report->total->metrics[which].value;

	cp_json_key(json, json->report->metrics[which]->name);
	cp_out_format(json->out, "{\"status\": \"%s\"", cp_status_name(value->status));
	cp_json_inline_text(json, "unit", json->report->metrics[which]->unit);
	cp_json_inline_text(json, "reason", value->reason);
	cp_out_text(json->out, "}");
}

void cp_json_usual(struct cp_json *json)
{
	const struct cp_value *seconds = &json->report->total->seconds;

	cp_json_key(json, "usual");
	cp_json_open(json, "{");
	cp_json_key(json, "time_s");
	cp_out_format(json->out, "{\"status\": \"%s\"", cp_status_name(seconds->status));
	cp_json_inline_text(json, "reason", seconds->reason);
	cp_out_text(json->out, "}");
	cp_json_key(json, "counts");
	cp_json_open(json, "{");
	for (size_t i = 0; i < json->report->nquantities; i++)
		if (cp_report_shows(json->report, i))
			usual_count(json, i);
	cp_json_close(json, "}");
	cp_json_key(json, "metrics");
	cp_json_open(json, "{");
	for (size_t i = 0; i < json->report->nmetrics; i++)
		usual_metric(json, i);
	cp_json_close(json, "}");
	cp_json_close(json, "}");
}
