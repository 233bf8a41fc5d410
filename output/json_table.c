/* SPDX-License-Identifier: MIT */
#include "output/json_table.h"

#include <string.h>

#define STATES 64 /* that are kept; what comes later stands where it is used */

/* A value and what is known of it; below 0 coverage and error are not known. */
struct cell {
	double value;
	enum cp_status status;
	const char *reason;
	double coverage, error;
	bool socket;
};

struct table {
	struct cp_json *json;
	const struct cp_region *root;
	struct cell states[STATES];
	size_t nstates;
};

static struct cell count_cell(const struct cp_count *c)
{
	bool there = c->status != CP_UNAVAILABLE;

	return (struct cell){(double)c->value, c->status, c->reason,
		there ? c->coverage : -1, there ? c->error : -1, c->socket};
}

static struct cell value_cell(const struct cp_value *v, double error)
{
	return (struct cell){v->value, v->status, v->reason, -1, error, false};
}

static size_t count_columns(const struct table *t)
{
	return 1 + t->json->report->nquantities + t->json->report->nmetrics;
}

static bool is_shown(const struct table *t, size_t column)
{
	return !column || column > t->json->report->nquantities ||
	       cp_report_shows(t->json->report, column - 1);
}

static struct cell find_cell(
	const struct table *t, const struct cp_region *r, size_t column)
{
	size_t ncounts = t->json->report->nquantities;

	if (!column)
		return value_cell(&r->seconds, r->seconds_error);
	if (column <= ncounts)
		return count_cell(&r->counts[column - 1]);
	return value_cell(&r->metrics[column - 1 - ncounts].value,
		r->metrics[column - 1 - ncounts].error);
}

static bool same_reason(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static bool same_state(const struct cell *one, const struct cell *other)
{
	return one->status == other->status && one->coverage == other->coverage &&
	       one->error == other->error && one->socket == other->socket &&
	       same_reason(one->reason, other->reason);
}

static void put_state(struct cp_json *json, const struct cell *it)
{
	cp_out_format(json->out, "{\"status\": \"%s\"", cp_status_name(it->status));
	cp_json_inline_known(json, "coverage", it->coverage);
	cp_json_inline_known(json, "error", it->error);
	cp_json_inline_text(json, "reason", it->reason);
	if (it->socket)
		cp_json_inline_text(json, "scope", "socket");
	cp_out_text(json->out, "}");
}

static void refer_to_state(struct table *t, const struct cell *it)
{
	size_t i = 0;

	while (i < t->nstates && !same_state(&t->states[i], it))
		i++;
	if (i == STATES) {
		put_state(t->json, it);
		return;
	}
	if (i == t->nstates)
		t->states[t->nstates++] = *it;
	cp_out_format(t->json->out, "%zu", i);
}

static void put_value(struct cp_json *json, const struct cell *it)
{
	if (it->status == CP_UNAVAILABLE)
		cp_out_text(json->out, "null");
	else
		cp_json_value(json, it->value);
}

static void put_cell(struct table *t, const struct cp_region *r, size_t column)
{
	struct cell it = find_cell(t, r, column), usual = find_cell(t, t->root, column);
	bool same = same_state(&it, &usual);

	cp_out_text(t->json->out, column ? "," : "");
	cp_out_text(t->json->out, same ? "" : "[");
	put_value(t->json, &it);
	if (same)
		return;
	cp_out_text(t->json->out, ",");
	refer_to_state(t, &it);
	cp_out_text(t->json->out, "]");
}

static void put_row(struct table *t, const struct cp_region *r, bool merged)
{
	struct cp_json *json = t->json;
	bool few = merged && json->report->job && r->nranks <= CP_FEW_RANKS &&
		   r->nranks < json->report->total->nranks;

	cp_json_indent(json);
	cp_out_text(json->out, "[");
	cp_json_path(json->out, r);
	cp_out_format(json->out, ",%lu,%zu,", (unsigned long)r->calls, r->nthreads);
	cp_out_text(json->out, few ? "[" : "null");
	for (size_t i = 0; few && i < r->nranks; i++)
		cp_out_format(json->out, "%s%d", i ? "," : "", r->entered[i]);
	cp_out_text(json->out, few ? "],[" : ",[");
	for (size_t i = 0; i < count_columns(t); i++)
		if (is_shown(t, i))
			put_cell(t, r, i);
	cp_out_text(json->out, "]]");
}

void cp_json_table(struct cp_json *json, const struct cp_region *root, bool merged)
{
	struct table t = {.json = json, .root = root};

	cp_json_open(json, "{");
	cp_json_key(json, "columns");
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < count_columns(&t); i++) {
		struct cell it = find_cell(&t, root, i);

		if (!is_shown(&t, i))
			continue;
		cp_out_text(json->out, i ? "," : "");
		refer_to_state(&t, &it);
	}
	cp_out_text(json->out, "]");
	cp_json_key(json, "rows");
	cp_json_open(json, "[");
	for (const struct cp_region *r = root; r; r = cp_region_next(root, r))
		put_row(&t, r, merged);
	cp_json_close(json, "]");
	cp_json_key(json, "states");
	cp_json_open(json, "[");
	for (size_t i = 0; i < t.nstates; i++) {
		cp_json_indent(json);
		put_state(json, &t.states[i]);
	}
	cp_json_close(json, "]");
	cp_json_close(json, "}");
}
