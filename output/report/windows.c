/* SPDX-License-Identifier: MIT */
#include "output/report/windows.h"

#include <string.h>

#include "base/text.h"
#include "output/report/course.h"

static const char *const names[] = {"windows", "window_data_lines", "window_data_pages",
	"window_code_lines", "window_code_pages"};

bool cp_windows_is_quantity(const char *name)
{
	return CP_IS_AMONG(name, names);
}

/* "… NAME=NUMBER …" */
static uint64_t number_after(const char *text, const char *name)
{
	const char *at = text ? strstr(text, name) : NULL, *end;
	uint64_t value;

	return at && cp_parse_u64_prefix(at + strlen(name), &end, &value) == 0 ? value
									       : 0;
}

bool cp_windows_find(const struct cp_report *report, struct cp_windows *windows)
{
	size_t *const index[] = {&windows->windows, &windows->data_lines,
		&windows->data_pages, &windows->code_lines, &windows->code_pages};

	memset(windows, 0, sizeof(*windows));
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int at = cp_report_quantity(report, names[i]);

		if (at < 0)
			return false;
		*index[i] = (size_t)at;
	}
	windows->length = number_after(report->windows, "length=");
	windows->line = number_after(report->windows, " line=");
	windows->code_line = number_after(report->windows, "code_line=");
	windows->page = number_after(report->windows, "page=");
	windows->dtlb = number_after(report->windows, "dtlb=");
	windows->second = number_after(report->windows, "second=");
	return true;
}

struct cp_value cp_windows_mean(
	const struct cp_windows *windows, const struct cp_region *region, size_t quantity)
{
	const struct cp_count *count = &region->counts[quantity],
			      *over = &region->counts[windows->windows];

	if (over->status == CP_UNAVAILABLE)
		return cp_unavailable(over->reason);
	if (count->status == CP_UNAVAILABLE)
		return cp_unavailable(count->reason);
	if (!over->value)
		return cp_unavailable("no instruction was counted there");
	return (struct cp_value){.value = (double)count->value / (double)over->value,
		.status = count->status};
}

static double sum_over(
	const struct cp_course_line *line, size_t quantity, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; line->values[quantity] && i < to; i++)
		if (line->values[quantity][i] > 0)
			sum += line->values[quantity][i];
	return sum;
}

double cp_windows_mean_over(const struct cp_windows *windows,
	const struct cp_course_line *line, size_t quantity, size_t from, size_t to)
{
	double over = sum_over(line, windows->windows, from, to);

	return over > 0 ? sum_over(line, quantity, from, to) / over : -1;
}

const char *cp_windows_reach(const struct cp_windows *windows, double pages)
{
	if (!windows->dtlb || pages < 0)
		return NULL;
	if (pages <= (double)windows->dtlb)
		return "first";
	return pages <= (double)windows->second ? "second" : "none";
}
