/* SPDX-License-Identifier: MIT
 *
 * The comparison as a table.
 */
#include <string.h>

#include "output/report/ended.h"
#include "base/counts.h"
#include "base/text.h"
#include "base/text/table.h"
#include "tools/compare/compare.h"

#define WIDTH 80

/* The unit of a row. */
struct unit {
	const char *name;
	double factor;
};

/* Volumes in the unit that the largest of them needs. */
static struct unit unit_of(struct cp_comparison *c, const struct cp_metric *metric)
{
	static const struct unit bytes[] = {{"GB", 1}, {"MB", 1e3}, {"kB", 1e6}};
	double most = 0;
	size_t i = 0;

	if (!metric || strcmp(metric->unit, "GB") != 0)
		return (struct unit){metric ? metric->unit : "", 1};
	for (unsigned m = 0; m < c->nmachines; m++) {
		struct cp_value value = cp_compare_metric(c, m, metric);

		if (value.status != CP_UNAVAILABLE && value.value > most)
			most = value.value;
	}
	while (i < 2 && most * bytes[i].factor < 1)
		i++;
	return bytes[i];
}

static const char *cell_text(struct cp_comparison *c, const struct cp_metric *metric,
	const struct unit *unit, struct cp_value value)
{
	bool share = metric && strcmp(metric->unit, "ratio") == 0;
	const char *text;

	if (value.status == CP_UNAVAILABLE)
		return "\u2014";
	if (!metric)
		return cp_text_format(&c->arena, "%s%s",
			value.status == CP_ESTIMATED ? "~" : "",
			cp_text_integer(&c->arena, cp_count_of(value.value)));
	text = cp_text_decimal(&c->arena, value.value * (share ? 100 : unit->factor));
	return cp_text_format(&c->arena, "%s%s%s",
		value.status == CP_ESTIMATED ? "~" : "", text, share ? " %" : "");
}

static void set_row(struct cp_comparison *c, struct cp_table *table, const char *quantity,
	const struct cp_metric *metric, unsigned first)
{
	const struct unit unit = unit_of(c, metric);
	const char *name = metric ? metric->name : quantity;
	size_t row = table->nrows;

	if (cp_compare_nowhere(c, quantity, metric))
		return;
	if (*unit.name && strcmp(unit.name, "ratio") != 0)
		name = cp_text_format(&c->arena, "%s [%s]", name, unit.name);
	cp_table_set(table, row, 0, name);
	for (unsigned i = 0; i + 1 < table->ncolumns; i++) {
		struct cp_value value =
			metric ? cp_compare_metric(c, first + i, metric)
			       : cp_compare_quantity(c, first + i, quantity);

		cp_table_set(table, row, i + 1,
			cp_text_format(&c->arena, "%s%s",
				cell_text(c, metric, &unit, value),
				cp_compare_interval(
					c, first + i, quantity, metric, value.value)));
	}
	table->nrows++;
}

/* By themselves: not for a group. */
static bool was_asked_for(const struct cp_comparison *c, const char *name)
{
	const char *list = c->events, *piece;
	size_t length;

	while (list && (piece = cp_next_piece(&list, ',', &length)))
		if (strlen(name) == length && memcmp(piece, name, length) == 0)
			return true;
	for (size_t g = 0; g < c->request.ngroups; g++)
		if (cp_group_takes(c->request.groups[g], name))
			return false;
	return true;
}

/* For machines first to first + count - 1. */
static struct cp_table *part_of_table(
	struct cp_comparison *c, unsigned first, unsigned count, bool events)
{
	struct cp_table *table =
		cp_table_new(&c->arena, count + 1, c->request.nnames + c->nmetrics);

	table->nrows = 0;
	table->left = 1;
	for (unsigned i = 0; i < count; i++)
		cp_table_heading(table, i + 1, c->of[first + i].machine.name, "");
	for (size_t i = 0; i < c->request.nnames; i++)
		if (!events || was_asked_for(c, c->request.names[i]))
			set_row(c, table, c->request.names[i], NULL, first);
	for (size_t m = 0; !events && m < c->nmetrics; m++)
		set_row(c, table, NULL, c->metrics[m], first);
	return table;
}

/* As many of *count machines as fit beside each other, at least one; *count: how many. */
static struct cp_table *widest_table(struct cp_comparison *c, unsigned first,
	unsigned *count, size_t width, bool events)
{
	struct cp_table *table = part_of_table(c, first, *count, events);

	while (*count > 1 && cp_table_width(table) > width)
		table = part_of_table(c, first, --*count, events);
	return table;
}

void cp_compare_table(
	struct cp_comparison *c, struct cp_out *out, size_t width, bool events)
{
	for (unsigned first = 0, count; first < c->nmachines; first += count) {
		struct cp_table *table;

		count = c->nmachines - first;
		table = widest_table(c, first, &count, width, events);
		if (!table->nrows)
			return;
		cp_out_text(out, "\n");
		cp_table_print(table, out, width, false);
	}
}

const char *cp_compare_why_runs(const struct cp_comparison *c)
{
	for (unsigned i = 0; i < c->nmachines; i++)
		if (c->of[i].machine.sampled != c->of[0].machine.sampled)
			return "some are not sampled, or their smallest lines differ";
	return "their smallest lines, cores out of order or string instructions differ";
}

static const char *runs_text(struct cp_comparison *c)
{
	if (c->nruns == 1)
		return "one run: all machines saw the same references";
	return cp_text_format(&c->arena, "%u runs: %s", c->nruns, cp_compare_why_runs(c));
}

static void print_weights(struct cp_comparison *c, struct cp_out *out, unsigned i)
{
	const char *line;
	unsigned which = 0;

	for (size_t g = 0; g < c->request.ngroups; g++)
		which |= cp_group_weighs(c->request.groups[g]);
	line = cp_weights_text(&c->arena, &c->of[i].weights, which);
	if (*line)
		cp_text_wrap(out, cp_text_format(&c->arena, "  %s", line), 0, 4, WIDTH);
}

const char *cp_compare_differs(struct cp_comparison *c)
{
	const char *list = "";

	for (size_t i = 0; i < c->ndiffers; i++)
		list = cp_text_listed(&c->arena, list, c->differs[i]);
	return list;
}

const char *cp_compare_how(struct cp_comparison *c)
{
	const char *line = "";
	char text[CP_SAMPLE_OPTION];

	for (unsigned i = 0; i < c->nmachines; i++)
		if (c->of[i].machine.sampled) {
			cp_sample_describe(&c->of[i].sample, text, sizeof(text));
			line = cp_text_format(&c->arena,
				"estimates with 95 %% intervals (CACHEPEEK_SAMPLE: %s); "
				"instructions are exact",
				text);
		}
	for (unsigned i = 0; c->sample && i < c->nmachines; i++)
		if (!c->of[i].machine.sampled)
			line = cp_text_format(&c->arena, "%s%s%s in full: %s", line,
				*line ? "; " : "", c->of[i].machine.name,
				c->of[i].unsampled);
	return line;
}

void cp_compare_text(struct cp_comparison *c, struct cp_out *out)
{
	const char *cut = cp_status_cut(&c->arena, c->status);

	cp_out_format(out, "cachepeek %s: %s on %u simulated machine%s\n", CP_VERSION,
		c->program[0], c->nmachines, c->nmachines == 1 ? "" : "s");
	if (cut)
		cp_text_wrap(
			out, cp_text_format(&c->arena, "ended: %s", cut), 0, 2, WIDTH);
	cp_text_wrap(out,
		cp_text_format(&c->arena,
			"%s; user mode, from the first instruction on%s", runs_text(c),
			c->alone ? "; a static program: not its children" : ""),
		0, 0, WIDTH);
	if (c->sample)
		cp_text_wrap(out,
			cp_text_format(&c->arena, "sampled: %s", cp_compare_how(c)), 0, 2,
			WIDTH);
	if (c->ndiffers)
		cp_text_wrap(out,
			cp_text_format(&c->arena,
				"what may differ between runs all the same: %s",
				cp_compare_differs(c)),
			0, 2, WIDTH);
	cp_out_text(out, "\n");
	for (unsigned i = 0; i < c->nmachines; i++) {
		char text[512];

		cp_machine_describe(&c->of[i].machine, text, sizeof(text));
		cp_text_wrap(out, text, 0, 2, WIDTH);
		print_weights(c, out, i);
	}
	cp_compare_table(c, out, WIDTH, false);
	cp_out_text(out, "\n");
	if (*cp_compare_rounds(c))
		cp_text_wrap(out,
			cp_text_format(&c->arena, "\u00b1 %s", cp_compare_rounds(c)), 0,
			2, WIDTH);
	cp_out_text(out, "\u2014: the machine has no such level, "
			 "or the simulated PMU does not count it\n"
			 "~: estimated (`cachepeek list groups NAME` says how)\n");
}
