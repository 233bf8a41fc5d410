/* SPDX-License-Identifier: MIT
 *
 * Predicted times of machines whose files say how far their figures may be off
 * (base/machine/spreads.h): values with one part of the time longer by its spread.
 */
#include "output/metrics/spreads.h"
#include "tools/compare/compare.h"

static const enum cp_sim_counter counter_of[CP_PART_CLOCK] = {
	[CP_PART_ISSUE] = CP_SIM_time_issue,
	[CP_PART_BRANCH] = CP_SIM_time_branch,
	[CP_PART_L2] = CP_SIM_time_l2,
	[CP_PART_L3] = CP_SIM_time_llc,
	[CP_PART_MEMORY] = CP_SIM_time_memory,
	[CP_PART_TLB] = CP_SIM_time_tlb,
	[CP_PART_BANDWIDTH] = CP_SIM_time_bandwidth,
	[CP_PART_STORE] = CP_SIM_time_store,
};

double cp_compare_longer(const struct cp_comparison *c,
	const struct cp_compared *compared, const char *quantity, double value)
{
	enum cp_time_part part = c->view.part;

	if (c->view.longer != compared || part == CP_PART_CLOCK ||
		!(cp_parts_of_quantity(quantity) >> part & 1))
		return value;
	return value +
	       compared->spreads.of[part] * (double)compared->count[counter_of[part]];
}

double cp_compare_clock(const struct cp_comparison *c, const struct cp_compared *compared)
{
	double hz = 1e6 * compared->machine.clock_mhz;

	if (c->view.longer == compared && c->view.part == CP_PART_CLOCK)
		hz /= 1 + compared->spreads.of[CP_PART_CLOCK];
	return hz;
}

/* ---- in words ---- */

const char *cp_compare_interval_of(const struct cp_compared *compared)
{
	return compared->machine.sampled ? "(95 %)"
	       : compared->spreads.known ? "(rounds)"
					 : NULL;
}

const char *cp_compare_rounds(struct cp_comparison *c)
{
	const char *names = "";

	for (unsigned i = 0; i < c->nmachines; i++)
		if (c->of[i].spreads.known)
			names = cp_text_listed(&c->arena, names, c->of[i].machine.name);
	return *names ? cp_text_format(&c->arena,
				"of %s: by how far the rounds of the calibration are "
				"apart; errors of the model are not in it",
				names)
		      : "";
}
