/* SPDX-License-Identifier: MIT
 *
 * The rules about loads whose address is in the node before, p = p->next: in chains of a
 * hash table, where the first node is one that an array has, and elsewhere.
 */
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/model/symbols.h"

#define LEAST_LOOKED 64
#define LEAST_BEGUN 8    /* chains, for their length */
#define STRIDED_MOST 0.5 /* of its misses at one distance: that is a walk */
#define FAR_SHARE 0.25   /* of its misses, from behind L2 */
/* Cycles per instruction of the run that it costs where it is not: nothing hides them. */
#define NEAR_CYCLES 0.1

#define CHASE_ADVICE                                                                     \
	"Keep nodes that follow one another side by side (an array, a pool in their "    \
	"order), put more into each (a B-tree), or prefetch the node after the next."
#define CHAIN_ADVICE                                                                     \
	"Shorten the chains: those of a hash table by as many buckets as keys, and a "   \
	"hash that spreads them over all of these, or by open addressing; other lists "  \
	"by an array for each."

static uint64_t site_count(const struct cp_profiled_site *site, unsigned counter)
{
	return site->count[counter - CP_PROFILE_FIRST];
}

static uint64_t loads_of(const struct cp_profiled_site *site)
{
	return site_count(site, CP_SIM_l1d_load_misses);
}

static bool costs_much(
	const struct cp_profile *profile, const struct cp_profiled_site *site)
{
	struct cp_tally tally = {.only_kept = true};

	cp_tally_site(&tally, site);
	return cp_measure_cycles(profile, &tally) >=
	       NEAR_CYCLES *
		       (double)cp_profile_totals(profile).count[CP_SIM_instructions];
}

static bool is_slow(const struct cp_profile *profile, const struct cp_profiled_site *site,
	uint64_t all)
{
	double misses = (double)loads_of(site);

	return loads_of(site) >= CP_ADVICE_MISSES &&
	       misses >= CP_ADVICE_SHARE * (double)all &&
	       (double)site->strided < STRIDED_MOST * (double)site->asked &&
	       ((double)site_count(site, CP_SIM_l2_load_misses) >= FAR_SHARE * misses ||
		       costs_much(profile, site));
}

static bool ask_of_code(const struct cp_profiled_site *site,
	bool (*does)(struct cp_symbols *symbols, uint64_t function, uint64_t address))
{
	const struct cp_place_in_code *at = &site->at;

	return at->module->symbols && *at->function &&
	       does(at->module->symbols, at->address - at->offset, at->address);
}

/* The elements of an array may be linked in the order in which they lie. */
bool cp_is_chase(const struct cp_profiled_site *site)
{
	return site->steps && site->steps->looked >= LEAST_LOOKED &&
	       2 * site->steps->chained >= site->steps->looked &&
	       !ask_of_code(site, cp_symbols_indexes);
}

/* How many follow one another; "": all do. */
static const char *length_text(
	struct cp_arena *arena, const struct cp_profiled_site *site)
{
	uint64_t looked = site->steps->looked, begun = looked - site->steps->chained;

	return begun < LEAST_BEGUN ? ""
				   : cp_text_format(arena, ", %.1f in a row on average",
					     (double)looked / (double)begun);
}

static const char *evidence_of(const struct cp_profile *profile,
	const struct cp_profiled_site *site, uint64_t all, bool of_table)
{
	struct cp_arena *arena = profile->arena;
	struct cp_asked asked = cp_asked_of(site);
	double misses = (double)loads_of(site);

	return cp_text_format(arena,
		"%s loads miss L1D (%.1f %% of the run's misses), "
		"%.0f %% of them L2, too, "
		"and their address is in the node before%s: "
		"each waits for the one before it%s%s",
		cp_text_integer(arena, loads_of(site)), 100 * misses / (double)all,
		100 * (double)site_count(site, CP_SIM_l2_load_misses) / misses,
		of_table ? ", the first of which a table has, by an index" : "",
		length_text(arena, site),
		cp_unfollowed(profile, &asked, "they know no such address"));
}

static struct cp_finding finding_of(const struct cp_profile *profile,
	const struct cp_profiled_site *site, uint64_t all)
{
	bool of_table = ask_of_code(site, cp_symbols_chains);
	struct cp_finding finding = {
		.rule = "pointer-chase",
		.at = &site->at,
		.data = "",
		.evidence = evidence_of(profile, site, all, of_table),
		.threshold = cp_text_format(profile->arena,
			"%.0f %% of the run's misses, %.0f %% of them in L2 "
			"or %.1f cycles per instruction of the run, "
			"and not %.0f %% at one distance",
			100 * CP_ADVICE_SHARE, 100 * FAR_SHARE, NEAR_CYCLES,
			100 * STRIDED_MOST),
		.advice = CHASE_ADVICE,
		.weight = (double)loads_of(site),
	};

	if (of_table) {
		finding.rule = "hash-chains";
		finding.advice = CHAIN_ADVICE;
	}
	return finding;
}

void cp_advise_chases(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	for (size_t i = 0; i < profile->nsites; i++) {
		const struct cp_profiled_site *site = &profile->sites[i];

		if (is_slow(profile, site, all) && cp_is_chase(site))
			add(context, finding_of(profile, site, all));
	}
}
