/* SPDX-License-Identifier: MIT
 *
 * The values that rounds of doctor --calibrate keep for the next ones: least times, and
 * moments of the clock.
 */
#include <math.h>

#include "tests/tap/tap.h"
#include "tools/calibrate/calibrate.h"

/* Times are kept by themselves for each half of the rounds. */
static void find_stlb(
	const struct cp_host *host, const struct cp_kept *kept, struct cp_round *round)
{
	(void)host;
	round->value[CP_FIGURE_STLB_HIT] = kept->stay[1] + kept->far_beside;
}

static void test_kept(void)
{
	static const double times[] = {9, 5, 7, 6};
	double unknown = NAN;
	static struct cp_host host;
	struct cp_round rounds[4], halves[2];

	for (unsigned i = 0; i < 4; i++) {
		host.round = i;
		host.half = &halves[i % 2];
		cp_round_clear(&rounds[i]);
		cp_keep(&host, &host.kept.stay[1], times[i]);
		cp_keep(&host, &host.kept.far_beside, 100 * times[i]);
		cp_find_both(&host, &rounds[i], find_stlb);
	}
	is_double_near(
		rounds[3].value[CP_FIGURE_STLB_HIT], 505, 0, "the least of all rounds");
	is_double_near(rounds[0].value[CP_FIGURE_STLB_HIT], 909, 0, "so far");
	is_double_near(halves[0].value[CP_FIGURE_STLB_HIT], 707, 0, "of every other one");
	is_double_near(halves[1].value[CP_FIGURE_STLB_HIT], 505, 0, "and of the others");
	ok(isnan(rounds[3].value[CP_FIGURE_CLOCK]) && host.kept.stay[0] == 0,
		"and nothing else");
	cp_least(&unknown, 3);
	is_double_near(unknown, 3, 0, "whatever is known is less than what is not");
}

/* The clock of a round: from that of half of the moments to the highest. */
static void test_moments(void)
{
	static struct cp_host host = {.nmoments = 4, .moments = {0.5, 0.4, 0.6, 0.45}};
	struct cp_round round;

	cp_round_clear(&round);
	round.value[CP_FIGURE_CLOCK] = 2400;
	cp_find_clock(&host, &round);
	is_double_near(round.low[CP_FIGURE_CLOCK], 2000, 1e-9, "that of most");
	is_double_near(round.high[CP_FIGURE_CLOCK], 2500, 1e-9, "the highest");
	is_double_near(round.value[CP_FIGURE_CLOCK], 2400, 0, "and that of the round");
	is_u64(host.nmoments, 0, "of which the next one has its own");
}

int main(void)
{
	plan_lazy();
	test_kept();
	test_moments();
	return 0;
}
