/* SPDX-License-Identifier: MIT
 *
 * The rule about code: misses of L1I count by how many there are for what is executed,
 * not by how they are spread over functions.
 */
#include <stdlib.h>

#include "base/text/table.h"
#include "tools/profile/advice/advice.h"

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

/* ---- which code ---- */

#define MOST_NAMED 2
#define NAMED_SHARE 10 /* percent of the misses, that a named function has at least */

static int by_address(const void *x, const void *y)
{
	uint64_t a = (*(const struct cp_profiled_site *const *)x)->at.address,
		 b = (*(const struct cp_profiled_site *const *)y)->at.address;

	return (a > b) - (a < b);
}

/* Lines of the function's code at which something missed. */
static uint64_t count_lines(
	const struct cp_profile *profile, struct cp_rows *rows, const struct cp_row *row)
{
	const struct cp_profiled_site **sites = &rows->sites[row->first];
	uint64_t lines = 0, last = 0;

	qsort(sites, row->nsites, sizeof(*sites), by_address);
	for (size_t i = 0; i < row->nsites; i++) {
		uint64_t line = sites[i]->at.address / profile->line;

		lines += !lines || line != last;
		last = line;
	}
	return lines;
}

static const char *lines_text(const struct cp_profile *profile, uint64_t lines)
{
	return cp_text_format(profile->arena, "%s lines, %.0f KiB",
		cp_text_integer(profile->arena, lines),
		(double)(lines * profile->line) / 1024);
}

/* "; its code is missed at 1,670 lines, 104 KiB: 99.9 % in step (801 lines, 50 KiB)" */
static const char *places_text(const struct cp_profile_view *view)
{
	const struct cp_profile *profile = view->profile;
	struct cp_rows *rows = cp_rows_of_all(view, CP_ROW_FUNCTION);
	const char *named = "";
	uint64_t all = 0;

	for (size_t i = 0; profile->line && i < rows->n; i++) {
		const struct cp_row *row = &rows->row[i];
		const char *function = row->site->at.function;
		double share = cp_row_share(view, rows, row);
		uint64_t lines = count_lines(profile, rows, row);

		all += lines;
		if (i < MOST_NAMED && *function && share >= NAMED_SHARE)
			named = cp_text_format(profile->arena, "%s%s %.1f %% in %s (%s)",
				named, *named ? "," : ":", share,
				cp_text_cut(profile->arena, function, 60),
				lines_text(profile, lines));
	}
	return all ? cp_text_format(profile->arena, "; its code is missed at %s%s",
			     lines_text(profile, all), named)
		   : "";
}

/* ---- the rule ---- */

void cp_advise_code(struct cp_findings *found, const struct cp_profile_view *view)
{
	const struct cp_profile *profile = view->profile;
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
		.evidence =
			cp_text_format(profile->arena, "%s%s", rate, places_text(view)),
		.threshold = limit,
		.advice = "Bring together what runs often: "
			  "-O2 or -Os in place of -O3, profile-guided optimization, "
			  "a linker or BOLT that orders functions by it, "
			  "less inlining, and what is rare in functions of its own "
			  "(__attribute__((cold))).",
		.weight = (double)misses,
	};
}
