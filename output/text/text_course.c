/* SPDX-License-Identifier: MIT
 *
 * The time series as lines of small bars.
 */
#include <stdlib.h>
#include <string.h>

#include "base/counts.h"
#include "output/report/course.h"
#include "output/text/text_parts.h"
#include "output/report/windows.h"

#define BARS 40 /* columns at most: intervals are added up to fit */
#define MOST_COUNTS 6
#define MOST_REGIONS 5

/* The process that has most to show. */
static const struct cp_process *longest_process(
	const struct cp_report *report, size_t *others)
{
	const struct cp_process *found = NULL;

	*others = 0;
	for (size_t i = 0; i < report->nprocesses; i++) {
		const struct cp_process *process = &report->processes[i];

		if (!process->course)
			continue;
		*others += 1;
		if (!found || process->course->npoints > found->course->npoints)
			found = process;
	}
	*others -= found != NULL;
	return found;
}

/* A bar's value: < 0: none of its intervals has one; of what was sampled, not all. */
static double bar_value(
	const struct cp_course_line *line, size_t quantity, size_t from, size_t to)
{
	double sum = -1;

	for (size_t i = from < line->first ? line->first : from; i < to; i++) {
		double value = line->values[quantity][i - line->first];

		if (value >= 0)
			sum = (sum < 0 ? 0 : sum) + value;
		else if (line->errors[quantity])
			return -1;
	}
	return from < line->first && sum < 0 ? 0 : sum;
}

struct bars {
	size_t count, each; /* intervals of a bar */
	double value[BARS], least, most;
};

static struct bars *new_bars(struct cp_text *text, const struct cp_course *course)
{
	struct bars *bars = cp_arena_alloc(text->arena, sizeof(*bars));

	bars->each = (course->npoints + BARS - 1) / BARS;
	bars->count = (course->npoints + bars->each - 1) / bars->each;
	bars->least = bars->most = -1;
	return bars;
}

static void set_bar(struct bars *bars, size_t i, double value)
{
	bars->value[i] = value;
	if (value >= 0 && (bars->least < 0 || value < bars->least))
		bars->least = value;
	if (value > bars->most)
		bars->most = value;
}

/* The interval behind a bar's last one. */
static size_t bar_end(const struct bars *bars, const struct cp_course *course, size_t i)
{
	size_t end = (i + 1) * bars->each;

	return end < course->npoints ? end : course->npoints;
}

static void put_bars(struct cp_text *text, const struct bars *bars)
{
	static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

	for (size_t i = 0; i < bars->count; i++) {
		double value = bars->value[i];
		int height = bars->most > 0 ? (int)(value / bars->most * 7.999) : 0;

		cp_out_text(text->out, value < 0 ? "·" : heights[height]);
	}
}

/* Whole numbers as they are, as long as the line has room for them. */
static const char *number_text(struct cp_text *text, double value)
{
	if (value >= 10000)
		return cp_text_short(text->arena, value);
	if (value == (double)cp_count_of(value))
		return cp_text_integer(text->arena, cp_count_of(value));
	return cp_text_decimal(text->arena, value);
}

static const char *duration_text(struct cp_text *text, double seconds)
{
	if (seconds < 1)
		return cp_text_format(text->arena, "%.0f ms", seconds * 1000);
	return cp_text_format(text->arena, "%.0f s", seconds);
}

static void print_bars(struct cp_text *text, const struct bars *bars, const char *label)
{
	cp_out_format(text->out, "  %-18.18s ", label);
	put_bars(text, bars);
	cp_out_format(text->out, " %s to %s", number_text(text, bars->least),
		number_text(text, bars->most));
}

static void print_line(struct cp_text *text, const struct cp_course *course,
	const struct cp_course_line *line, size_t quantity, const char *label)
{
	struct bars *bars = new_bars(text, course);

	for (size_t i = 0; i < bars->count; i++)
		set_bar(bars, i,
			bar_value(line, quantity, i * bars->each,
				bar_end(bars, course, i)));
	if (bars->most < 0)
		return;
	print_bars(text, bars,
		line->status[quantity] == CP_ESTIMATED
			? cp_text_format(text->arena, "~%s", label)
			: label);
	cp_out_text(text->out, "\n");
}

/* How wide intervals are, in percent of what was counted in them; < 0: none has a value.
 */
static double width_of(const struct cp_course_line *line, size_t quantity, size_t npoints,
	size_t *missing)
{
	double sum = 0, errors = 0;

	*missing = 0;
	for (size_t i = 0; i < npoints - line->first; i++) {
		double value = line->values[quantity][i];

		*missing += value < 0;
		sum += value > 0 ? value : 0;
		errors += value < 0 ? 0 : line->errors[quantity][i];
	}
	return sum > 0 ? 100 * errors / sum : -1;
}

/* Says how sure a count is that was sampled. */
static void print_sampled(
	struct cp_text *text, const struct cp_course *course, size_t quantity)
{
	const struct cp_course_line *whole = &course->lines[0];
	const char *name = text->report->quantities[quantity], *line;
	size_t missing;
	double width;

	if (!whole->values[quantity] || !whole->errors[quantity])
		return;
	width = width_of(whole, quantity, course->npoints, &missing);
	line = width < 0
		       ? cp_text_format(text->arena, "%s: no interval has a value", name)
		       : cp_text_format(text->arena,
				 "%s: 95 %% intervals are ±%s %% in the mean", name,
				 cp_text_decimal(text->arena, width));
	if (missing)
		line = cp_text_format(text->arena, "%s; %zu of %zu have none (%s)", line,
			missing, course->npoints, whole->why[quantity]);
	cp_out_text(text->out, " ");
	cp_text_wrap(text->out, line, 1, 3, 80);
}

static void print_reach(
	struct cp_text *text, const struct cp_windows *windows, const struct bars *bars)
{
	const char *least = cp_windows_reach(windows, bars->least);
	const char *most = cp_windows_reach(windows, bars->most);

	if (!least || !most)
		return;
	cp_out_format(
		text->out, strcmp(least, most) == 0 ? "; %s" : "; %s to %s", least, most);
}

/* Working sets do not add up: those of a bar are the mean of its windows. */
static void print_windows(struct cp_text *text, const struct cp_course *course,
	const struct cp_windows *windows, size_t quantity, const char *label)
{
	struct bars *bars = new_bars(text, course);

	for (size_t i = 0; i < bars->count; i++)
		set_bar(bars, i,
			cp_windows_mean_over(windows, &course->lines[0], quantity,
				i * bars->each, bar_end(bars, course, i)));
	if (bars->most < 0)
		return;
	print_bars(text, bars, label);
	if (quantity == windows->data_pages)
		print_reach(text, windows, bars);
	cp_out_text(text->out, "\n");
}

static void print_working_sets(struct cp_text *text, const struct cp_course *course)
{
	struct cp_windows windows;

	if (!cp_windows_find(text->report, &windows) ||
		!course->lines[0].values[windows.windows])
		return;
	cp_out_text(text->out,
		" touched by a thread in an interval or window; the TLB that has room\n");
	print_windows(text, course, &windows, windows.data_pages, "data pages");
	print_windows(text, course, &windows, windows.data_lines, "data lines");
}

static double total_of(const struct cp_course *course, const struct cp_course_line *line,
	size_t quantity)
{
	double sum = 0;

	for (size_t i = 0; i < course->npoints - line->first; i++)
		if (line->values[quantity][i] > 0)
			sum += line->values[quantity][i];
	return sum;
}

/* The region with the most of it, of those with less than that; NULL: no more. */
static const struct cp_course_line *next_region(const struct cp_course *course,
	size_t quantity, const struct cp_course_line *last)
{
	const struct cp_course_line *found = NULL;
	double before = last ? total_of(course, last, quantity) : 0, most = 0;

	for (size_t i = 0; i < course->nlines; i++) {
		const struct cp_course_line *line = &course->lines[i];
		double total;

		if (!line->region->parent || !line->values[quantity])
			continue;
		total = total_of(course, line, quantity);
		if (total > most && (!last || total < before)) {
			most = total;
			found = line;
		}
	}
	return found;
}

static void print_regions(
	struct cp_text *text, const struct cp_course *course, size_t quantity)
{
	const struct cp_course_line *line = NULL;

	for (unsigned i = 0;
		i < MOST_REGIONS && (line = next_region(course, quantity, line)); i++) {
		if (i == 0)
			cp_out_format(text->out,
				" %s of regions (long executions are spread: ~)\n",
				text->report->quantities[quantity]);
		print_line(text, course, line, quantity,
			cp_text_safe(text->arena, line->region->name));
	}
}

/* The count that says the most about caches: the first of misses, else the first
 * that is not 0. */
static size_t of_interest(const struct cp_course *course,

	const struct cp_report *report, const struct cp_course_line *line)
{
	size_t found = report->nquantities;

	for (size_t q = report->nquantities; q-- > 0;) {
		if (!line->values[q] || total_of(course, line, q) <= 0 ||
			cp_windows_is_quantity(report->quantities[q]))
			continue;
		if (found == report->nquantities ||
			strstr(report->quantities[q], "miss") ||
			!strstr(report->quantities[found], "miss"))
			found = q;
	}
	return found;
}

static void print_course(
	struct cp_text *text, const struct cp_process *process, size_t others)
{
	const struct cp_report *report = text->report;
	const struct cp_course *course = process->course;
	const struct cp_course_line *whole = &course->lines[0];
	size_t each = (course->npoints + BARS - 1) / BARS, printed = 0, quantity;

	cp_out_format(text->out, "\nOver time: %zu intervals of %s%s%s\n",
		course->npoints, duration_text(text, course->interval_s),
		course->simulated ? " of the simulator" : "",
		each > 1 ? cp_text_format(text->arena, ", %zu in a bar", each) : "");
	for (size_t q = 0; q < report->nquantities && printed < MOST_COUNTS; q++)
		if (whole->values[q] && !cp_windows_is_quantity(report->quantities[q])) {
			print_line(text, course, whole, q, report->quantities[q]);
			printed++;
		}
	print_working_sets(text, course);
	quantity = of_interest(course, report, whole);
	if (quantity < report->nquantities) {
		print_sampled(text, course, quantity);
		print_regions(text, course, quantity);
	}
	if (others)
		cp_out_format(text->out, "  (process %d; %zu more have a series)\n",
			process->pid, others);
}

/* ---- the answer ---- */

static int largest_first(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (b > a) - (b < a);
}

/* The fewest intervals that have half of it together. */
static size_t half_of(
	struct cp_text *text, const struct cp_course *course, const double *values)
{
	double *sorted = cp_arena_alloc(text->arena, course->npoints * sizeof(*sorted)),
	       sum = 0, all = 0;
	size_t n = 0;

	for (size_t i = 0; i < course->npoints; i++) {
		sorted[i] = values[i] > 0 ? values[i] : 0;
		all += sorted[i];
	}
	qsort(sorted, course->npoints, sizeof(*sorted), largest_first);
	while (n < course->npoints && sum < all / 2)
		sum += sorted[n++];
	return n;
}

static size_t peak_of(const struct cp_course *course, const double *values)
{
	size_t peak = 0;

	for (size_t i = 0; i < course->npoints; i++)
		if (values[i] > values[peak])
			peak = i;
	return peak;
}

void cp_text_course_answer(struct cp_text *text)
{
	size_t others, quantity, peak;
	const struct cp_process *process = longest_process(text->report, &others);
	const struct cp_course *course = process ? process->course : NULL;
	const double *values;

	if (!course || !course->nlines || !course->npoints || course->lines[0].first)
		return;
	quantity = of_interest(course, text->report, &course->lines[0]);
	if (quantity == text->report->nquantities)
		return;
	if (course->lines[0].why[quantity])
		return; /* some intervals have no value */
	values = course->lines[0].values[quantity];
	peak = peak_of(course, values);
	cp_text_labelled(text, "over time",
		cp_text_format(text->arena,
			"half of the %s in %zu of %zu intervals; most, %s, from %s on",
			text->report->quantities[quantity], half_of(text, course, values),
			course->npoints, number_text(text, values[peak]),
			duration_text(text, (double)peak * course->interval_s)));
}

void cp_text_course(struct cp_text *text)
{
	size_t others;
	const struct cp_process *process = longest_process(text->report, &others);

	if (process && process->course->nlines)
		print_course(text, process, others);
}
