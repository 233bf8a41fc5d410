/* SPDX-License-Identifier: MIT
 *
 * An execution is counted where it ends, and all of it: one that is longer than an
 * interval would have more there than what it is nested in.  What is too much is of the
 * intervals before, each of which has no more than that counted in it: an estimate.
 *
 * A single thread is in one region at a time: where a region's execution goes back
 * through an interval, those beside it have what it leaves there.
 */
#include <string.h>

#include "output/report/course.h"
#include "output/report/windows.h"

struct spread {
	const struct cp_report *report;
	const struct cp_course *course;
	bool one_thread;
	size_t *around; /* of each line, the line of what it is nested in */
	size_t *ended;  /* of each line, where what is carried back ended */
	size_t *inside; /* the lines in one, those carried back the furthest first */
	size_t n, quantity;
	bool *moved; /* by line */
};

static double *values_of(const struct spread *s, size_t line)
{
	return s->course->lines[line].values[s->quantity];
}

/* Samples stay where they are, with their error bars. */
static bool is_spread(const struct spread *s, size_t line)
{
	return values_of(s, line) && !s->course->lines[line].errors[s->quantity];
}

/* Lets the line have no more than that in the interval; returns what is left of it. */
static double carry_back(const struct spread *s, size_t line, size_t at, double most)
{
	double *values = values_of(s, line);

	if (values[at] < 0)
		return most;
	if (values[at] <= most || values[at - 1] < 0) {
		s->ended[line] = 0;
		return values[at] < most ? most - values[at] : 0;
	}
	if (!s->ended[line])
		s->ended[line] = at;
	values[at - 1] += values[at] - most;
	values[at] = most;
	s->moved[line] = true;
	return 0;
}

/* The execution that ended last began after all that ended before it.  Of those that
 * ended in the same interval, the short ones lie in it entirely. */
static bool is_later(const struct spread *s, size_t line, size_t other, size_t at)
{
	if (s->ended[line] != s->ended[other])
		return s->ended[line] > s->ended[other];
	return values_of(s, line)[at] < values_of(s, other)[at];
}

static void last_ended_first(const struct spread *s, size_t at)
{
	for (size_t i = 1; i < s->n; i++)
		for (size_t j = i; j > 0; j--) {
			size_t line = s->inside[j], other = s->inside[j - 1];

			if (!is_later(s, line, other, at))
				break;
			s->inside[j] = other;
			s->inside[j - 1] = line;
		}
}

/* From the last interval to the first, of all that is nested in that line. */
static void spread_inside(const struct spread *s, size_t around)
{
	const double *most = values_of(s, around);

	for (size_t i = 0; i < s->n; i++)
		s->ended[s->inside[i]] = 0;
	for (size_t at = s->course->npoints; at-- > 1;) {
		double left = most[at];

		if (most[at] < 0)
			continue;
		last_ended_first(s, at);
		for (size_t i = 0; i < s->n; i++) {
			double rest = carry_back(s, s->inside[i], at, left);

			left = s->one_thread ? rest : most[at];
		}
	}
}

/* Spreads the lines inside `around` that have a value, and then those inside each of
 * them. */
static void spread_line(struct spread *s, size_t around)
{
	const struct cp_course *course = s->course;

	s->n = 0;
	for (size_t i = 1; i < course->nlines; i++)
		if (s->around[i] == around && is_spread(s, i))
			s->inside[s->n++] = i;
	if (!s->n || !values_of(s, around))
		return;
	spread_inside(s, around);
	for (size_t i = 1; i < course->nlines; i++)
		if (s->around[i] == around && is_spread(s, i))
			spread_line(s, i);
}

/* Before its first interval a line has nothing, and of working sets nobody knows. */
static double *from_start(struct cp_arena *arena, const struct cp_course *course,
	size_t first, const double *from, double before)
{
	double *values = cp_arena_alloc(arena, course->npoints * sizeof(*values));

	for (size_t i = 0; i < first; i++)
		values[i] = before;
	memcpy(values + first, from, (course->npoints - first) * sizeof(*values));
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

/* All of its intervals, the first ones too. */
static void lengthen_line(const struct spread *s, struct cp_course_line *line)
{
	struct cp_arena *arena = s->report->arena;

	for (size_t q = 0; q < s->report->nquantities; q++) {
		double before = cp_windows_is_quantity(s->report->quantities[q]) ? -1 : 0;

		if (line->values[q])
			line->values[q] = from_start(
				arena, s->course, line->first, line->values[q], before);
		if (line->errors[q])
			line->errors[q] = from_start(
				arena, s->course, line->first, line->errors[q], 0);
	}
}

/* Without those that have nothing. */
static void shorten_line(const struct spread *s, struct cp_course_line *line)
{
	size_t begin = begin_of(s->report, line, line->first);

	for (size_t q = 0; q < s->report->nquantities; q++) {
		if (line->values[q])
			line->values[q] += begin;
		if (line->errors[q])
			line->errors[q] += begin;
	}
	line->first = begin;
}

static size_t line_around(const struct cp_course *course, const struct cp_region *region)
{
	for (region = region->parent; region; region = region->parent)
		for (size_t i = 1; i < course->nlines; i++)
			if (course->lines[i].region == region)
				return i;
	return 0;
}

static void spread_quantity(struct spread *s)
{
	struct cp_course_line *lines = s->course->lines;

	if (cp_windows_is_quantity(s->report->quantities[s->quantity]))
		return;
	memset(s->moved, 0, s->course->nlines * sizeof(*s->moved));
	spread_line(s, 0);
	for (size_t i = 1; i < s->course->nlines; i++)
		if (s->moved[i] && lines[i].status[s->quantity] < CP_ESTIMATED)
			lines[i].status[s->quantity] = CP_ESTIMATED;
}

void cp_course_spread(
	const struct cp_report *report, const struct cp_course *course, bool one_thread)
{
	struct spread s = {.report = report, .course = course, .one_thread = one_thread};
	size_t n = course->nlines;

	if (!n || course->lines[0].region->parent)
		return;
	s.around = cp_arena_alloc(report->arena, n * sizeof(*s.around));
	s.ended = cp_arena_alloc(report->arena, n * sizeof(*s.ended));
	s.inside = cp_arena_alloc(report->arena, n * sizeof(*s.inside));
	s.moved = cp_arena_alloc(report->arena, n * sizeof(*s.moved));
	for (size_t i = 0; i < n; i++) {
		s.around[i] = i ? line_around(course, course->lines[i].region) : n;
		lengthen_line(&s, &course->lines[i]);
	}
	for (s.quantity = 0; s.quantity < report->nquantities; s.quantity++)
		spread_quantity(&s);
	for (size_t i = 0; i < n; i++)
		shorten_line(&s, &course->lines[i]);
}
