/* SPDX-License-Identifier: MIT
 *
 * The miss curves of a sweep as JSON: one line for each point, and for each region.
 */
#include "base/out.h"
#include "output/json_lines.h"
#include "output/report/sweep.h"

static void put_point(struct cp_out *out, const struct cp_report *report,
	const struct cp_sweep *sweep, const struct cp_sweep_point *point)
{
	cp_out_format(out, "{\"value\": %lu, \"label\": ", (unsigned long)point->value);
	cp_json_string(out, point->label, point->label_length);
	cp_json_next_count(out, "sets", point->sets);
	cp_json_next_count(out, "ways", point->ways);
	cp_json_next_count(out, "bytes", point->sets * point->ways * sweep->line);
	cp_out_text(out, ", \"count\": ");
	cp_json_quoted(out, report->quantities[point->quantity]);
	cp_out_text(out, "}");
}

/* A curve is as good as the worst of its points. */
static void put_curve(
	struct cp_out *out, const struct cp_sweep *sweep, const struct cp_region *region)
{
	enum cp_status status = CP_EXACT;
	const char *reason = NULL;

	cp_out_text(out, "{\"path\": ");
	cp_json_path(out, region);
	cp_out_text(out, ", \"misses\": [");
	for (size_t i = 0; i < sweep->npoints; i++) {
		const struct cp_count *count = &region->counts[sweep->point[i].quantity];

		cp_out_text(out, i ? ", " : "");
		if (count->status == CP_UNAVAILABLE)
			cp_out_text(out, "null");
		else
			cp_out_format(out, "%lu", (unsigned long)count->value);
		if (count->status > status)
			status = count->status;
		if (count->reason)
			reason = count->reason;
	}
	cp_out_format(out, "], \"status\": \"%s\", \"reason\": ", cp_status_name(status));
	if (reason)
		cp_json_quoted(out, reason);
	else
		cp_out_text(out, "null");
	cp_out_text(out, "}");
}

void cp_json_sweep(
	struct cp_out *out, const struct cp_report *report, const struct cp_sweep *sweep)
{
	const struct cp_region *root = report->total;

	cp_out_format(out, "{\"level\": \"%s\", \"title\": \"%s\", \"field\": \"%s\"",
		sweep->level, sweep->title, sweep->field);
	cp_json_next_count(out, "own", sweep->own);
	cp_json_next_count(out, "line", sweep->line);
	cp_out_text(out, ",\n  \"points\": [");
	for (size_t i = 0; i < sweep->npoints; i++) {
		cp_out_text(out, i ? ",\n   " : "\n   ");
		put_point(out, report, sweep, &sweep->point[i]);
	}
	cp_out_text(out, "\n  ],\n  \"curves\": [");
	for (const struct cp_region *r = root; r; r = cp_region_next(root, r)) {
		cp_out_text(out, r == root ? "\n   " : ",\n   ");
		put_curve(out, sweep, r);
	}
	cp_out_text(out, "\n  ],\n  \"other_levels\": {\"status\": \"unavailable\", "
			 "\"reason\": ");
	cp_json_quoted(out, cp_sweep_limits);
	cp_out_text(out, "}\n }");
}
