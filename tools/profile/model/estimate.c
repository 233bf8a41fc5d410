/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/estimate.h"

#include <math.h>

#define Z 1.959963984540054 /* of a normal distribution: 95 % within */

/* total over periods; 1 where there are no samples. */
static double scale_of(const struct cp_population *population)
{
	return population->periods > 0 ? population->total / population->periods : 1;
}

/* How much of the variance is left when so much of the whole has been seen. */
static double unseen_share(const struct cp_population *population)
{
	double seen = (double)population->samples / population->total;

	return seen < 1 ? 1 - seen : 0;
}

void cp_estimate_add(struct cp_estimate *estimate, const struct cp_population *population,
	uint64_t samples, double periods)
{
	double each;

	if (!samples || !population->samples || population->total <= 0)
		return;
	each = population->total / (double)population->samples;
	estimate->value += periods * scale_of(population);
	estimate->variance += each * each * (double)samples * unseen_share(population);
}

double cp_estimate_error(const struct cp_estimate *estimate, double total)
{
	double share, n, middle, half;

	if (estimate->variance <= 0 || estimate->value <= 0 || total <= 0)
		return 0;
	share = estimate->value < total ? estimate->value / total : 1;
	/* How many samples of all would tell as much. */
	n = estimate->value * estimate->value / estimate->variance / share;
	middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n);
	half = Z / (1 + Z * Z / n) * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));
	return total * (half + fabs(middle - share));
}
