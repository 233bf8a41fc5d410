/* SPDX-License-Identifier: MIT
 *
 * The facts that a rule's findings have in common: the cause in one sentence, what their
 * weight counts, what that costs, and what a mend can save at most.
 */
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/advice/advice.h"

enum priced {
	BY_PLACE,     /* as the misses of the place or the data are served */
	BY_WALKS,     /* at CP_WALK_CYCLES */
	BY_TRANSFERS, /* at CP_TRANSFER_CYCLES */
	BY_FETCHES,   /* as lines of code are served */
	UNPRICED,
};

static const struct cause {
	const char *rule, *cause, *of, *shown_by;
	enum priced priced;
} causes[] = {
	{"stride", "a loop steps over most of each line that it fetches", "l1d_misses",
		"dcache", BY_PLACE},
	{"set-conflicts",
		"a loop's steps put its lines into few of the cache's sets, which lose "
		"them before they are used again",
		"l1d_misses", "dcache", BY_PLACE},
	{"streams", "a loop goes through more arrays in step than the TLB has entries",
		"dtlb_misses", "dtlb", UNPRICED},
	{"split-records", "records lie on two lines, so that each takes two misses",
		"l1d_misses", "dcache", BY_PLACE},
	{"pointer-chase",
		"each load needs what the one before it loads: their misses do not "
		"overlap",
		"l1d_misses", "dcache", BY_PLACE},
	{"hash-chains",
		"a look-up goes through many nodes of a chain, each of which has the "
		"address of the next",
		"l1d_misses", "dcache", BY_PLACE},
	{"unprefetched", "prefetchers do not follow these addresses", "l2_misses",
		"dcache", BY_PLACE},
	{"cold-updates",
		"what is far away is read, changed and written back, at places that do "
		"not repeat",
		"l1d_misses", "dcache", BY_PLACE},
	{"unused-bytes", "most bytes of the lines that are fetched are not used",
		"l1d_misses", "dcache --line-use", BY_PLACE},
	{"working-set", "what is used again is a little larger than L2", "l2_misses",
		"dcache", BY_PLACE},
	{"remote-memory", "the memory of another socket is used", "llc_misses", "dcache",
		BY_PLACE},
	{"tlb-reach", "more pages are used in turn than the TLBs hold", "dtlb_walks",
		"dtlb", BY_WALKS},
	{"streaming-writes",
		"what is written and not read again goes through the caches, and pushes "
		"out what is",
		"l2_store_misses", "dcache", BY_PLACE},
	{"false-sharing",
		"threads write different data on one line, and take it from each other",
		"transfers", "sharing", BY_TRANSFERS},
	{"contended-line", "threads hand the same data to each other all the time",
		"transfers", "sharing", BY_TRANSFERS},
	{"code-misses", "more code runs in turn than the instruction cache holds",
		"l1i_misses", "icache", BY_FETCHES},
};

static const char *words_for(const char *of)
{
	static const struct {
		const char *name, *words;
	} names[] = {
		{"l1d_misses", "misses in L1D"},
		{"dtlb_misses", "misses in the data TLB"},
		{"l2_misses", "misses in L2"},
		{"llc_misses", "misses in the last level"},
		{"dtlb_walks", "page walks"},
		{"l2_store_misses", "stores that miss L2"},
		{"transfers", "transfers of lines"},
		{"l1i_misses", "misses in L1I"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(of, names[i].name) == 0)
			return names[i].words;
	return of;
}

static const struct cause *cause_of(const char *rule)
{
	static const struct cause unknown = {"", "", "misses", "dcache", UNPRICED};

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (strcmp(rule, causes[i].rule) == 0)
			return &causes[i];
	return &unknown;
}

const char *cp_finding_shown_by(const struct cp_finding *finding)
{
	return cause_of(finding->rule)->shown_by;
}

/* Misses that prefetchers spare cost as much, too, as those that they do not. */
static double cycles_of_place(const struct cp_profile *profile,
	const struct cp_finding *finding, const struct cp_tally *place)
{
	uint64_t misses = place->count[CP_SIM_l1d_load_lines] +
			  place->count[CP_SIM_l1d_store_lines];

	return misses ? finding->weight * cp_measure_cycles(profile, place) /
				(double)misses
		      : -1;
}

static double share_of(double part, double whole)
{
	if (part < 0 || whole <= 0)
		return -1;
	return part < whole ? part / whole : 1;
}

static void set_cycles(const struct cp_profile *profile, struct cp_finding *finding,
	const struct cp_tally *place)
{
	const struct cp_tally totals = cp_profile_totals(profile);
	struct cp_finding_cost *cost = &finding->cost;
	uint64_t walks = totals.count[CP_SIM_dtlb_load_walks] +
			 totals.count[CP_SIM_dtlb_store_walks];

	switch (cause_of(finding->rule)->priced) {
	case BY_PLACE:
		cost->cycles = cycles_of_place(profile, finding, place);
		cost->share = share_of(cost->cycles, cp_measure_cycles(profile, &totals));
		break;
	case BY_WALKS:
		cost->cycles = cost->count * CP_WALK_CYCLES;
		cost->share = share_of(cost->count, (double)walks);
		break;
	case BY_TRANSFERS:
		cost->cycles = cost->count * CP_TRANSFER_CYCLES;
		break;
	case BY_FETCHES:
		cost->cycles = cp_measure_fetches(profile, &totals);
		cost->share = 1;
		break;
	case UNPRICED:
		break;
	}
}

static const char *expected_text(
	struct cp_arena *arena, const struct cp_finding_cost *cost)
{
	const char *count = cp_text_integer(arena, cp_count_of(cost->count + 0.5));

	if (cost->cycles < 0)
		return cp_text_format(arena,
			"at most %s fewer %s; how many cycles these take is not known",
			count, words_for(cost->of));
	return cp_text_format(arena,
		"at most %s cycles less, %.2f per instruction, if nothing hides them "
		"(%s %s)",
		cp_text_integer(arena, cp_count_of(cost->cycles + 0.5)),
		cost->per_instruction, count, words_for(cost->of));
}

void cp_finding_price(const struct cp_profile *profile, struct cp_finding *finding,
	const struct cp_tally *place)
{
	const struct cause *cause = cause_of(finding->rule);
	uint64_t instructions = cp_profile_totals(profile).count[CP_SIM_instructions];
	struct cp_finding_cost *cost = &finding->cost;

	finding->cause = cause->cause;
	*cost = (struct cp_finding_cost){.count = finding->weight,
		.of = cause->of,
		.cycles = -1,
		.share = -1,
		.per_instruction = -1};
	set_cycles(profile, finding, place);
	if (cost->cycles >= 0 && instructions)
		cost->per_instruction = cost->cycles / (double)instructions;
	finding->expected = expected_text(profile->arena, cost);
}
