/* SPDX-License-Identifier: MIT */
#include "output/json_regions.h"

#include <string.h>

#include "output/json_table.h"
#include "output/json_values.h"

static void region_flags(struct cp_json *json, uint32_t flags)
{
	static const char *const names[] = {"end_without_begin", "wrong_name",
		"left_open", "read_failed", "overlapping", "deeper", "continued", "short",
		"elsewhere", "at_exec", "parts"};
	bool first = true;

	cp_json_key(json, "flags");
	cp_out_text(json->out, "[");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(flags & 1u << i))
			continue;
		cp_out_format(json->out, "%s\"%s\"", first ? "" : ", ", names[i]);
		first = false;
	}
	cp_out_text(json->out, "]");
}

/* Which ranks, if they are few. */
static void put_entered(struct cp_json *json, const struct cp_region *r)
{
	cp_json_integer(json, "ranks", r->nranks);
	if (r->nranks > CP_FEW_RANKS || r->nranks >= json->report->total->nranks)
		return;
	cp_json_key(json, "entered_by");
	for (size_t i = 0; i < r->nranks; i++)
		cp_out_format(json->out, "%s%d", i ? ", " : "[", r->entered[i]);
	cp_out_text(json->out, "]");
}

static void put_region(struct cp_json *json, const struct cp_region *r, bool merged)
{
	bool full = !json->brief || (merged && !r->parent);
	struct cp_json_row row = {r->calls, full, merged, NULL};

	if (merged && !full)
		row.at = cp_json_only_place(json->report, r);
	cp_json_indent(json);
	json->flat = true;
	cp_json_open(json, "{");
	cp_json_key(json, "path");
	cp_json_path(json->out, r);
	cp_json_integer(json, "calls", r->calls);
	cp_json_seconds(json, r, &row);
	if (merged)
		cp_json_integer(json, "threads", r->nthreads);
	if (row.at)
		cp_json_place(json, "at", row.at);
	if (merged && json->report->job)
		put_entered(json, r);
	if (r->flags)
		region_flags(json, r->flags);
	cp_json_counts(json, r->counts, &row);
	cp_json_metrics(json, r->metrics, &row);
	cp_json_close(json, "}");
	json->flat = false;
}

static void put_regions(struct cp_json *json, const struct cp_region *root, bool merged)
{
	cp_json_key(json, "regions");
	cp_json_open(json, "[");
	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		put_region(json, r, merged);
	cp_json_close(json, "]");
}

/* ---- is a thread all of the run? ---- */

static bool same_text(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static bool same_value(const struct cp_value *one, const struct cp_value *other)
{
	return one->status == other->status && same_text(one->reason, other->reason) &&
	       (one->status == CP_UNAVAILABLE || one->value == other->value);
}

static bool same_calls(const struct cp_count *one, const struct cp_count *other)
{
	return one->calls_known == other->calls_known &&
	       (!one->calls_known || (one->call_min == other->call_min &&
					     one->call_max == other->call_max &&
					     one->call_mean == other->call_mean &&
					     one->call_stddev == other->call_stddev));
}

static bool same_count(const struct cp_count *one, const struct cp_count *other)
{
	return one->status == other->status && same_text(one->reason, other->reason) &&
	       one->socket == other->socket && same_calls(one, other) &&
	       (one->status == CP_UNAVAILABLE ||
		       (one->value == other->value &&
			       one->exclusive == other->exclusive &&
			       one->exclusive_status == other->exclusive_status &&
			       one->coverage == other->coverage &&
			       one->error == other->error));
}

static bool same_name(struct cp_slice one, struct cp_slice other)
{
	size_t length = cp_slice_length(one);

	return length == cp_slice_length(other) &&
	       (!length || memcmp(one.at, other.at, length) == 0);
}

static bool same_region(const struct cp_report *report, const struct cp_region *one,
	const struct cp_region *other)
{
	const uint32_t of_run = CP_REGION_SHORT; /* which is said of no thread */
	bool same = one->depth == other->depth && one->calls == other->calls &&
		    ((one->flags ^ other->flags) & ~of_run) == 0 &&
		    same_name(one->name, other->name) &&
		    one->seconds_error == other->seconds_error &&
		    same_value(&one->seconds, &other->seconds);

	for (size_t i = 0; same && i < report->nquantities; i++)
		same = same_count(&one->counts[i], &other->counts[i]);
	for (size_t i = 0; same && i < report->nmetrics; i++)
		same = same_value(&one->metrics[i].value, &other->metrics[i].value) &&
		       one->metrics[i].error == other->metrics[i].error;
	return same;
}

static bool is_all(const struct cp_report *report, const struct cp_region *root)
{
	const struct cp_region *one = root, *other = report->total;

	if (other->nthreads != 1)
		return false;
	while (one && other && same_region(report, one, other)) {
		one = cp_region_next(root, one);
		other = cp_region_next(report->total, other);
	}
	return !one && !other;
}

/* ---- where they stand ---- */

void cp_json_regions(struct cp_json *json)
{
	if (!json->page) {
		put_regions(json, json->report->total, true);
		return;
	}
	cp_json_key(json, "regions");
	cp_json_table(json, json->report->total, true);
}

void cp_json_thread_regions(struct cp_json *json, const struct cp_region *root)
{
	if (!json->page) {
		if (!json->brief || !is_all(json->report, root))
			put_regions(json, root, false);
		return;
	}
	cp_json_key(json, "regions");
	if (json->report->total->nthreads > 1)
		cp_json_table(json, root, false);
	else
		cp_out_text(json->out, "null");
}
