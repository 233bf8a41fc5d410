/* SPDX-License-Identifier: MIT
 *
 * The answer before the tables: which levels serve the references, where misses cost
 * most, by which level, and what is no problem.
 */
#include <string.h>

#include "base/text.h"
#include "output/text/text_parts.h"

/* Cycles of miss cost per instruction below which there is nothing to mend: even if
 * nothing hid them, they were a small part of the time that instructions take. */
#define WORTH_MENDING 0.2
#define WORTH_THE_TIME 0.05 /* the same of the predicted time, which knows what hides */
#define HARMLESS 0.01       /* of the miss cost */
#define PATH_COLUMNS 60     /* of a region's path */
#define UNEVEN 1.1          /* times the mean of the ranks */

struct verdict {
	struct cp_text *text;
	const struct cp_group *group;
	struct cp_text_column cost; /* what the regions are ranked by */
	const struct cp_parts *parts;
	const struct cp_region *first;
};

static const struct cp_value unknown = {.status = CP_UNAVAILABLE};

static struct cp_value metric_of(
	const struct cp_report *report, const struct cp_region *region, const char *name)
{
	int index = cp_report_metric(report, name);

	if (index < 0)
		return unknown;
	return region->metrics[index].value;
}

static struct cp_value own_value(
	const struct cp_text *text, const struct cp_region *region, const char *name)
{
	int index = cp_report_metric(text->report, name);

	if (index < 0)
		return unknown;
	return cp_report_own(
		text->arena, text->report, region, text->report->metrics[index]);
}

static bool whole_count(const struct cp_report *report, const char *name, uint64_t *value)
{
	int index = cp_report_quantity(report, name);

	if (index < 0 || report->total->counts[index].status == CP_UNAVAILABLE)
		return false;
	*value = report->total->counts[index].value;
	return true;
}

bool cp_text_serves(const struct cp_report *report, const struct cp_group *group)
{
	return group->served.count > 0 &&
	       metric_of(report, report->total, group->served.at[0].name).status !=
		       CP_UNAVAILABLE;
}

static bool is_by_time(const char *mark)
{
	return mark && strcmp(mark, CP_STALLS) == 0;
}

/* The costs of the group that the mark is a metric of. */
const struct cp_parts *cp_text_costs(
	const struct cp_report *report, const struct cp_group *group)
{
	const char *mark = cp_text_mark(report, group);

	if (is_by_time(mark))
		group = report->metrics[cp_report_metric(report, mark)]->group;
	else if (!mark || strcmp(mark, group->marks[0]) != 0)
		return NULL;
	return group->costs.count ? &group->costs : NULL;
}

bool cp_text_is_answered(const struct cp_report *report, const struct cp_group *group)
{
	if (!is_by_time(cp_text_mark(report, group)))
		return false;
	for (size_t i = 0; i < report->ngroups && report->groups[i] != group; i++)
		if (is_by_time(cp_text_mark(report, report->groups[i])))
			return true;
	return false;
}

static void print_served(struct cp_text *text, const struct cp_group *group)
{
	const char *line = "";
	uint64_t references;

	for (size_t i = 0; i < group->served.count; i++) {
		const struct cp_column *level = &group->served.at[i];
		struct cp_value share =
			metric_of(text->report, text->report->total, level->name);

		if (share.status != CP_UNAVAILABLE)
			line = cp_text_listed(text->arena, line,
				cp_text_format(text->arena, "%s %s%s %%", level->heading,
					share.status == CP_ESTIMATED ? "~" : "",
					cp_text_decimal(text->arena, 100 * share.value)));
	}
	if (whole_count(text->report, "l1d_accesses", &references))
		line = cp_text_format(text->arena, "%s of %s data references", line,
			cp_text_short(text->arena, (double)references));
	cp_text_labelled(text, "served by", line);
}

/* Where nobody counts who serves the references: the rates of the levels. */
static void print_rates(struct cp_text *text, const struct cp_group *group)
{
	const char *line = "";

	for (size_t i = 0; i < group->ncolumns; i++) {
		struct cp_text_column column;
		struct cp_value value;

		if (!cp_text_column_find(text->report, group->columns[i].name, &column) ||
			strcmp(column.unit, "1/kinstr") != 0)
			continue;
		value = cp_text_column_value(&column, text->report->total);
		if (value.status != CP_UNAVAILABLE)
			line = cp_text_listed(text->arena, line,
				cp_text_format(text->arena, "%s %s",
					group->columns[i].heading,
					cp_text_column_cell(text, &column, value)));
	}
	if (*line)
		cp_text_labelled(text, "in all",
			cp_text_format(
				text->arena, "%s per thousand instructions", line));
}

/* ---- where to look first ---- */

/* The part that is the largest of the region's own. */
static const struct cp_column *largest_part(const struct cp_text *text,
	const struct cp_parts *parts, const struct cp_region *region, double *cycles)
{
	const struct cp_column *found = NULL;

	*cycles = 0;
	for (size_t i = 0; i < parts->count; i++) {
		struct cp_value value = own_value(text, region, parts->at[i].name);

		if (value.status == CP_UNAVAILABLE || value.value <= *cycles)
			continue;
		*cycles = value.value;
		found = &parts->at[i];
	}
	return found;
}

/* The command that shows where that level's misses are; NULL: the usual one. */
static const char *command_for(const struct cp_column *level)
{
	static const struct {
		const char *metric, *command;
	} commands[] = {{"cost_code", "icache"}, {"cost_walks", "dtlb"},
		{"cost_sharing", "sharing"}, {"stall_cycles_tlb", "dtlb"},
		{"stall_cycles_sharing", "sharing"}};

	for (size_t i = 0; level && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(level->name, commands[i].metric) == 0)
			return commands[i].command;
	return NULL;
}

/* Stall cycles do not tell lines of code, and those that another thread had, from others:
 * what these take of the latencies does. */
static const char *find_command(const struct verdict *verdict,
	const struct cp_region *region, const struct cp_column *level)
{
	const char *command = command_for(level);
	double part;

	if (!command && verdict->parts != &verdict->group->costs)
		command = command_for(largest_part(
			verdict->text, &verdict->group->costs, region, &part));
	return command ? command : "dcache";
}

/* "L2 and memory" of the levels that cost next to nothing; "": none. */
static const char *harmless_levels(const struct verdict *verdict, double all)
{
	const struct cp_report *report = verdict->text->report;
	const char *names = "";

	for (size_t i = 0; i < verdict->parts->count; i++) {
		const struct cp_column *level = &verdict->parts->at[i];
		struct cp_value value = metric_of(report, report->total, level->name);

		if (value.status == CP_UNAVAILABLE || value.value >= HARMLESS * all)
			continue;
		/* Nothing is said of a level that is not there. */
		if (value.value > 0 || !is_by_time(verdict->cost.name))
			names = cp_text_listed(
				verdict->text->arena, names, level->heading);
	}
	return names;
}

/* 0: not available. */
static double own_cost(const struct verdict *verdict, const struct cp_region *region)
{
	struct cp_value cost = own_value(verdict->text, region, verdict->cost.name);

	return cost.status == CP_UNAVAILABLE ? 0 : cost.value;
}

static void print_first(const struct verdict *verdict, double all)
{
	struct cp_text *text = verdict->text;
	const struct cp_region *first =
		verdict->first ? verdict->first : text->report->total;
	double mine = own_cost(verdict, first), part;
	const struct cp_column *level = largest_part(text, verdict->parts, first, &part);
	const char *line = first->parent
				   ? cp_text_cut(text->arena, cp_text_path(text, first),
					     PATH_COLUMNS)
				   : CP_OUTSIDE;

	if (mine <= 0)
		return;
	line = cp_text_format(
		text->arena, "%s: ~%.0f %% of the miss cost", line, 100 * mine / all);
	if (level && first->child == NULL && !first->parent)
		line = cp_text_format(text->arena, "%s: ~%.0f %% of the miss cost",
			level->heading, 100 * part / mine);
	else if (level)
		line = cp_text_format(text->arena, "%s, ~%.0f %% of that for %s", line,
			100 * part / mine, level->heading);
	cp_text_labelled(text, "look first",
		cp_text_format(text->arena, "%s (cachepeek %s shows the lines)", line,
			find_command(verdict, first, level)));
}

static void print_no_problem(const struct verdict *verdict, double all)
{
	const char *names = harmless_levels(verdict, all);

	if (*names)
		cp_text_labelled(verdict->text, "harmless",
			cp_text_format(verdict->text->arena,
				"%s: less than 1 %% of the miss cost%s", names,
				strstr(names, ", ") ? " each" : ""));
}

/* Does one rank of the job have more of the cost than the others? */
static void print_ranks(const struct verdict *verdict)
{
	struct cp_text *text = verdict->text;
	const struct cp_extent *over =
		cp_text_column_extent(&verdict->cost, text->report->total);
	double mean = over->nthreads ? cp_extent_mean(over) : 0;

	if (!text->report->job || over->nthreads < 2 || mean <= 0)
		return;
	cp_text_labelled(text, "ranks",
		over->max < UNEVEN * mean
			? cp_text_format(text->arena,
				  "even: none has %.1f times the mean of the miss cost",
				  UNEVEN)
			: cp_text_format(text->arena,
				  "uneven: rank %d has %.2f times the mean of the miss "
				  "cost, rank %d has %.2f times",
				  over->max_at.rank, over->max / mean, over->min_at.rank,
				  over->min / mean));
}

/* Latencies that are assumed of this host can be measured; where there is no time, its
 * reason says so. */
static const char *advise_calibration(const struct cp_report *report)
{
	const struct cp_weight *of = report->weights.of;
	const char *reason = metric_of(report, report->total, "predicted_cycles").reason;

	if (!report->machine || !cp_starts_with(report->machine, "host:") ||
		(reason && strstr(reason, "--calibrate")) ||
		(of[CP_OF_L2].from != CP_WEIGHT_ASSUMED &&
			of[CP_OF_MEMORY].from != CP_WEIGHT_ASSUMED))
		return "";
	return ", which are assumed: `cachepeek doctor --calibrate` measures them";
}

/* A sum of latencies.  Is there something to mend? */
static bool print_latencies(const struct verdict *verdict, double all)
{
	struct cp_text *text = verdict->text;
	uint64_t instructions;
	double each;

	if (!whole_count(text->report, "instructions", &instructions) || !instructions)
		return false;
	each = all / (double)instructions;
	cp_text_labelled(text, "miss cost",
		cp_text_format(text->arena,
			"~%s cycles, ~%s per instruction, if nothing hides the "
			"latencies%s",
			cp_text_short(text->arena, all),
			cp_text_decimal(text->arena, each),
			each < WORTH_MENDING ? ": nothing to mend"
					     : advise_calibration(text->report)));
	return each >= WORTH_MENDING;
}

/* By the timing model: what misses add to the time of the instructions. */
static bool print_stalls(const struct verdict *verdict, double all)
{
	struct cp_text *text = verdict->text;
	const struct cp_region *total = text->report->total;
	struct cp_value cycles = metric_of(text->report, total, "predicted_cycles"),
			time = metric_of(text->report, total, "predicted_time");
	double share = cycles.value > 0 ? all / cycles.value : 0;

	if (cycles.status == CP_UNAVAILABLE)
		return false;
	cp_text_labelled(text, "miss cost",
		cp_text_format(text->arena,
			"~%s cycles of stall%s, %.0f %% of the predicted time%s%s%s",
			cp_text_short(text->arena, all),
			cp_text_interval(text, CP_STALLS), 100 * share,
			time.status == CP_UNAVAILABLE ? "" : ", ~",
			time.status == CP_UNAVAILABLE
				? ""
				: cp_text_seconds(text->arena, time.value),
			share < WORTH_THE_TIME ? ": nothing to mend" : ""));
	return share >= WORTH_THE_TIME;
}

/* For a cost that is the sum of its levels' costs. */
static void print_cost(struct verdict *verdict)
{
	struct cp_value cost =
		cp_text_column_value(&verdict->cost, verdict->text->report->total);

	if (cost.status == CP_UNAVAILABLE ||
		!(is_by_time(verdict->cost.name) ? print_stalls : print_latencies)(
			verdict, cost.value))
		return;
	print_first(verdict, cost.value);
	print_ranks(verdict);
	print_no_problem(verdict, cost.value);
}

void cp_text_verdict(struct cp_text *text, const struct cp_group *group)
{
	const char *mark = cp_text_mark(text->report, group);
	struct verdict verdict = {.text = text,
		.group = group,
		.parts = cp_text_costs(text->report, group)};

	if (cp_text_serves(text->report, group))
		print_served(text, group);
	else if (group->served.count)
		print_rates(text, group);
	if (!mark || !verdict.parts || cp_text_is_answered(text->report, group) ||
		!cp_text_column_find(text->report, mark, &verdict.cost))
		return;
	verdict.first = cp_text_worst(text, mark);
	print_cost(&verdict);
}
