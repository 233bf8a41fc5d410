/* SPDX-License-Identifier: MIT
 *
 * TLBs as doctor --calibrate finds them: some that are made up.
 */
#include <math.h>

#include "tests/tap/tap.h"
#include "tools/calibrate/calibrate.h"

enum { LINE = 14, DTLB = 96, STLB = 2048, HIT = 7, WALK = 120, FAR = 1000 };

bool cp_host_is_late(const struct cp_host *host)
{
	return !host;
}

void cp_shuffle(uint32_t order[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
}

/* Lines and table of two and a half times the second TLB's pages leave the caches. */
double cp_chain(const struct cp_host *host, char *memory, size_t count, size_t stride,
	unsigned passes)
{
	(void)host, (void)memory, (void)passes;
	if (stride == CP_LINE)
		return LINE;
	return LINE + (count > DTLB ? HIT : 0) + (count > STLB ? WALK : 0) +
	       (count >= 5120 ? FAR : 0);
}

static void test_walk(void)
{
	static char memory[64 << 20];
	static struct cp_host host = {.pages = memory, .scratch = memory, .ns = 0.25};
	struct cp_round round, half;

	cp_round_clear(&round);
	cp_round_clear(&half);
	host.half = &half;
	cp_measure_pages(&host, &round);
	is_double_near(round.value[CP_FIGURE_DTLB], DTLB, 0, "the first TLB");
	is_double_near(round.value[CP_FIGURE_STLB_HIT], HIT, 0, "what a hit takes");
	is_double_near(round.value[CP_FIGURE_STLB], STLB, 0, "the second TLB");
	is_double_near(round.value[CP_FIGURE_WALK], WALK, 0,
		"a walk, as long as the caches have the table");
}

int main(void)
{
	plan_lazy();
	test_walk();
	return 0;
}
