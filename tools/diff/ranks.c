/* SPDX-License-Identifier: MIT */
#include "tools/diff/ranks.h"

#include <stdlib.h>

#define LEVEL 0.05

/* In how many ways u of all n * m pairs are the other way round: the coefficients of the
 * product of (1 - q^(m+i)) / (1 - q^i).  ways: room for n * m + 1. */
static void count_ways(double *ways, size_t n, size_t m)
{
	size_t most = n * m;

	for (size_t u = 0; u <= most; u++)
		ways[u] = u == 0;
	for (size_t i = 1; i <= n; i++) {
		for (size_t u = most; u >= m + i; u--)
			ways[u] -= ways[u - m - i];
		for (size_t u = i; u <= most; u++)
			ways[u] += ways[u - i];
	}
}

static int compare_doubles(const void *one, const void *other)
{
	const double *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

/* How many pairs of runs have the second one below the first; a tie is half of one. */
static double pairs_below(const double *one, size_t n, const double *other, size_t m)
{
	double found = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			found += other[j] < one[i] ? 1 : other[j] == one[i] ? 0.5 : 0;
	return found;
}

static double share_up_to(const double *ways, size_t most, double u)
{
	double below = 0, all = 0;

	for (size_t i = 0; i <= most; i++) {
		all += ways[i];
		below += (double)i <= u ? ways[i] : 0;
	}
	return below / all;
}

/* So many of the ratios are left out at each end; 0: there is no interval. */
static size_t left_out(const double *ways, size_t most)
{
	size_t k = 0;

	while (k <= most && share_up_to(ways, most, (double)k) <= LEVEL / 2)
		k++;
	return k;
}

static void sort_ratios(
	const double *one, size_t n, const double *other, size_t m, double *ratios)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			ratios[i * m + j] = other[j] / one[i];
	qsort(ratios, n * m, sizeof(*ratios), compare_doubles);
}

bool cp_ranks_test(const double *one, size_t n, const double *other, size_t m,
	struct cp_ranks *ranks)
{
	size_t most = n * m, k;
	double *ways = calloc(2 * (most + 1), sizeof(*ways)), *ratios, u, share;

	if (!ways)
		return false;
	count_ways(ways, n, m);
	k = left_out(ways, most);
	u = pairs_below(one, n, other, m);
	u = u < (double)most - u ? u : (double)most - u;
	share = 2 * share_up_to(ways, most, u);
	ranks->p = share < 1 ? share : 1;
	ratios = ways + most + 1;
	sort_ratios(one, n, other, m, ratios);
	if (k) {
		ranks->low = ratios[k - 1];
		ranks->high = ratios[most - k];
	}
	free(ways);
	return k > 0;
}
