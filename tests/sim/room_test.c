/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Room for requests in any order of time, beside one that looks at each period.
 */
#include <string.h>
#include "lines/room.h"
#include "tests/sim/random.h"
#include "tests/tap/tap.h"

static struct room room;
static struct plain {
	uint64_t period[ROOM_PERIODS];
	uint32_t taken[ROOM_PERIODS];
} plain;

static uint32_t *plain_of(uint64_t period)
{
	uint32_t i = period % ROOM_PERIODS;
	static uint32_t full;

	full = ROOM_FULL;
	if (plain.period[i] > period)
		return &full;
	if (plain.period[i] < period)
		plain.taken[i] = 0;
	plain.period[i] = period;
	return &plain.taken[i];
}

static uint64_t plain_take(uint64_t at, uint32_t hundredths)
{
	uint64_t period = at / ROOM_CYCLES, served = at;

	while (*plain_of(period) == ROOM_FULL)
		period++;
	if (period > at / ROOM_CYCLES)
		served = period * ROOM_CYCLES + *plain_of(period) / 100;
	for (; hundredths; period++) {
		uint32_t *taken = plain_of(period), left = ROOM_FULL - *taken;

		left = left < hundredths ? left : hundredths;
		*taken += left;
		hundredths -= left;
	}
	return served;
}

/* About as much as there is, or more; most of it near to now, some far behind or ahead.
 */
static void requests(int round)
{
	uint64_t now = 0;
	int same = 0, n = 3000;
	uint32_t most = 100 + random_below(20000);

	memset(&room, 0, sizeof(room));
	memset(&plain, 0, sizeof(plain));
	for (int i = 0; i < n; i++) {
		uint64_t at = now + random_below(random_below(8) ? 300 : 9000);
		uint32_t hundredths = 1 + random_below(most);

		now += random_below(100);
		same += room_take(&room, at, hundredths) == plain_take(at, hundredths);
	}
	is_u64((uint64_t)same, (uint64_t)n, "requests of round %d", round);
}

/* Code that asks once a cycle for ten cycles is further and further behind; to look at
 * each period would take hours. */
static void backlog(void)
{
	uint64_t served = 0;

	memset(&room, 0, sizeof(room));
	for (uint64_t at = 0; at < 10000000; at++)
		served = room_take(&room, at, 1000);
	is_u64(served, 99999990, "the last of ten million that are too many");
}

/* Two such, long apart, and the first of them has the longer way. */
static void two_backlogs(void)
{
	uint64_t far = 1ull << 40, served = 0, there = 0;

	memset(&room, 0, sizeof(room));
	for (int i = 0; i < 4000000; i++)
		served = room_take(&room, 0, 2000);
	for (uint64_t i = 0; i < 2000000; i++)
		there = room_take(&room, far + 2 * i, 1000);
	is_u64(served, 79999980, "the last of four million at once");
	is_u64(there, far + 19999990, "the last of two million behind them");
}

int main(void)
{
	plan_lazy();
	for (int round = 0; round < 40; round++)
		requests(round);
	backlog();
	two_backlogs();
	return 0;
}
