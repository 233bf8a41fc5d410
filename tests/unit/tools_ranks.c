/* SPDX-License-Identifier: MIT
 *
 * The test behind `cachepeek diff --time`: against tables of Mann and Whitney's U.
 */
#include "tests/tap/tap.h"
#include "tools/diff/ranks.h"

/* A table of n and m runs without a tie, of which u pairs are the other way round. */
static void test_table(void)
{
	static const struct {
		size_t n;
		double p;
	} apart[] = {{4, 2. / 70}, {5, 2. / 252}, {6, 2. / 924}, {10, 2. / 184756}};
	static const double one[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
			    other[] = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
			    mixed[] = {3.5, 4.5, 5.5, 6.5, 7.5};
	struct cp_ranks ranks;

	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++) {
		ok(cp_ranks_test(one, apart[i].n, other, apart[i].n, &ranks),
			"%zu runs are enough", apart[i].n);
		is_double_near(ranks.p, apart[i].p, 1e-12,
			"p of %zu runs that are all apart", apart[i].n);
	}
	ok(!cp_ranks_test(one, 3, other, 3, &ranks), "3 are not");
	/* U = 3 of 25: 7 of 252 deals have as few or fewer. */
	ok(cp_ranks_test(one, 5, mixed, 5, &ranks), "mixed");
	is_double_near(ranks.p, 2 * 7. / 252, 1e-12, "3 pairs the other way round");
	ok(cp_ranks_test(one, 5, one, 5, &ranks), "a side and itself");
	is_double_near(ranks.p, 1, 1e-12, "are the same");
}

/* With five runs each, two ratios are left out at each end. */
static void test_interval(void)
{
	static const double one[] = {1, 1, 1, 1, 1}, other[] = {2, 3, 4, 5, 6},
			    wild[] = {2, 3, 4, 5, 1000};
	struct cp_ranks ranks;

	ok(cp_ranks_test(one, 5, other, 5, &ranks), "an interval");
	is_double_near(ranks.low, 2, 1e-12, "its lower end");
	is_double_near(ranks.high, 6, 1e-12, "its upper end");
	ok(cp_ranks_test(one, 4, other, 4, &ranks), "of four");
	is_double_near(ranks.low, 2, 1e-12, "all of them: low");
	is_double_near(ranks.high, 5, 1e-12, "and high");
	ok(cp_ranks_test(wild, 5, other, 5, &ranks), "a disturbed run");
	ok(ranks.high < 4, "does not move it");
}

int main(void)
{
	plan_lazy();
	test_table();
	test_interval();
	return 0;
}
