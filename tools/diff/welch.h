/* SPDX-License-Identifier: MIT
 *
 * Do two handfuls of runs differ, or is that noise?
 *
 * Welch's t test of two means: it needs neither equal variances nor equally many
 * runs, and with five runs each a plain difference has a p far below 1/252, the
 * least that a rank test could give: of hundreds of values that are looked at
 * together, a rank test would never be able to single one out.
 */
#ifndef CACHEPEEK_TOOLS_DIFF_WELCH_H
#define CACHEPEEK_TOOLS_DIFF_WELCH_H

#include <stddef.h>

/* One value in several runs. */
struct cp_runs {
	size_t n;
	double min, max, sum;
	double mean, squares; /* squares: of the deviations from the mean */
};

void cp_runs_add(struct cp_runs *runs, double value);

/* Standard deviation of the sample; 0 of one. */
double cp_runs_stddev(const struct cp_runs *runs);

/* With fewer runs a side, two or three disturbed ones that happen to be alike look
 * like a difference: with 1 in 10 disturbed, 2 runs each flag 38 % of comparisons
 * of a program with itself, 3 runs 8 %, 4 runs 2 % (tests/unit/tools_welch.c). */
#define CP_FEWEST_RUNS 4

/*
 * The chance of means at least so far apart if both sides came from the same
 * distribution; < 0: a side has too few runs, nothing can be said.
 *
 * Where each side has one value in all its runs there is no variance to judge by,
 * and where all runs together have two values it is no normal one: then it is the
 * chance of dealing the runs out like that (Fisher's exact test).
 */
double cp_welch(const double *one, size_t n, const double *other, size_t m);

/*
 * Benjamini and Hochberg: the p of many tests become the share of false ones
 * among all that are at least as small.  Sorts nothing: p[i] stays where it is.
 * Returns 0, or -ENOMEM.
 */
int cp_adjust(double *p, size_t n);

/* Student's distribution: what lies outside of -t and t. */
double cp_student_outside(double t, double freedom);

#endif
