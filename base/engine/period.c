/* SPDX-License-Identifier: MIT */
#include "base/engine/period.h"

#include <stdbool.h>

static bool is_prime(uint64_t n)
{
	if (n < 4)
		return n > 1;
	if (n % 2 == 0)
		return false;
	for (uint64_t i = 3; i <= n / i; i += 2)
		if (n % i == 0)
			return false;
	return true;
}

/* splitmix64 */
static uint64_t draw_period(struct cp_period *period)
{
	uint64_t z = period->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint64_t cp_period_next(struct cp_period *period)
{
	uint64_t step = period->step ? period->step : 1, middle = period->middle / step,
		 by = middle * CP_PERIOD_JITTER / 100, n;

	if (middle <= 2)
		return middle ? middle * step : step;
	n = middle - by + draw_period(period) % (2 * by + 1);
	while (!is_prime(n))
		n++;
	return n * step;
}
