/* SPDX-License-Identifier: MIT
 *
 * The course of a run: what was counted in each interval of it.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_COURSE_H
#define CACHEPEEK_OUTPUT_REPORT_COURSE_H

#include "output/report/report.h"

struct cp_json;

/* A region, or the whole process (the root). */
struct cp_course_line {
	const struct cp_region *region; /* of the process's total */
	size_t first;                   /* the interval that it begins in */
	/* By the report's quantity, and by interval from first on; < 0: there is no
	 * value.  NULL: of that quantity there are none. */
	double **values;
	enum cp_status *status; /* by quantity: the worst of its values */
	/* The same for what was sampled (CACHEPEEK_SAMPLE): half of the 95 % interval of
	 * each value, and why some have none (NULL: all have).  NULL: it was not. */
	double **errors;
	const char **why;
};

struct cp_course {
	double asked_s, interval_s; /* as it was asked for, as it is now */
	bool simulated;             /* the clock is the simulator's */
	size_t dropped;             /* regions of threads that are not in it */
	size_t npoints;
	uint64_t start_ns; /* CLOCK_MONOTONIC of the first interval's begin */
	double *ends;      /* of the intervals, in seconds from the first's begin */
	size_t nlines;
	struct cp_course_line *lines; /* the whole process first */
};

/* course_spread.c: executions of regions over the intervals that they may have been in.
 */
void cp_course_spread(
	const struct cp_report *report, const struct cp_course *course, bool one_thread);

/* As the member "series" of its process. */
void cp_json_course(struct cp_json *json, const struct cp_course *it);

#endif
