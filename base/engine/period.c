/* SPDX-License-Identifier: MIT */
#include "base/engine/period.h"

#include <stdbool.h>

#include "base/random.h"

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

uint64_t cp_period_next(struct cp_period *period)
{
	uint64_t step = period->step ? period->step : 1, middle = period->middle / step,
		 by = middle * CP_PERIOD_JITTER / 100, n;

	if (middle <= 2)
		return middle ? middle * step : step;
	n = middle - by + cp_random(&period->random) % (2 * by + 1);
	while (!is_prime(n))
		n++;
	return n * step;
}
