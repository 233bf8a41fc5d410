/* SPDX-License-Identifier: MIT
 *
 * The rule about code: misses of L1I count by how many there are for what is executed,
 * not by how they are spread over functions.
 */
#include <stdlib.h>
#include <string.h>

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

/* ---- which code ---- */

#define MOST_NAMED 2
#define NAMED_SHARE 0.1 /* of the misses, that a named function has at least */

struct function {
	const struct cp_place_in_code *at; /* NULL: none */
	uint64_t misses, lines;
};

static uint64_t misses_of(const struct cp_profiled_site *site)
{
	return site->count[CP_SIM_l1i_misses - CP_PROFILE_FIRST];
}

static int compare_functions(
	const struct cp_place_in_code *a, const struct cp_place_in_code *b)
{
	int modules = strcmp(a->module->path, b->module->path);

	return modules ? modules : strcmp(a->function, b->function);
}

static int by_function_and_address(const void *x, const void *y)
{
	const struct cp_place_in_code *a = &(*(struct cp_profiled_site *const *)x)->at,
				      *b = &(*(struct cp_profiled_site *const *)y)->at;
	int functions = compare_functions(a, b);

	return functions ? functions
			 : (a->address > b->address) - (a->address < b->address);
}

static size_t missed_sites(
	const struct cp_profile *profile, const struct cp_profiled_site ***sites)
{
	size_t n = 0;

	*sites = cp_arena_alloc(profile->arena, profile->nsites * sizeof(**sites));
	for (size_t i = 0; i < profile->nsites; i++)
		if (misses_of(&profile->sites[i]))
			(*sites)[n++] = &profile->sites[i];
	if (n)
		qsort(*sites, n, sizeof(**sites), by_function_and_address);
	return n;
}

/* The function takes its place among the first by misses. */
static void rank(struct function first[MOST_NAMED], struct function one)
{
	for (int i = 0; i < MOST_NAMED; i++)
		if (one.misses > first[i].misses) {
			struct function other = first[i];

			first[i] = one;
			one = other;
		}
}

/* Lines of code at which something missed; those of two functions count twice. */
static uint64_t rank_functions(
	const struct cp_profile *profile, struct function first[MOST_NAMED])
{
	const struct cp_profiled_site **sites;
	size_t n = missed_sites(profile, &sites);
	struct function one = {NULL, 0, 0};
	uint64_t lines = 0, last = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t line = sites[i]->at.address / profile->line;
		bool begins = !one.at || compare_functions(one.at, &sites[i]->at);

		if (begins) {
			rank(first, one);
			one = (struct function){&sites[i]->at, 0, 0};
		}
		one.misses += misses_of(sites[i]);
		one.lines += begins || line != last;
		lines += begins || line != last;
		last = line;
	}
	rank(first, one);
	return lines;
}

static const char *lines_text(const struct cp_profile *profile, uint64_t lines)
{
	return cp_text_format(profile->arena, "%s lines, %.0f KiB",
		cp_text_integer(profile->arena, lines),
		(double)(lines * profile->line) / 1024);
}

/* "; its code is missed at 1,670 lines, 104 KiB: 99.9 % in step (801 lines, 50 KiB)" */
static const char *places_text(const struct cp_profile *profile, uint64_t misses)
{
	struct function first[MOST_NAMED] = {{NULL, 0, 0}};
	uint64_t lines = profile->line ? rank_functions(profile, first) : 0;
	const char *text = "", *before = ":";

	if (!lines)
		return text;
	text = cp_text_format(
		profile->arena, "; its code is missed at %s", lines_text(profile, lines));
	for (int i = 0; i < MOST_NAMED; i++) {
		double share = (double)first[i].misses / (double)misses;

		if (!first[i].at || !*first[i].at->function || share < NAMED_SHARE)
			continue;
		text = cp_text_format(profile->arena, "%s%s %.1f %% in %.60s (%s)", text,
			before, 100 * share, first[i].at->function,
			lines_text(profile, first[i].lines));
		before = ",";
	}
	return text;
}

/* ---- the rule ---- */

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
		.evidence = cp_text_format(
			profile->arena, "%s%s", rate, places_text(profile, misses)),
		.threshold = limit,
		.advice = "Bring together what runs often: "
			  "-O2 or -Os in place of -O3, profile-guided optimization, "
			  "a linker or BOLT that orders functions by it, "
			  "less inlining, and what is rare in functions of its own "
			  "(__attribute__((cold))).",
		.weight = (double)misses,
	};
}
