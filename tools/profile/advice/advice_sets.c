/* SPDX-License-Identifier: MIT
 *
 * The rule about steps that meet few sets of L1D: a column of a matrix whose rows are a
 * power of two long.  L1D is indexed by the address within a page, so what the simulated
 * PMU sees holds on hardware.
 */
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"

#define SETS_LEAST 8 /* of so many sets at most one is used */
#define ROOM_LEAST 2 /* L1D has so many times the lines of a walk */

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* That steps of this distance meet; all, where a step is not a number of lines. */
static uint64_t sets_met(const struct cp_profile *profile, uint64_t distance)
{
	if (distance % profile->line)
		return profile->l1d_sets;
	return profile->l1d_sets /
	       greatest_divisor(distance / profile->line, profile->l1d_sets);
}

/* Lines that the loop touches before it turns back: a turn is a miss that is not one
 * step from the one before. */
static uint64_t lines_of_walk(const struct cp_steps *steps)
{
	return steps->misses / (steps->misses - steps->strided + 1);
}

bool cp_advise_sets(const struct cp_profile *profile, const struct cp_steps *steps,
	struct cp_finding *finding)
{
	struct cp_arena *arena = profile->arena;
	uint64_t lines = profile->l1d_sets * profile->l1d_ways, met, walk;

	if (!lines)
		return false;
	met = sets_met(profile, steps->distance);
	walk = lines_of_walk(steps);
	if (met * SETS_LEAST > profile->l1d_sets || walk <= met * profile->l1d_ways ||
		walk * ROOM_LEAST > lines)
		return false;
	finding->rule = "set-conflicts";
	finding->evidence = cp_text_format(arena,
		"%s of its %s misses in L1D are %s bytes from the one before: "
		"such addresses are in %s of the %s sets, which have %s lines, "
		"and a walk touches about %s; L1D has room for %s "
		"(%.1f %% of the run's misses)",
		cp_text_integer(arena, steps->strided),
		cp_text_integer(arena, steps->misses),
		cp_text_integer(arena, steps->distance), cp_text_integer(arena, met),
		cp_text_integer(arena, profile->l1d_sets),
		cp_text_integer(arena, met * profile->l1d_ways),
		cp_text_integer(arena, walk), cp_text_integer(arena, lines),
		100 * steps->share);
	finding->threshold = cp_text_format(arena,
		"a stride, in 1 of %d sets at most, "
		"with more lines than these hold and at most 1 of %d that L1D holds",
		SETS_LEAST, ROOM_LEAST);
	finding->advice =
		"Make rows a line longer than a power of two (pad them), "
		"so that a column is spread over all sets; or exchange the loops.";
	return true;
}
