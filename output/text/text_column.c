/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/counts.h"
#include "output/text/text_parts.h"

bool cp_text_column_find(
	const struct cp_report *report, const char *name, struct cp_text_column *column)
{
	int metric = cp_report_metric(report, name),
	    quantity = cp_report_quantity(report, name);

	if (metric < 0 && quantity < 0)
		return false;
	*column = (struct cp_text_column){.is_metric = metric >= 0,
		.index = (size_t)(metric >= 0 ? metric : quantity),
		.name = name,
		.unit = metric >= 0 ? report->metrics[metric]->unit : "",
		.divisor = 1};
	return true;
}

struct cp_value cp_text_column_value(
	const struct cp_text_column *column, const struct cp_region *region)
{
	const struct cp_count *count = &region->counts[column->index];

	if (column->is_metric)
		return region->metrics[column->index].value;
	return (struct cp_value){.value = (double)count->value,
		.status = count->status,
		.reason = count->reason};
}

const struct cp_extent *cp_text_column_extent(
	const struct cp_text_column *column, const struct cp_region *region)
{
	return column->is_metric ? &region->metrics[column->index].over
				 : &region->counts[column->index].over;
}

const char *cp_text_column_unit(const struct cp_text_column *column)
{
	if (!column->is_metric)
		return column->divisor > 1 ? "M" : "";
	if (strcmp(column->unit, "s") == 0)
		return ""; /* each cell has its own */
	if (strcmp(column->unit, "ratio") == 0)
		return "%";
	if (strcmp(column->unit, "1/kinstr") == 0)
		return "/kI";
	if (strcmp(column->unit, "1/instr") == 0)
		return "/I";
	return strncmp(column->unit, "1/", 2) == 0 ? column->unit + 1 : column->unit;
}

static bool is_time(const struct cp_text_column *column)
{
	return column->is_metric && strcmp(column->unit, "s") == 0;
}

static const char *plain_cell(
	struct cp_text *text, const struct cp_text_column *column, double value)
{
	if (!column->is_metric && column->divisor == 1 && value < 0x1p64 &&
		value == (double)cp_count_of(value))
		return cp_text_integer(text->arena, cp_count_of(value));
	if (!column->is_metric)
		return cp_text_decimal(text->arena, value / column->divisor);
	if (is_time(column))
		return cp_text_seconds(text->arena, value);
	if (strcmp(column->unit, "ratio") == 0)
		value *= 100;
	return cp_text_decimal(text->arena, value);
}

const char *cp_text_column_cell(
	struct cp_text *text, const struct cp_text_column *column, struct cp_value value)
{
	const char *cell;

	if (value.status == CP_UNAVAILABLE)
		return "—";
	cell = plain_cell(text, column, value.value);
	return value.status == CP_ESTIMATED ? cp_text_format(text->arena, "~%s", cell)
					    : cell;
}

/* Decimal prefixes: GB = 1e9 bytes. */
static const char *bytes_text(struct cp_text *text, double gigabytes)
{
	static const char *const units[] = {"GB", "MB", "kB", "bytes"};
	int i = 0;

	for (; i < 3 && gigabytes < 1; i++)
		gigabytes *= 1000;
	if (i == 3)
		return cp_text_format(text->arena, "%.0f bytes", gigabytes);
	return cp_text_format(
		text->arena, "%s %s", cp_text_decimal(text->arena, gigabytes), units[i]);
}

const char *cp_text_with_unit(
	struct cp_text *text, const struct cp_metric *metric, struct cp_value value)
{
	struct cp_text_column column = {
		.is_metric = true, .unit = metric->unit, .divisor = 1};
	const char *unit = cp_text_column_unit(&column);
	const char *estimated = value.status == CP_ESTIMATED ? "~" : "";

	if (strcmp(metric->unit, "GB") == 0)
		return cp_text_format(
			text->arena, "%s%s", estimated, bytes_text(text, value.value));
	return cp_text_format(text->arena, "%s%s",
		cp_text_column_cell(text, &column, value),
		*unit == '/' || !*unit ? unit : cp_text_format(text->arena, " %s", unit));
}

const char *cp_text_path(struct cp_text *text, const struct cp_region *region)
{
	const struct cp_slice *names[CP_MAX_DEPTH];
	unsigned depth = cp_region_path(region, names);
	const char *path = "";

	for (unsigned i = 0; i < depth; i++)
		path = cp_text_format(text->arena, "%s%s%s", path, i ? "/" : "",
			cp_text_safe(text->arena, *names[i]));
	return path;
}
