/* SPDX-License-Identifier: MIT
 *
 * The rule about read-modify-writes of cold lines: a table of counters, a histogram.
 * Each update waits for a line, changes a few bytes of it, and sends all of it back.
 */
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/model/symbols.h"

#define STRIDED_MOST 0.5 /* of its misses at one distance: that is a walk */
#define FAR_SHARE 0.5    /* of its misses, from behind L2 */

static uint64_t count_of(const struct cp_profiled_site *site, unsigned counter)
{
	return site->count[counter - CP_PROFILE_FIRST];
}

static bool is_cold(const struct cp_profiled_site *site, uint64_t all)
{
	uint64_t misses = count_of(site, CP_SIM_l1d_load_misses);

	return misses >= CP_ADVICE_MISSES &&
	       (double)misses >= CP_ADVICE_SHARE * (double)all &&
	       (double)site->strided < STRIDED_MOST * (double)site->asked &&
	       (double)count_of(site, CP_SIM_l2_load_misses) >=
		       FAR_SHARE * (double)misses;
}

bool cp_is_update(const struct cp_profiled_site *site)
{
	const struct cp_place_in_code *at = &site->at;

	return at->module->symbols && *at->function &&
	       cp_symbols_updates(
		       at->module->symbols, at->address - at->offset, at->address);
}

static struct cp_finding finding_of(const struct cp_profile *profile,
	const struct cp_profiled_site *site, uint64_t all)
{
	struct cp_arena *arena = profile->arena;
	struct cp_asked asked = cp_asked_of(site);
	double misses = (double)count_of(site, CP_SIM_l1d_load_misses);

	return (struct cp_finding){
		.rule = "cold-updates",
		.at = &site->at,
		.data = "",
		.evidence = cp_text_format(arena,
			"%s loads miss L1D (%.1f %% of the run's misses), "
			"%.0f %% of them L2, too, here and there, "
			"and what they load is written again: "
			"a line comes and goes for each update%s",
			cp_text_integer(arena, count_of(site, CP_SIM_l1d_load_misses)),
			100 * misses / (double)all,
			100 * (double)count_of(site, CP_SIM_l2_load_misses) / misses,
			cp_unfollowed(profile, &asked, "no distance repeats")),
		.threshold = cp_text_format(arena,
			"%.0f %% of the run's misses, %.0f %% of them in L2, "
			"and not %.0f %% at one distance",
			100 * CP_ADVICE_SHARE, 100 * FAR_SHARE, 100 * STRIDED_MOST),
		.advice = site->script
				  ? CP_ADVICE_FOR_PYTHON
				  : "Collect updates and apply them "
				    "in the order of their addresses "
				    "(sort, or a bucket for each part that fits L2), "
				    "or make the table's elements smaller.",
		.weight = misses,
	};
}

void cp_advise_updates(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	for (size_t i = 0; i < profile->nsites; i++) {
		const struct cp_profiled_site *site = &profile->sites[i];

		if (is_cold(site, all) && cp_is_update(site) && !cp_is_chase(site))
			add(context, finding_of(profile, site, all));
	}
}
