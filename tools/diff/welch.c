/* SPDX-License-Identifier: MIT */
#include "tools/diff/welch.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ---- a value in several runs ---- */

void cp_runs_add(struct cp_runs *runs, double value)
{
	double before = runs->mean;

	runs->min = runs->n && runs->min < value ? runs->min : value;
	runs->max = runs->n && runs->max > value ? runs->max : value;
	runs->sum += value;
	runs->n++;
	/* of equal values exactly that value, and no squares */
	runs->mean += (value - before) / (double)runs->n;
	runs->squares += (value - before) * (value - runs->mean);
}

double cp_runs_stddev(const struct cp_runs *runs)
{
	return runs->n < 2 ? 0 : sqrt(runs->squares / (double)(runs->n - 1));
}

/* ---- Student's distribution ---- */

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), from
 * the top down (Lentz): converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), value;

	d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
	value = d;
	for (int m = 1; m < 10000; m++) {
		for (int odd = 0; odd < 2; odd++) {
			double at = a + 2 * m,
			       term = odd ? -(a + m) * (a + b + m) * x / (at * (at + 1))
					  : m * (b - m) * x / ((at - 1) * at);

			d = 1 + term * d;
			d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
			c = 1 + term / c;
			c = fabs(c) < DBL_MIN ? DBL_MIN : c;
			value *= c * d;
		}
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return value;
}

/* The regularized incomplete beta function. */
static double incomplete_beta(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double cp_student_outside(double t, double freedom)
{
	return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/* ---- the test ---- */

static double count_choices(size_t n, size_t k)
{
	return exp(lgamma((double)n + 1) - lgamma((double)k + 1) -
		   lgamma((double)(n - k) + 1));
}

/* a of n runs, and b of m others, have the higher of two values: how
 * likely is that, and everything no likelier, if they were dealt at random? */
static double share_dealt(size_t a, size_t n, size_t b, size_t m)
{
	size_t high = a + b;
	double all = count_choices(n + m, high),
	       seen = count_choices(n, a) * count_choices(m, b), sum = 0;

	for (size_t i = high > m ? high - m : 0; i <= n && i <= high; i++) {
		double ways = count_choices(n, i) * count_choices(m, high - i);

		sum += ways <= seen * (1 + 1e-9) ? ways : 0;
	}
	return sum / all < 1 ? sum / all : 1;
}

static struct cp_runs runs_of(const double *values, size_t n)
{
	struct cp_runs runs = {0};

	for (size_t i = 0; i < n; i++)
		cp_runs_add(&runs, values[i]);
	return runs;
}

static size_t count_equal(const double *values, size_t n, double value)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += values[i] == value;
	return found;
}

double cp_welch(const double *one, size_t n, const double *other, size_t m)
{
	struct cp_runs a = runs_of(one, n), b = runs_of(other, m);
	double high = a.max > b.max ? a.max : b.max, low = a.min < b.min ? a.min : b.min,
	       share, rest, error;

	if (n < CP_FEWEST_RUNS || m < CP_FEWEST_RUNS)
		return -1;
	if (count_equal(one, n, high) + count_equal(one, n, low) +
			count_equal(other, m, high) + count_equal(other, m, low) >=
		n + m)
		return low == high ? 1
				   : share_dealt(count_equal(one, n, high), n,
					     count_equal(other, m, high), m);
	share = a.squares / (double)(n - 1) / (double)n;
	rest = b.squares / (double)(m - 1) / (double)m;
	error = share + rest;
	return cp_student_outside((a.mean - b.mean) / sqrt(error),
		error * error /
			(share * share / (double)(n - 1) +
				rest * rest / (double)(m - 1)));
}

/* ---- many tests ---- */

static int compare_doubles(const void *a, const void *b)
{
	const double *one = *(double *const *)a, *other = *(double *const *)b;

	return (*one > *other) - (*one < *other);
}

int cp_adjust(double *p, size_t n)
{
	double **order = malloc((n + 1) * sizeof(*order)), least = 1;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		order[i] = &p[i];
	qsort(order, n, sizeof(*order), compare_doubles);
	for (size_t i = n; i-- > 0;) {
		double share = *order[i] * (double)n / (double)(i + 1);

		least = share < least ? share : least;
		*order[i] = least;
	}
	free(order);
	return 0;
}
