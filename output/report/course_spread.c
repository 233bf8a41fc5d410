/* SPDX-License-Identifier: MIT
 *
 * An execution is counted where it ends, and all of it: one that is longer than an
 * interval would have more there than the process.  What is too much is of the intervals
 * before, each of which has no more than the process counted in it: an estimate.
 */
#include <string.h>

#include "output/report/course.h"
#include "output/report/windows.h"

static double whole_at(const struct cp_course_line *whole, size_t quantity, size_t at)
{
	return at < whole->first ? 0 : whole->values[quantity][at - whole->first];
}

/* From the last interval to the first.  Returns whether anything has moved. */
static bool spread_total(
	double *values, const struct cp_course_line *whole, size_t quantity, size_t n)
{
	bool moved = false;

	for (size_t at = n; at-- > 1;) {
		double most = whole_at(whole, quantity, at);

		if (most < 0 || values[at] <= most || values[at - 1] < 0)
			continue;
		values[at - 1] += values[at] - most;
		values[at] = most;
		moved = true;
	}
	return moved;
}

/* Before its first interval a line has nothing, and of working sets nobody knows. */
static double *from_start(struct cp_arena *arena, const struct cp_course *course,
	const struct cp_course_line *line, size_t quantity, double before)
{
	double *values = cp_arena_alloc(arena, course->npoints * sizeof(*values));

	for (size_t i = 0; i < line->first; i++)
		values[i] = before;
	memcpy(values + line->first, line->values[quantity],
		(course->npoints - line->first) * sizeof(*values));
	return values;
}

static size_t begin_of(
	const struct cp_report *report, const struct cp_course_line *line, size_t first)
{
	for (size_t i = 0; i < first; i++)
		for (size_t q = 0; q < report->nquantities; q++)
			if (line->values[q] && line->values[q][i] > 0)
				return i;
	return first;
}

static void spread_line(const struct cp_report *report, const struct cp_course *course,
	struct cp_course_line *line)
{
	const struct cp_course_line *whole = &course->lines[0];
	size_t first = line->first, begin;

	for (size_t q = 0; q < report->nquantities; q++) {
		bool windows = cp_windows_is_quantity(report->quantities[q]);

		if (!line->values[q])
			continue;
		line->values[q] =
			from_start(report->arena, course, line, q, windows ? -1 : 0);
		if (!windows && whole->values[q] &&
			spread_total(line->values[q], whole, q, course->npoints) &&
			line->status[q] < CP_ESTIMATED)
			line->status[q] = CP_ESTIMATED;
	}
	begin = begin_of(report, line, first);
	for (size_t q = 0; q < report->nquantities; q++)
		if (line->values[q])
			line->values[q] += begin;
	line->first = begin;
}

void cp_course_spread(const struct cp_report *report, struct cp_course *course)
{
	for (size_t i = 1; i < course->nlines; i++)
		if (!course->lines[0].region->parent && course->lines[i].region->parent)
			spread_line(report, course, &course->lines[i]);
}
