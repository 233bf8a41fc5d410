/* SPDX-License-Identifier: MIT
 *
 * Counts in bursts by sampled sets, which L1 keeps between bursts.
 */
#include "base/stats.h"
#include "output/report/report_kept.h"

#include "tests/tap/tap.h"
#include "tools/sim/request.h"

enum { GROUPS = CP_SAMPLE_GROUPS, IN = 1000, ALL = 1000000 };

/* A count that is 2 a line and 3 per 1,000 instructions. */
static struct cp_pool make_pool(unsigned groups)
{
	struct cp_pool pool = {.nsets = 4, .ngroups = 64, .instructions = ALL};

	for (unsigned g = 0; g < groups; g++) {
		pool.in[g] = IN;
		pool.kept[g] = 10 + g % 5;
		pool.bursts[g] = 2 * pool.kept[g] + 3;
	}
	pool.kept_all = 20000;
	return pool;
}

static double sum_of(const struct cp_pool *pool, int without)
{
	struct cp_kept_fit fit = cp_kept_fit(pool, without);

	return cp_kept_sum(&fit, pool->bursts);
}

static double square_of(const struct cp_pool *pool)
{
	struct cp_kept_fit fit = cp_kept_fit(pool, -1);

	return cp_kept_square(&fit, pool->bursts);
}

static double sum_by_instructions(const struct cp_pool *pool)
{
	double sum = 0, in = 0;

	for (unsigned g = 0; g < GROUPS; g++) {
		sum += pool->bursts[g];
		in += pool->in[g];
	}
	return sum / in * ALL;
}

static void test_line(void)
{
	struct cp_pool pool = make_pool(GROUPS);

	is_double_near(sum_of(&pool, -1), 2 * 20000 + 3000, 1e-6,
		"what hangs on lines is known by all lines");
	is_double_near(square_of(&pool), 0, 1e-6, "to the last one");
	is_double_near(
		sum_of(&pool, 7), 2 * 20000 + 3000, 1e-6, "and without a group, too");
	pool.bursts[3]++;
	ok(square_of(&pool) > 1000 * 1000 / 16.0 / 16, "not so if a group differs");
	cp_pool_mix(&pool, &pool, 1);
	is_double_near(cp_pool_mixed_square(&pool), 0, 0, "no bursts, no interval");
	pool.in_bursts = true;
	ok(cp_pool_mixed_square(&pool) > 2000, "what is made of counts has it all");
}

/* The distance of group g from the line through the others, whose slopes by
 * instructions and lines are the least squares', each by its group's instructions. */
static double off_others(const struct cp_pool *pool, unsigned left_out)
{
	double ii = 0, il = 0, ll = 0, iy = 0, ly = 0, by_in, by_line;

	for (unsigned g = 0; g < GROUPS; g++) {
		double in = pool->in[g], lines = pool->kept[g], y = pool->bursts[g];

		if (g == left_out)
			continue;
		ii += in;
		il += lines;
		ll += lines * lines / in;
		iy += y;
		ly += lines * y / in;
	}
	by_in = (iy * ll - ly * il) / (ii * ll - il * il);
	by_line = (ly * ii - iy * il) / (ii * ll - il * il);
	return pool->bursts[left_out] - by_in * pool->in[left_out] -
	       by_line * pool->kept[left_out];
}

static void test_left_out(void)
{
	struct cp_pool pool = make_pool(GROUPS);
	struct cp_kept_fit fit;
	double squares = 0, t = cp_student(GROUPS - 2);

	for (unsigned g = 0; g < GROUPS; g++) {
		pool.in[g] += 100 * (double)(g % 3);
		pool.bursts[g] += (double)(g * g % 7);
	}
	fit = cp_kept_fit(&pool, -1);
	for (unsigned g = 0; g < GROUPS; g++) {
		double off = fit.weight[g] * off_others(&pool, g);

		squares += off * off;
	}
	squares *= t * t * (GROUPS - 1) / GROUPS;
	is_double_near(square_of(&pool) / squares, 1, 1e-9,
		"by what each group is off the line of the others");
}

static void test_no_line(void)
{
	struct cp_pool pool = make_pool(13);

	is_double_near(sum_of(&pool, -1), sum_by_instructions(&pool), 1e-6,
		"in 13 groups instructions are all that counts");
	pool = make_pool(GROUPS);
	for (unsigned g = 0; g < GROUPS; g++)
		pool.kept[g] = g == 5 ? 1000 : g % 2;
	is_double_near(sum_of(&pool, -1), sum_by_instructions(&pool), 1e-6,
		"so where one group has the lines");
	for (unsigned g = 0; g < GROUPS; g++)
		pool.kept[g] = 0;
	is_double_near(sum_of(&pool, -1), sum_by_instructions(&pool), 1e-6,
		"and where there are none");
	ok(square_of(&pool) > 0, "by how much the groups differ");
}

static void test_share(void)
{
	struct cp_pool pool = {.nsets = 4, .ngroups = 64};
	struct cp_kept_share share = cp_kept_share(&pool);

	is_double_near(share.missed, 0.5, 0, "nothing is known");
	is_double_near(share.error, 0.5, 0, "at all");
	for (unsigned g = 0; g < 4; g++)
		pool.firsts[g] = pool.missed[g] = 75;
	share = cp_kept_share(&pool);
	is_double_near(share.missed, 1, 0, "all of 300 missed");
	is_double_near(share.error, 0.01, 1e-12, "by the rule of three");
	for (unsigned g = 0; g < 4; g++)
		pool.missed[g] = 60;
	share = cp_kept_share(&pool);
	is_double_near(share.missed, 0.8, 1e-12, "four of five did in each set");
	is_double_near(share.error, 0.04618802, 1e-6, "as if each were by itself");
	for (unsigned g = 0; g < 4; g++)
		pool.missed[g] = g % 2 ? 75 : 45;
	share = cp_kept_share(&pool);
	is_double_near(share.error, 3.182 / 300 * 34.641016, 0.005,
		"sets that differ tell less");
	for (unsigned g = 0; g < 4; g++)
		pool.firsts[g] = pool.missed[g] = g == 1 ? 5 : 0;
	share = cp_kept_share(&pool);
	is_double_near(share.error, 0.5, 0, "five tell nothing");
}

static void test_take(void)
{
	uint64_t help[CP_SAMPLE_HELP][CP_SAMPLE_PARTS] = {{0}};
	struct cp_pool pool = {.nsets = 4, .ngroups = 64};

	for (unsigned i = 0; i < CP_SAMPLE_HELP; i++)
		for (unsigned p = 0; p < CP_SAMPLE_PARTS; p++)
			help[i][p] = 100 * i + p;
	cp_kept_take(&pool, help[0], cp_sample_firsts(CP_SIM_BURST_dtlb_load_pages));
	is_double_near(pool.kept[15], 15, 0, "lines of a group");
	is_double_near(pool.kept_all, 120 + 17, 0, "and of all but what was in full");
	is_double_near(pool.firsts[3], 0, 0, "pages have no first references");
	cp_kept_take(&pool, help[0], cp_sample_firsts(CP_SIM_BURST_l1d_load_lines));
	is_double_near(pool.firsts[3], 303, 0, "loads have theirs");
	is_double_near(pool.missed[3], 403, 0, "of which some missed");
	cp_kept_take(&pool, help[0], cp_sample_firsts(CP_SIM_BURST_l2_accesses));
	is_double_near(pool.firsts[0], 300 + 100 + 300 + 500, 0, "L2 has all of them");
	pool = (struct cp_pool){.nsets = 4, .ngroups = 64};
	cp_kept_take(&pool, help[0],
		cp_sample_firsts(CP_SIM_BURST_l1d_load_lines) |
			cp_sample_firsts(CP_SIM_BURST_l1d_writebacks));
	is_double_near(pool.firsts[3], 0, 0, "but not with what has none in it");
	ok(cp_sample_firsts(CP_SIM_SET_l2_fills) == 0, "sets are never emptied");
}

int main(void)
{
	plan(27);
	test_line();
	test_left_out();
	test_no_line();
	test_share();
	test_take();
	return 0;
}
