/* SPDX-License-Identifier: MIT
 * The test behind `cachepeek diff`: against tables, and against noise in which
 * nothing differs.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/tap/tap.h"
#include "tools/diff/welch.h"

/* Quantiles of Student's distribution as printed tables have them. */
static void test_table(void)
{
	static const struct {
		double freedom, t, outside;
	} rows[] = {{1, 12.7062, 0.05}, {2, 4.30265, 0.05}, {4, 2.77645, 0.05},
		{8, 2.30600, 0.05}, {30, 2.04227, 0.05}, {1, 63.6567, 0.01},
		{5, 4.03214, 0.01}, {8, 5.04131, 0.001}, {100, 3.39049, 0.001},
		{3, 0.764892, 0.5}, {4.6, 0, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		is_double_near(cp_student_outside(rows[i].t, rows[i].freedom),
			rows[i].outside, 2e-5, "%g degrees, t = %g", rows[i].freedom,
			rows[i].t);
	/* freedom 1 and 2 have closed forms: far out, too */
	is_double_near(cp_student_outside(1e6, 1) * 1e6, 2 / M_PI, 1e-6, "Cauchy's tail");
	is_double_near(cp_student_outside(1e3, 2) * 1e6, 1, 1e-5, "that of two degrees");
}

static void test_pairs(void)
{
	static const double a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9,
		22.6, 23.1, 19.6, 19.0, 21.7, 21.4},
			    b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8,
				    20.2, 21.9, 22.1, 22.9, 30.5, 24.4},
			    same[] = {5, 5, 5, 5}, more[] = {6, 6, 6, 6},
			    some[] = {5, 5, 5, 6}, far[] = {1, 2, 3, 4},
			    further[] = {1001, 1002, 1003, 1005};

	is_double_near(cp_welch(a, 15, b, 15), 0.0080719, 1e-7,
		"two samples, and the density integrated");
	is_double_near(cp_welch(a, 15, b, 15), cp_welch(b, 15, a, 15), 1e-12,
		"either way round");
	ok(cp_welch(a, CP_FEWEST_RUNS - 1, b, 15) < 0, "nothing to say of three runs");
	ok(cp_welch(a, 15, b, CP_FEWEST_RUNS - 1) < 0, "on either side");
	is_double_near(cp_welch(same, 4, same, 4), 1, 1e-12, "nothing differs");
	is_double_near(cp_welch(same, 4, more, 4), 2 / 70.0, 1e-9,
		"no variance: two of the 70 ways to deal four and four");
	is_double_near(cp_welch(same, 4, some, 4), 1, 1e-9, "one of eight runs differs");
	ok(cp_welch(far, 4, further, 4) < 1e-6, "far apart");
}

static void test_adjust(void)
{
	double p[] = {0.04, 0.001, 0.5, 0.01};

	is_int(cp_adjust(p, 4), 0, "adjusted");
	is_double_near(p[1], 0.004, 1e-12, "the least, of four");
	is_double_near(p[3], 0.02, 1e-12, "the second");
	is_double_near(p[0], 0.04 * 4 / 3, 1e-12, "the third");
	is_double_near(p[2], 0.5, 1e-12, "the last as it was");
}

static void test_runs(void)
{
	struct cp_runs runs = {0};

	for (int i = 0; i < 5; i++)
		cp_runs_add(&runs, 0.1);
	ok(runs.mean == 0.1 && runs.squares == 0 && runs.min == runs.max,
		"equal values have no spread, to the last bit");
	cp_runs_add(&runs, -0.5);
	is_double_near(runs.mean, 0, 1e-12, "the mean");
	is_double_near(cp_runs_stddev(&runs), sqrt(0.06), 1e-12, "the deviation");
}

/* ---- noise ---- */

static uint64_t state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum - 6;
}

static double smooth(void)
{
	return 1e6 + 1e3 * normal();
}

/* Now and then a run is disturbed. */
static double outliers(void)
{
	return 1000 + normal() + (uniform() < 0.1 ? 200 : 0);
}

static double two_values(void)
{
	return uniform() < 0.5 ? 100 : 101;
}

static double rounded(void)
{
	return floor(100 + 0.7 * normal());
}

static double skewed(void)
{
	return 50 - 10 * log(uniform() + 1e-12);
}

/* Comparisons of 40 values, n and n runs of one and the same program: how many of
 * them flag anything at all. */
static unsigned false_flags(double (*noise)(void), size_t n, unsigned comparisons)
{
	unsigned flagged = 0;

	state = 88172645463325252ull;
	for (unsigned comparison = 0; comparison < comparisons; comparison++) {
		double p[40], one[10], other[10], least = 1;

		for (int value = 0; value < 40; value++) {
			for (size_t i = 0; i < n; i++) {
				one[i] = noise();
				other[i] = noise();
			}
			p[value] = cp_welch(one, n, other, n);
		}
		cp_adjust(p, 40);
		for (int value = 0; value < 40; value++)
			least = p[value] < least ? p[value] : least;
		flagged += least < 0.05;
	}
	return flagged;
}

static void test_noise(void)
{
	static const struct {
		const char *name;
		double (*noise)(void);
	} kinds[] = {{"smooth", smooth}, {"with outliers", outliers},
		{"of two values", two_values}, {"in whole numbers", rounded},
		{"skewed", skewed}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t n = CP_FEWEST_RUNS; n <= 10; n += n < 5 ? 1 : 5) {
			unsigned of = tap_repeats(1000),
				 flagged = false_flags(kinds[i].noise, n, of);

			ok(flagged <= (of < 1000 ? of / 10 : 55),
				"%s, %zu runs: %u of %u comparisons flagged",
				kinds[i].name, n, flagged, of);
		}
}

int main(void)
{
	plan_lazy();
	test_table();
	test_pairs();
	test_adjust();
	test_runs();
	test_noise();
	return 0;
}
