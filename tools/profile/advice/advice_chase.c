/* SPDX-License-Identifier: MIT
 *
 * The rule about loads whose address is in the node before: p = p->next.
 */
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/model/symbols.h"
#include "tools/profile/model/write.h"

#define STRIDED_MOST 0.5 /* of its misses at one distance: that is a walk */
#define FAR_SHARE 0.25   /* of its misses, from behind L2 */

static uint64_t site_count(const struct cp_profiled_site *site, unsigned counter)
{
	return site->count[counter - CP_PROFILE_FIRST];
}

static uint64_t loads_of(const struct cp_profiled_site *site)
{
	return site_count(site, CP_SIM_l1d_load_misses);
}

static bool is_far(const struct cp_profiled_site *site, uint64_t all)
{
	double misses = (double)loads_of(site);

	return loads_of(site) >= CP_ADVICE_MISSES &&
	       misses >= CP_ADVICE_SHARE * (double)all &&
	       (double)site->strided < STRIDED_MOST * (double)site->asked &&
	       (double)site_count(site, CP_SIM_l2_load_misses) >= FAR_SHARE * misses;
}

bool cp_is_chase(const struct cp_profiled_site *site)
{
	const struct cp_place_in_code *at = &site->at;

	return at->module->symbols && *at->function &&
	       cp_symbols_chases(
		       at->module->symbols, at->address - at->offset, at->address);
}

static struct cp_finding finding_of(const struct cp_profile *profile,
	const struct cp_profiled_site *site, uint64_t all)
{
	struct cp_arena *arena = profile->arena;
	struct cp_asked asked = cp_asked_of(site);
	double misses = (double)loads_of(site);

	return (struct cp_finding){
		.rule = "pointer-chase",
		.at = &site->at,
		.data = "",
		.evidence = cp_text_format(arena,
			"%s loads miss L1D (%.1f %% of the run's misses), "
			"%.0f %% of them L2, too, "
			"and their address is in the node before: "
			"each waits for the one before it%s",
			cp_text_integer(arena, loads_of(site)),
			100 * misses / (double)all,
			100 * (double)site_count(site, CP_SIM_l2_load_misses) / misses,
			cp_unfollowed(profile, &asked, "they know no such address")),
		.threshold = cp_text_format(arena,
			"%.0f %% of the run's misses, %.0f %% of them in L2, "
			"and not %.0f %% at one distance",
			100 * CP_ADVICE_SHARE, 100 * FAR_SHARE, 100 * STRIDED_MOST),
		.advice = "Keep nodes that follow one another side by side (an array, "
			  "a pool in their order), put more into each (a B-tree), "
			  "or prefetch the node after the next.",
		.weight = misses,
	};
}

void cp_advise_chases(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	for (size_t i = 0; i < profile->nsites; i++) {
		const struct cp_profiled_site *site = &profile->sites[i];

		if (is_far(site, all) && cp_is_chase(site))
			add(context, finding_of(profile, site, all));
	}
}
