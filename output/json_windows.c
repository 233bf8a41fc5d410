/* SPDX-License-Identifier: MIT */
#include "output/json_windows.h"

#include "base/out.h"
#include "output/json_lines.h"

static void put_mean(struct cp_out *out, const char *name, struct cp_value value)
{
	if (value.status == CP_UNAVAILABLE)
		cp_out_format(out, ", \"%s\": null", name);
	else
		cp_out_format(out, ", \"%s\": %.10g", name, value.value);
}

static void put_region(struct cp_out *out, const struct cp_windows *windows,
	const struct cp_region *region)
{
	struct cp_value value = cp_windows_mean(windows, region, windows->data_lines);
	const struct cp_count *count = &region->counts[windows->windows];

	cp_out_text(out, "{\"path\": ");
	cp_json_path(out, region);
	if (count->status == CP_UNAVAILABLE)
		cp_out_text(out, ", \"windows\": null");
	else
		cp_out_format(out, ", \"windows\": %lu", (unsigned long)count->value);
	put_mean(out, "data_lines", value);
	put_mean(
		out, "data_pages", cp_windows_mean(windows, region, windows->data_pages));
	put_mean(
		out, "code_lines", cp_windows_mean(windows, region, windows->code_lines));
	put_mean(
		out, "code_pages", cp_windows_mean(windows, region, windows->code_pages));
	cp_out_format(
		out, ", \"status\": \"%s\", \"reason\": ", cp_status_name(value.status));
	if (value.reason)
		cp_json_quoted(out, value.reason);
	else
		cp_out_text(out, "null");
	cp_out_text(out, "}");
}

void cp_json_windows(struct cp_out *out, const struct cp_report *report,
	const struct cp_windows *windows)
{
	cp_out_text(out, "{\"unit\": \"instructions\"");
	cp_json_next_count(out, "length", windows->length);
	cp_json_next_count(out, "line", windows->line);
	cp_json_next_count(out, "code_line", windows->code_line);
	cp_json_next_count(out, "page", windows->page);
	cp_json_next_count(out, "dtlb_entries", windows->dtlb);
	cp_json_next_count(out, "second_tlb_entries", windows->second);
	cp_out_text(out, ",\n  \"regions\": [");
	for (const struct cp_region *r = report->total; r;
		r = cp_region_next(report->total, r)) {
		cp_out_text(out, r == report->total ? "\n   " : ",\n   ");
		put_region(out, windows, r);
	}
	cp_out_text(out, "\n  ]}");
}
