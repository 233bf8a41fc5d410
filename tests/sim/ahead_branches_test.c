/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Branches of cores that execute out of order: which of them are foreseen.
 */
#include "tests/sim/ahead_trace.h"
#include "tests/sim/random.h"
#include "tests/tap/tap.h"

/* A batch that ends in a branch; returns what the branch before it cost. */
static uint64_t go_to(struct batch *b, uint64_t line)
{
	static struct {
		struct flow flow;
		struct flow_value value;
	} branch = {.flow = {.end = FLOW_BRANCHES}};
	uint64_t before = core->count[CP_SIM_time_branch];

	b->flow = &branch.flow;
	b->branches = 1;
	ahead_begin(core, b, line);
	ahead_follow(core);
	return core->count[CP_SIM_time_branch] - before;
}

static _Alignas(64) struct batch batches[16 + 2];

/* Two batches by turns are known soon. */
static void branches(void)
{
	uint64_t early = 0, late = 0;

	begin(&small);
	for (uint64_t i = 0; i < 200; i++)
		*(i <= 100 ? &early : &late) += go_to(&batches[i % 2], i % 2 + 7);
	ok(early > 0 && early < 15 * 40, "branches by turns are learnt");
	is_u64(late, 0, "and known then");
	end();
}

/* Sixteen batches as chance will have it, each followed by the same two: no few branches
 * come again, but of these each goes where it does most of the time. */
static void usual_branches(void)
{
	uint64_t wild = 0, usual = 0;

	random_again();
	begin(&small);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t other = random_below(16);

		wild += go_to(&batches[other], other);
		for (uint32_t k = 16; k < 18; k++) {
			uint64_t cost = go_to(&batches[k], k);

			usual += i >= 200 ? cost : 0;
		}
	}
	ok(wild > UINT64_C(1000) * small.ooo.mispredict / 2, "chance is not foreseen");
	is_u64(usual, 0, "what always follows is, whatever was before");
	end();
}

/* The cycles of branches half of which are as chance will have it, with batches of those
 * keys. */
static uint64_t chance(struct batch *all, const uint16_t *keys)
{
	uint64_t cost = 0;

	random_again();
	begin(&small);
	for (uint32_t i = 0; i < 16; i++)
		all[i].key = keys[i];
	for (uint32_t i = 0; i < 2000; i++)
		cost += go_to(&all[i % 2 ? random_below(16) : i / 2 % 16], 7);
	end();
	return cost;
}

/* Batches of one line are told from each other by their keys, not by where they are. */
static void keys(void)
{
	static _Alignas(64) struct batch here[16], there[3][16];
	uint16_t same[16] = {0}, each[16];
	uint64_t cost;

	for (uint16_t i = 0; i < 16; i++)
		each[i] = (uint16_t)(i * 40503u);
	is_u64(chance(here, same), UINT64_C(2) * small.ooo.mispredict,
		"with one key, only the first two branches are unforeseen");
	cost = chance(here, each);
	ok(cost > UINT64_C(500) * small.ooo.mispredict, "other keys are other batches");
	is_u64(chance(there[1], each), cost, "wherever they are");
	is_u64(chance(there[2], each), cost, "and there");
}

/* A loop of forty rounds comes to its end each time, and then two batches. */
static void loops(void)
{
	static struct batch loop, after[2];
	uint64_t cost = 0;

	begin(&small);
	for (uint32_t i = 0; i < 40; i++) {
		if (i == 20)
			cost = 0;
		for (uint32_t round = 0; round < 40; round++)
			cost += go_to(&loop, 7);
		cost += go_to(&after[0], 8);
		cost += go_to(&after[1], 9);
	}
	end();
	is_u64(cost, 0, "a loop of so many rounds is known");
}

/* One of two batches, then so many that are always the same, and then one of two, which
 * hangs on the first: what that costs, once it is known.  Before all there are some as
 * chance will have it. */
static uint64_t cost_of_memory(uint32_t noise, uint32_t between)
{
	static struct batch any[16], first[2], same[32], last[2];
	uint64_t cost = 0;

	random_again();
	begin(&small);
	for (uint32_t i = 0; i < 4000; i++) {
		uint32_t which = (uint32_t)random_below(2);
		uint64_t now;

		for (uint32_t k = 0; k < noise; k++) {
			uint32_t other = (uint32_t)random_below(16);

			go_to(&any[other], 100 + other);
		}
		go_to(&first[which], 200 + which);
		for (uint32_t k = 0; k < between; k++)
			go_to(&same[k], 300 + k);
		now = go_to(&last[which], 400 + which);
		cost += i >= 3000 ? now : 0;
	}
	end();
	return cost;
}

static void memories(void)
{
	/* Half of a thousand if they were not; others may take an entry at times. */
	ok(cost_of_memory(16, 2) < UINT64_C(80) * small.ooo.mispredict,
		"what hangs on a branch of late, among others");
	is_u64(cost_of_memory(0, 8), 0, "on one of some time ago");
	is_u64(cost_of_memory(0, 30), 0, "and on one of long ago");
}

/* One of two batches, as chance will have it, and then mostly its own next one, but one
 * time of eight another. */
static void beside_each_other(void)
{
	static struct batch first[2], next[2][2];
	uint64_t cost = 0;

	random_again();
	begin(&small);
	for (uint32_t i = 0; i < 16000; i++) {
		uint32_t which = (uint32_t)random_below(2), rare = !random_below(8);

		go_to(&first[which], 100 + which);
		cost += go_to(&next[which][rare], 200 + 2 * which + rare);
	}
	end();
	ok(cost < UINT64_C(16000) * small.ooo.mispredict / 6,
		"what came before is not taken for another branch's");
}

/* A loop of so many rounds comes to its end thirty times: what the last time costs. */
static uint64_t cost_of_end(uint32_t rounds)
{
	static struct batch loop, after;
	uint64_t cost = 0;

	begin(&small);
	for (uint32_t i = 0; i < 30; i++) {
		for (uint32_t round = 0; round < rounds; round++)
			go_to(&loop, 7);
		cost = go_to(&after, 8);
	}
	end();
	return cost;
}

static void long_loops(void)
{
	is_u64(cost_of_end(190), 0, "the end of many rounds is known");
	is_u64(cost_of_end(200), small.ooo.mispredict, "that of more is not");
}

/* One of two batches, the second three times of ten, as chance will have it: a guess of
 * two bits is wrong .36 of the time, and one that could never change .3. */
static void seldom(void)
{
	static struct batch first, next[2];
	uint64_t cost = 0, each = UINT64_C(20000) * small.ooo.mispredict;

	random_again();
	begin(&small);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t which = random_below(10) < 3;

		go_to(&first, 100);
		cost += go_to(&next[which], 200 + which);
	}
	end();
	ok(cost > each * 34 / 100 && cost < each * 42 / 100,
		"of what chance does three times of ten, .38 are unforeseen");
}

/* Rounds of so many batches of eight, each of them where chance has put it: what the last
 * round of many costs. */
static uint64_t cost_of_round(uint32_t jumps)
{
	static struct batch of[2][8];
	static uint8_t where[1200];
	uint64_t cost = 0;

	random_again();
	begin(&small);
	for (uint32_t i = 0; i < 1200; i++)
		where[i] = (uint8_t)random_below(8);
	for (uint32_t round = 0; round < 30; round++)
		for (uint32_t i = 0; i < 1200; i++) {
			struct batch *b = &of[jumps][where[i]];

			b->jumps = jumps & 1;
			cost = i ? cost : 0;
			cost += go_to(b, 500 + where[i]);
		}
	end();
	return cost;
}

static void jumps(void)
{
	uint64_t branches = cost_of_round(0), all = UINT64_C(1200) * small.ooo.mispredict;

	ok(branches < all / 8, "many branches that come again are known");
	ok(cost_of_round(1) > 2 * branches, "of jumps to anywhere, fewer are");
}

int main(void)
{
	plan_lazy();
	branches();
	usual_branches();
	keys();
	loops();
	long_loops();
	beside_each_other();
	seldom();
	memories();
	jumps();
	return 0;
}
