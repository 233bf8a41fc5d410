/* SPDX-License-Identifier: MIT
 *
 * The rule about code: misses of L1I count by how many there are for what is executed,
 * not by how they are spread over functions.
 */
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/model/write.h"

static double per_thousand(uint64_t misses, uint64_t instructions)
{
	return instructions ? 1000 * (double)misses / (double)instructions : 0;
}

static const char *rate_text(
	struct cp_arena *arena, uint64_t misses, uint64_t instructions)
{
	return cp_text_format(arena,
		"%s misses in L1I of %s instructions, %.2f per thousand",
		cp_text_integer(arena, misses), cp_text_integer(arena, instructions),
		per_thousand(misses, instructions));
}

void cp_advise_code(struct cp_findings *found, const struct cp_profile *profile)
{
	const struct cp_tally totals = cp_profile_totals(profile);
	uint64_t misses = totals.count[CP_SIM_l1i_misses],
		 instructions = totals.count[CP_SIM_instructions];
	const char *rate = rate_text(profile->arena, misses, instructions),
		   *limit = cp_text_format(profile->arena,
			   "%.0f misses per thousand instructions, and %s in all",
			   CP_ADVICE_CODE_RATE,
			   cp_text_integer(profile->arena, CP_ADVICE_MISSES));

	if (misses < CP_ADVICE_MISSES ||
		per_thousand(misses, instructions) < CP_ADVICE_CODE_RATE) {
		found->below_limit = cp_text_format(profile->arena,
			"code-misses, for %s are few: it is said from %s on", rate,
			limit);
		return;
	}
	if (found->n == CP_ADVICE_MOST)
		return;
	found->finding[found->n++] = (struct cp_finding){
		.rule = "code-misses",
		.data = "the run's code",
		.evidence = rate,
		.threshold = limit,
		.advice = "Bring together what runs often: "
			  "-O2 or -Os in place of -O3, profile-guided optimization, "
			  "a linker or BOLT that orders functions by it, "
			  "and less inlining in the functions above.",
		.weight = (double)misses,
	};
}
