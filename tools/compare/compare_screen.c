/* SPDX-License-Identifier: MIT
 *
 * The comparison on one screen: for each group on which machine the program does best and
 * worst, and why, then a row for each machine; for events a row each.
 */
#include <string.h>

#include "output/report/ended.h"
#include "base/text/table.h"
#include "tools/compare/compare.h"

#define WIDTH 80
#define INDENT 11

/* As in the report of a run: below it there is nothing to mend. */
#define WORTH_MENDING 0.2
#define WORTH_THE_TIME 0.05

struct column {
	const char *name, *heading;
	const struct cp_metric *metric; /* NULL: a quantity */
	bool per_instruction;           /* of a metric in cycles */
};

struct screen {
	struct cp_comparison *c;
	struct cp_answer *kept; /* takes what put_labelled() has; NULL: out does */
	struct cp_out *out;
	struct cp_arena *arena;
	size_t width;
	const struct cp_group *group;
	size_t ncolumns;
	struct column column[CP_GROUP_MAX_COLUMNS + CP_GROUP_MAX_PARTS + 2];
};

static void put_labelled(const struct screen *screen, const char *label, const char *text)
{
	if (screen->kept) {
		cp_answer_add(screen->kept, label, text);
		return;
	}
	cp_out_format(screen->out, "%-*s", INDENT, label);
	cp_text_wrap(screen->out, cp_text_safe(screen->arena, cp_slice_of(text)), INDENT,
		INDENT, screen->width);
}

/* ---- values ---- */

static struct cp_value value_of(
	const struct screen *screen, unsigned machine, const struct column *column)
{
	struct cp_value value, instructions;

	if (!column->metric)
		return cp_compare_quantity(screen->c, machine, column->name);
	value = cp_compare_metric(screen->c, machine, column->metric);
	instructions = cp_compare_quantity(screen->c, machine, "instructions");
	if (!column->per_instruction || value.status == CP_UNAVAILABLE)
		return value;
	if (instructions.status == CP_UNAVAILABLE || instructions.value <= 0)
		return cp_unavailable("nobody counts instructions");
	value.value /= instructions.value;
	return value;
}

static const char *unit_of(const struct column *column)
{
	const char *unit = column->metric ? column->metric->unit : "";

	if (column->per_instruction)
		return "/instr";
	if (strcmp(unit, "ratio") == 0)
		return "%";
	if (strcmp(unit, "1/kinstr") == 0)
		return "/kI";
	if (strcmp(unit, "1/instr") == 0)
		return "/instr";
	if (strcmp(unit, "s") == 0)
		return ""; /* each cell has its own */
	return strcmp(unit, "GB") == 0 ? "B" : unit;
}

static const char *cell_text(
	const struct screen *screen, const struct column *column, struct cp_value value)
{
	const char *unit = column->metric ? column->metric->unit : "", *text;

	if (value.status == CP_UNAVAILABLE)
		return "\u2014";
	if (!column->metric || (strcmp(unit, "cycles") == 0 && !column->per_instruction))
		text = cp_text_short(screen->arena, value.value);
	else if (strcmp(unit, "GB") == 0)
		text = cp_text_short(screen->arena, 1e9 * value.value);
	else if (strcmp(unit, "s") == 0)
		text = cp_text_seconds(screen->arena, value.value);
	else
		text = cp_text_decimal(screen->arena,
			value.value * (strcmp(unit, "ratio") == 0 ? 100 : 1));
	return cp_text_format(
		screen->arena, "%s%s", value.status == CP_ESTIMATED ? "~" : "", text);
}

/* "~1.36 M cycles", "3.57 /kI" */
static const char *with_unit(
	const struct screen *screen, const struct column *column, struct cp_value value)
{
	const char *unit = unit_of(column);

	return cp_text_format(screen->arena, "%s%s%s", cell_text(screen, column, value),
		*unit ? " " : "", unit);
}

static const char *interval_of(const struct screen *screen, const struct column *column,
	unsigned machine, struct cp_value value)
{
	return cp_compare_interval(
		screen->c, machine, column->name, column->metric, value.value);
}

/* ---- columns ---- */

static struct column column_of(
	const struct screen *screen, const char *name, const char *heading)
{
	return (struct column){.name = name,
		.heading = heading,
		.metric = cp_group_metric(screen->group, name)};
}

static bool any_value(const struct screen *screen, const struct column *column)
{
	for (unsigned i = 0; i < screen->c->nmachines; i++)
		if (value_of(screen, i, column).status != CP_UNAVAILABLE)
			return true;
	return false;
}

static void add_column(struct screen *screen, struct column column)
{
	if (any_value(screen, &column))
		screen->column[screen->ncolumns++] = column;
}

/* Finds the first of the group's marks that some machine has; false: none. */
static bool find_mark(const struct screen *screen, struct column *mark)
{
	for (size_t i = 0; i < screen->group->nmarks; i++) {
		*mark = column_of(screen, screen->group->marks[i], "");
		if (any_value(screen, mark))
			return true;
	}
	return false;
}

/* Is the mark the sum of the group's costs? */
static bool is_cost(const struct screen *screen, const struct column *mark)
{
	return screen->group->costs.count &&
	       strcmp(mark->name, screen->group->marks[0]) == 0;
}

static bool is_time(const struct column *column)
{
	return column->metric && strcmp(column->metric->unit, "s") == 0;
}

/* Where the shares are known, the miss ratios of the levels add nothing. */
static void choose_columns(struct screen *screen, const struct column *mark)
{
	const struct cp_group *group = screen->group;
	struct column cost = *mark;
	size_t costs;
	bool served;

	screen->ncolumns = 0;
	if (is_cost(screen, mark)) {
		cost.heading = is_time(mark) ? "miss time" : "miss cost";
		add_column(screen, cost);
		cost.per_instruction = true;
		if (!is_time(mark))
			add_column(screen, cost);
	}
	costs = screen->ncolumns;
	for (size_t i = 0; i < group->served.count; i++)
		add_column(screen, column_of(screen, group->served.at[i].name,
					   group->served.at[i].heading));
	served = screen->ncolumns > costs || (costs && !is_time(mark));
	for (size_t i = 0; i < group->ncolumns; i++) {
		struct column column = column_of(
			screen, group->columns[i].name, group->columns[i].heading);

		if (strcmp(column.name, "instructions") != 0 &&
			strcmp(column.name, mark->name) != 0 &&
			!(served && column.metric &&
				strcmp(column.metric->unit, "ratio") == 0))
			add_column(screen, column);
	}
}

/* ---- the answer ---- */

/* ", ~69 % of that for memory", of what is largest among the costs' parts. */
static const char *largest_part(const struct screen *screen, unsigned machine)
{
	const struct cp_parts *parts = &screen->group->costs;
	const char *level = NULL;
	double most = 0, all = 0;

	for (size_t i = 0; i < parts->count; i++) {
		struct column column =
			column_of(screen, parts->at[i].name, parts->at[i].heading);
		struct cp_value value = value_of(screen, machine, &column);

		if (value.status == CP_UNAVAILABLE)
			continue;
		all += value.value;
		if (value.value <= most)
			continue;
		most = value.value;
		level = column.heading;
	}
	return level && all > 0
		       ? cp_text_format(screen->arena, ", ~%.0f %% of that for %s",
				 100 * most / all, level)
		       : "";
}

static const char *in_words(const struct screen *screen, const struct column *mark,
	unsigned machine, struct cp_value value)
{
	const char *name = screen->c->of[machine].machine.name, *each = "";
	struct column per = *mark;
	struct cp_value rate;

	if (!is_cost(screen, mark))
		return cp_text_format(screen->arena, "%s: %s %s%s", name, mark->name,
			with_unit(screen, mark, value),
			interval_of(screen, mark, machine, value));
	per.per_instruction = true;
	rate = value_of(screen, machine, &per);
	if (rate.status != CP_UNAVAILABLE && !is_time(mark))
		each = cp_text_format(screen->arena, ", %s per instruction",
			cell_text(screen, &per, rate));
	return cp_text_format(screen->arena, "%s: %s%s%s%s", name,
		with_unit(screen, mark, value), interval_of(screen, mark, machine, value),
		each, largest_part(screen, machine));
}

struct ends {
	unsigned least, most, known;
	struct cp_value low, high;
	bool undecided; /* what is between them is inside of its interval */
};

static struct ends ends_of(const struct screen *screen, const struct column *mark)
{
	struct ends ends = {.known = 0};

	for (unsigned i = 0; i < screen->c->nmachines; i++) {
		struct cp_value value = value_of(screen, i, mark);

		if (value.status == CP_UNAVAILABLE)
			continue;
		if (!ends.known || value.value < ends.low.value) {
			ends.least = i;
			ends.low = value;
		}
		if (!ends.known || value.value > ends.high.value) {
			ends.most = i;
			ends.high = value;
		}
		ends.known++;
	}
	ends.undecided = ends.known > 1 && cp_compare_undecided(screen->c, ends.most,
						   ends.least, mark->name, mark->metric);
	return ends;
}

/* A time is worth mending by its part of the predicted one, another cost by its cycles
 * an instruction. */
static bool is_worth_mending(
	const struct screen *screen, unsigned machine, const struct column *mark)
{
	struct column other =
		is_time(mark) ? column_of(screen, "predicted_time", "") : *mark;
	struct cp_value value, whole;

	other.per_instruction = !is_time(mark);
	value = value_of(screen, machine, is_time(mark) ? mark : &other);
	whole = value_of(screen, machine, &other);
	if (value.status == CP_UNAVAILABLE || whole.status == CP_UNAVAILABLE)
		return false;
	return is_time(mark) ? value.value >= WORTH_THE_TIME * whole.value
			     : value.value >= WORTH_MENDING;
}

static bool is_harmless(
	const struct screen *screen, const struct column *mark, const struct ends *ends)
{
	for (unsigned i = 0; i < screen->c->nmachines; i++)
		if (is_worth_mending(screen, i, mark))
			return false;
	return is_cost(screen, mark) && ends->known;
}

/* Machines that a sample does not tell from the one with the most. */
static void put_not_told(
	const struct screen *screen, const struct column *mark, const struct ends *ends)
{
	const char *names = "";

	for (unsigned i = 0; i < screen->c->nmachines; i++)
		if (cp_compare_undecided(
			    screen->c, ends->most, i, mark->name, mark->metric))
			names = cp_text_listed(
				screen->arena, names, screen->c->of[i].machine.name);
	if (*names)
		put_labelled(screen, ends->undecided ? "undecided" : "",
			cp_text_format(screen->arena,
				"%s and %s differ by no more than %s",
				screen->c->of[ends->most].machine.name, names,
				screen->c->sample
					? "the 95 % interval of their difference"
					: "figures of their calibrations do from "
					  "round to round"));
}

static void put_answer(
	const struct screen *screen, const struct column *mark, const struct ends *ends)
{
	const char *times = "";

	if (ends->known == 1 || ends->low.value == ends->high.value) {
		put_labelled(screen, ends->known == 1 ? "counted" : "the same",
			in_words(screen, mark, ends->least, ends->low));
	} else {
		if (ends->low.value > 0)
			times = cp_text_format(screen->arena, " (%s times that)",
				cp_text_decimal(screen->arena,
					ends->high.value / ends->low.value));
		put_labelled(screen, is_cost(screen, mark) ? "least cost" : "least",
			in_words(screen, mark, ends->least, ends->low));
		put_labelled(screen, is_cost(screen, mark) ? "most cost" : "most",
			cp_text_format(screen->arena, "%s%s",
				in_words(screen, mark, ends->most, ends->high), times));
		put_not_told(screen, mark, ends);
	}
	if (is_harmless(screen, mark, ends))
		put_labelled(screen, "", "nothing to mend on any of them");
}

/* ---- the tables ---- */

static bool has_most(const struct ends *ends)
{
	return ends->known > 1 && ends->high.value > ends->low.value && !ends->undecided;
}

/* A cell in cycles for each instruction has the same error as the cycles. */
static const char *error_cell(
	const struct screen *screen, unsigned machine, const struct column *column)
{
	struct cp_value instructions =
		cp_compare_quantity(screen->c, machine, "instructions");
	struct cp_value error = {.value = cp_compare_error(screen->c, machine,
					 column->name, column->metric),
		.status = CP_EXACT};

	if (value_of(screen, machine, column).status == CP_UNAVAILABLE || error.value < 0)
		return "";
	if (column->per_instruction)
		error.value /= instructions.value;
	return cell_text(screen, column, error);
}

static void put_errors(
	const struct screen *screen, struct cp_table *table, unsigned machine)
{
	cp_table_set(table, table->nrows, 0,
		cp_text_format(screen->arena, "  \u00b1 %s",
			cp_compare_interval_of(&screen->c->of[machine])));
	for (size_t k = 0; k < screen->ncolumns; k++)
		cp_table_set(table, table->nrows, 1 + k,
			error_cell(screen, machine, &screen->column[k]));
	table->nrows++;
}

static void put_table(struct screen *screen, const struct ends *ends)
{
	const struct cp_comparison *c = screen->c;
	struct cp_table *table =
		cp_table_new(screen->arena, 1 + screen->ncolumns, 2 * c->nmachines);

	table->nrows = 0;

	cp_table_heading(table, 0, "", "machine");
	for (size_t k = 0; k < screen->ncolumns; k++)
		cp_table_heading(table, 1 + k, screen->column[k].heading,
			unit_of(&screen->column[k]));
	for (unsigned i = 0; i < c->nmachines; i++) {
		cp_table_set(table, table->nrows, 0, c->of[i].machine.name);
		for (size_t k = 0; k < screen->ncolumns; k++)
			cp_table_set(table, table->nrows, 1 + k,
				cell_text(screen, &screen->column[k],
					value_of(screen, i, &screen->column[k])));
		if (i == ends->most && has_most(ends))
			table->marks[table->nrows] = "<==";
		table->nrows++;
		if (cp_compare_interval_of(&c->of[i]))
			put_errors(screen, table, i);
	}
	cp_out_text(screen->out, "\n");
	cp_table_print(table, screen->out, screen->width, false);
}

void cp_compare_answer(struct cp_comparison *c, const struct cp_group *group,
	struct cp_compared_best *best)
{
	struct screen screen = {
		.c = c, .arena = &c->arena, .group = group, .kept = &best->answer};
	struct column mark = {.name = ""};
	struct ends ends;

	if (!find_mark(&screen, &mark))
		return;
	ends = ends_of(&screen, &mark);
	put_answer(&screen, &mark, &ends);
	best->ranked_by = mark.name;
	best->undecided = ends.undecided;
	if (has_most(&ends))
		best->most = c->of[ends.most].machine.name;
}

static void put_group(struct screen *screen, const struct cp_group *group)
{
	struct ends ends = {.known = 0};
	struct column mark = {.name = ""};

	screen->group = group;
	if (screen->c->request.ngroups > 1)
		cp_out_format(screen->out, "\n%s\n", group->name);
	if (find_mark(screen, &mark)) {
		ends = ends_of(screen, &mark);
		put_answer(screen, &mark, &ends);
	}
	choose_columns(screen, &mark);
	if (screen->ncolumns)
		put_table(screen, &ends);
	else
		cp_out_text(screen->out,
			"not available: none of the machines has what it needs (-v)\n");
}

/* ---- what is around them ---- */

static const char *counted_in(const struct screen *screen)
{
	const struct cp_comparison *c = screen->c;
	struct cp_value instructions = cp_compare_quantity(c, 0, "instructions");
	const char *runs = c->nruns == 1 ? "one run: all machines saw the same references"
					 : cp_text_format(screen->arena, "%u runs: %s",
						   c->nruns, cp_compare_why_runs(c));

	if (c->nruns == 1 && instructions.status != CP_UNAVAILABLE)
		runs = cp_text_format(screen->arena, "%s, of %s instructions", runs,
			cp_text_short(screen->arena, instructions.value));
	return runs;
}

static void put_head(const struct screen *screen)
{
	struct cp_comparison *c = screen->c;
	const char *cut = cp_status_cut(&c->arena, c->status);
	size_t n = 0;

	while (c->program[n])
		n++;
	cp_text_wrap(screen->out,
		cp_text_format(screen->arena, "cachepeek %s compare: %s", CP_VERSION,
			cp_text_cut(screen->arena,
				cp_text_words(screen->arena,
					(const char *const *)c->program, n),
				CP_COMMAND_COLUMNS)),
		0, 2, screen->width);
	if (cut)
		put_labelled(screen, "ended", cut);
	put_labelled(screen, "ran", counted_in(screen));
	put_labelled(screen, c->sample ? "sampled" : "simulated",
		cp_text_format(screen->arena,
			"%s; user mode, from the first instruction on%s",
			c->sample ? cp_compare_how(c)
				  : "exact for the machines as their files describe them",
			c->alone ? "; a static program: not its children" : ""));
	if (c->ndiffers)
		put_labelled(screen, "may differ", cp_compare_differs(c));
}

/* For machines whose latencies are not all known. */
static const char *who_assumes(const struct screen *screen)
{
	const struct cp_comparison *c = screen->c;
	const char *names = "";
	unsigned which = 0;

	for (size_t g = 0; g < c->request.ngroups; g++)
		which |= cp_group_weighs(c->request.groups[g]);
	for (unsigned i = 0; i < c->nmachines; i++)
		for (unsigned of = 0; of < CP_NWEIGHTS; of++)
			if ((which & 1u << of) &&
				c->of[i].weights.of[of].from == CP_WEIGHT_ASSUMED) {
				names = cp_text_listed(
					screen->arena, names, c->of[i].machine.name);
				break;
			}
	return names;
}

static void put_foot(const struct screen *screen)
{
	const char *names = who_assumes(screen), *rounds = cp_compare_rounds(screen->c);

	cp_out_text(screen->out, "\n");
	if (*rounds)
		put_labelled(screen, "\u00b1", rounds);
	if (*names)
		put_labelled(screen, "~",
			cp_text_format(screen->arena,
				"latencies of %s are assumed, some or all (-v, "
				"CACHEPEEK_LET)",
				names));
	put_labelled(screen, "more",
		"cachepeek compare -v: the machines, all counts and metrics; -o x.html: "
		"a page");
}

void cp_compare_screen(struct cp_comparison *c, struct cp_out *out, size_t width)
{
	struct screen screen = {
		.c = c, .out = out, .arena = &c->arena, .width = width ? width : WIDTH};

	put_head(&screen);
	for (size_t g = 0; g < c->request.ngroups; g++)
		put_group(&screen, c->request.groups[g]);
	cp_compare_table(c, out, screen.width, true);
	put_foot(&screen);
}
