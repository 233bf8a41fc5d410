/* SPDX-License-Identifier: MIT
 *
 * The row to look at first, and why.
 */
#include <string.h>

#include "output/text/text_parts.h"

/* The least share of the whole run's instructions, or of its cost, that is marked. */
#define WORTH_MARKING 0.01

/* Cycles, or seconds of the timing model. */
static bool is_unit_of_cost(const char *unit)
{
	return strcmp(unit, "cycles") == 0 || strcmp(unit, "s") == 0;
}

/* A cost is what a region adds to the run; a ratio or a rate is how it fares. */
static bool is_cost(const struct cp_text_column *column)
{
	return column->is_metric && is_unit_of_cost(column->unit);
}

bool cp_text_is_cost(const struct cp_report *report, const char *name)
{
	struct cp_text_column column;

	return cp_text_column_find(report, name, &column) && is_cost(&column);
}

/* Weights of misses say less of time than a model that was counted with. */
static const char *mark_of_cost(const struct cp_report *report, const char *mark)
{
	struct cp_text_column column;

	if (!cp_text_column_find(report, CP_STALLS, &column) ||
		cp_text_column_value(&column, report->total).status == CP_UNAVAILABLE)
		return mark;
	return CP_STALLS;
}

const char *cp_text_mark(const struct cp_report *report, const struct cp_group *group)
{
	struct cp_text_column column;

	for (size_t i = 0; i < group->nmarks; i++)
		if (cp_text_column_find(report, group->marks[i], &column) &&
			cp_text_column_value(&column, report->total).status !=
				CP_UNAVAILABLE)
			return is_cost(&column) ? mark_of_cost(report, group->marks[i])
						: group->marks[i];
	return NULL;
}

/* Regions that do next to nothing have the wildest ratios. */
static bool does_something(const struct cp_report *report, const struct cp_region *region)
{
	int i = cp_report_quantity(report, "instructions");

	if (i < 0 || report->total->counts[i].status == CP_UNAVAILABLE)
		return true;
	return region->counts[i].status != CP_UNAVAILABLE &&
	       (double)region->counts[i].value >=
		       WORTH_MARKING * (double)report->total->counts[i].value;
}

static struct cp_value compared_value(const struct cp_text *text,
	const struct cp_text_column *column, const struct cp_region *region)
{
	if (is_cost(column))
		return cp_report_own(text->arena, text->report, region,
			text->report->metrics[column->index]);
	return cp_text_column_value(column, region);
}

static bool worth_marking(const struct cp_text *text, const struct cp_text_column *column,
	const struct cp_region *region, double value)
{
	const struct cp_region *root = text->report->total;

	if (!is_cost(column))
		return does_something(text->report, region);
	return value >= WORTH_MARKING * cp_text_column_value(column, root).value;
}

/* The part outside of all regions, if there are any, can cost more than each of them. */
static bool outside_is_worse(
	const struct cp_text *text, const struct cp_text_column *column, double worst)
{
	const struct cp_region *root = text->report->total;
	struct cp_value outside;

	if (!is_cost(column) || !root->child)
		return false;
	outside = compared_value(text, column, root);
	return outside.status != CP_UNAVAILABLE && outside.value > worst;
}

const struct cp_region *cp_text_worst(const struct cp_text *text, const char *mark)
{
	const struct cp_region *root = text->report->total, *found = NULL;
	struct cp_text_column column;
	double worst = 0;

	if (!mark || !cp_text_column_find(text->report, mark, &column))
		return NULL;
	for (const struct cp_region *r = cp_region_next(root, root); r;
		r = cp_region_next(root, r)) {
		struct cp_value value = compared_value(text, &column, r);

		if (value.status == CP_UNAVAILABLE || value.value <= worst ||
			!worth_marking(text, &column, r, value.value))
			continue;
		worst = value.value;
		found = r;
	}
	return outside_is_worse(text, &column, worst) ? root : found;
}

static const char *cost_text(struct cp_text *text, const struct cp_text_column *column,
	const struct cp_region *region, const char *cell)
{
	double own = compared_value(text, column, region).value,
	       all = cp_text_column_value(column, text->report->total).value;

	return cp_text_format(text->arena,
		"the most %s of its own, %s, %.0f %% of the run's", column->name, cell,
		100 * own / all);
}

void cp_text_why(struct cp_text *text, const struct cp_region *worst, const char *mark)
{
	struct cp_text_column column;
	const char *cell, *unit, *why;

	if (!worst || !cp_text_column_find(text->report, mark, &column))
		return;
	cell = cp_text_column_cell(text, &column, compared_value(text, &column, worst));
	unit = cp_text_column_unit(&column);
	why = is_cost(&column)
		      ? cost_text(text, &column, worst, cell)
		      : cp_text_format(text->arena,
				"the highest %s, %s%s%s, "
				"of the regions with 1 %% of the instructions or more",
				column.name, cell, *unit ? " " : "", unit);
	cp_text_wrap(text->out,
		cp_text_format(text->arena, "<== %s: %s",
			worst->parent ? cp_text_safe(text->arena, worst->name)
				      : CP_OUTSIDE,
			why),
		0, 4, text->width);
}
