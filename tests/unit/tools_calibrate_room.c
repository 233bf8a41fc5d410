/* SPDX-License-Identifier: MIT
 *
 * The room in a last level, as doctor --calibrate finds it: of one that is made up, in
 * rounds that others disturb.
 */
#include <math.h>

#include "tests/tap/tap.h"
#include "tools/calibrate/calibrate.h"

enum { KIB = 1024, MIB = 1 << 20, NEAR = 60, FAR = 460 };

/* The room that is really there, and what disturbs it. */
static size_t room;
static double stay_ns;
static bool disturbed; /* only the smallest piece is let alone */
static unsigned walks, waits;

bool cp_host_is_late(const struct cp_host *host)
{
	return !host;
}

double cp_walk(const struct cp_host *host, size_t bytes)
{
	(void)host;
	walks++;
	return bytes <= room && (!disturbed || bytes <= 2 * MIB) ? NEAR : FAR;
}

double cp_walk_later(const struct cp_host *host, size_t bytes, double wait)
{
	(void)host;
	waits++;
	return bytes <= room && wait <= stay_ns && !disturbed ? NEAR : FAR;
}

static const struct cp_machine machine = {
	.level =
		{
			[CP_L2] = {.sets = 1024, .ways = 16, .line = 64},
			[CP_LLC] = {.sets = 32768, .ways = 16, .line = 64},
		},
};
static struct cp_host host;
static struct cp_round rounds[4], halves[2];

static void run_round(unsigned round)
{
	walks = waits = 0;
	host.round = round;
	host.half = &halves[round % 2];
	cp_round_clear(&rounds[round]);
	rounds[round].value[CP_FIGURE_MEMORY] = FAR;
	cp_measure_room(&host, &rounds[round]);
}

static void begin(size_t bytes, double stay)
{
	host = (struct cp_host){
		.machine = &machine, .bytes = (size_t)128 * MIB, .ns = 0.25};
	room = bytes;
	stay_ns = stay;
	disturbed = false;
	for (unsigned i = 0; i < 2; i++) {
		cp_round_clear(&halves[i]);
		halves[i].value[CP_FIGURE_MEMORY] = FAR;
	}
}

static void is_found(const struct cp_round *round, enum cp_figure figure, double value,
	double low, double high, const char *what)
{
	is_double_near(round->value[figure], value, value * 1e-6, "%s", what);
	is_double_near(round->low[figure], low, value * 1e-6, "%s: from", what);
	if (isinf(high))
		ok(isinf(round->high[figure]), "%s: nobody knows to what", what);
	else
		is_double_near(round->high[figure], high, value * 1e-6, "%s: to", what);
}

/* Points are 2 MiB times 2^(n/8), and 0.5 ms times 2^(n/4). */
static void test_part(void)
{
	begin((size_t)17 * MIB / 2, 3e6);
	run_round(0);
	is_found(&rounds[0], CP_FIGURE_ROOM, 8 * MIB / KIB, 8 * MIB / KIB,
		(double)((size_t)(8 * MIB * exp2(0.125)) / 64 * 64) / KIB,
		"8.5 MiB: the last size that is there");
	is_found(&rounds[0], CP_FIGURE_STAY, 4 * 2e6 * exp2(2.5 / 4), 4 * 2e6 * exp2(0.5),
		4 * 2e6 * exp2(0.75), "3 ms, in cycles");
	is_u64(walks, 9, "sizes that were asked for");
	is_u64(waits, 8, "and times");
	run_round(1);
	is_double_near(halves[1].value[CP_FIGURE_ROOM], 8 * MIB / KIB, 0,
		"the other half finds it by itself");
	run_round(2);
	is_u64(walks, 2, "the next round asks for the next size only");
	is_u64(waits, 1, "and time");
	is_double_near(rounds[2].value[CP_FIGURE_ROOM], 8 * MIB / KIB, 0, "and agrees");
}

static void test_disturbed(void)
{
	begin((size_t)17 * MIB / 2, 3e6);
	disturbed = true;
	run_round(0);
	ok(isnan(rounds[0].value[CP_FIGURE_ROOM]), "a round that others disturb");
	is_double_near(rounds[0].low[CP_FIGURE_STAY], 0, 0, "knows of no time either");
	disturbed = false;
	run_round(1);
	is_double_near(rounds[1].value[CP_FIGURE_ROOM], 8 * MIB / KIB, 0,
		"the best round counts");
	ok(isnan(halves[0].value[CP_FIGURE_ROOM]), "which nothing confirms");
	disturbed = true;
	run_round(2);
	is_double_near(rounds[2].value[CP_FIGURE_ROOM], 8 * MIB / KIB, 0,
		"nor does another one take it back");
}

static void test_whole(void)
{
	begin((size_t)128 * MIB, INFINITY);
	run_round(0);
	is_found(&rounds[0], CP_FIGURE_ROOM, 64 * MIB / KIB, 64 * MIB / KIB, INFINITY,
		"all of it, and more");
	is_found(&rounds[0], CP_FIGURE_STAY, 4 * 5e5 * exp2(8.5), 4 * 5e5 * exp2(8.5),
		INFINITY, "for good");
	begin(MIB, INFINITY);
	run_round(0);
	ok(isnan(rounds[0].value[CP_FIGURE_ROOM]), "none of it: nothing is known");
}

int main(void)
{
	plan_lazy();
	test_part();
	test_disturbed();
	test_whole();
	return 0;
}
