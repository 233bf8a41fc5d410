/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Limits in a cycle of cores that execute out of order, by hand: ports of
 * loads, which those of lines on their way take twice, and one branch that is taken; and
 * entries of the scheduler.
 */
#include <string.h>

#include "lines/held.h"
#include "model/ahead.h"
#include "model/flow.h"
#include "tests/sim/one_core.h"
#include "tests/sim/small.h"
#include "tests/tap/tap.h"

/* Two instructions a cycle, and a load. */
static const struct machine small = {SMALL_CACHES, .cores = 1,
	.time = {.l2 = 10, .llc = 60, .memory = 100, .stlb = 5, .walk = 40},
	.ooo = {.l1 = 4, .window = 32, .mispredict = 15, .width = 200, .loads = 100}};

/* The most that may be late: a window's cycles, but one. */
#define SLACK 15

static uint64_t line, collected; /* since the beginning */

static void begin(const struct machine *m)
{
	begin_core(m);
	collected = 0;
}

static void collect(enum cp_sim_counter kind)
{
	ahead_collect(core);
	collected += core->count[kind];
	memset(core->count, 0, sizeof(core->count));
}

static uint64_t end(enum cp_sim_counter kind)
{
	collect(kind);
	end_core();
	return collected;
}

/* ---- loads ---- */

struct load {
	struct flow flow;
	struct flow_value address;
};

/* So many loads of a line, of which so many fit there, and so many in each round. */
static struct load load_of(int fit, int again)
{
	return (struct load){.flow = {.nloads = 1},
		.address = {.fit = (uint8_t)fit, .again = (uint8_t)again}};
}

/* A round of so many instructions and loads, the first of which misses a line. */
static void load(const struct batch *b, int instructions, int loads, int misses)
{
	ahead_begin(core, b, ++line);
	core->count[CP_SIM_l1d_loads] += (uint64_t)loads;
	for (; misses; misses--) {
		core->count[CP_SIM_l1d_load_lines]++;
		ahead_observe(core, &(struct batch_origin){.address = 64 * line,
					    .number = core->count[CP_SIM_instructions],
					    .load = b->flow ? 0 : -1});
	}
	core->count[CP_SIM_instructions] += (uint64_t)instructions;
}

/* Rounds; each n-th of them misses so many lines.  The core looks at the batch later,
 * too: when the next one begins. */
static void rounds_of(
	const struct load *l, int all, int n, int instructions, int loads, int misses)
{
	static struct batch b;

	b = (struct batch){
		.clock = (uint64_t)instructions << 32, .flow = l ? &l->flow : NULL};
	for (int i = 0; i < all; i++)
		load(&b, instructions, loads, i % n ? 0 : misses);
	ahead_follow(core);
}

/* The cycles that a hundred of them wait. */
static uint64_t rounds(
	const struct load *l, int n, int instructions, int loads, int misses)
{
	rounds_of(l, 100, n, instructions, loads, misses);
	return end(CP_SIM_time_bandwidth);
}

/* The least that a line takes, in ticks: 2.4 loads. */
#define A_LINE 57

static void loads(void)
{
	struct load l = load_of(8, 0);
	struct machine m = small;

	begin(&small);
	is_u64(rounds(NULL, 1, 8, 1, 1), 0,
		"four cycles are enough for a load and its line");
	/* The ports have that to do in the 99 cycles until the last one. */
	begin(&small);
	is_u64(rounds(NULL, 1, 2, 1, 1), 100 + 100 * A_LINE / AHEAD_TICKS - 99 - SLACK,
		"one cycle is not");
	begin(&small);
	is_u64(rounds(NULL, 1, 2, 1, 3), 100 + 300 * A_LINE / AHEAD_TICKS - 99 - SLACK,
		"nor for three lines");
	begin(&small);
	is_u64(rounds(&l, 4, 2, 1, 1), 97 + 24 * 4 + A_LINE / AHEAD_TICKS - 96 - SLACK,
		"all four of a line take theirs again");
	l = load_of(2, 0);
	begin(&small);
	is_u64(rounds(&l, 4, 2, 1, 1), 97 + 25 * A_LINE / AHEAD_TICKS - 96 - SLACK,
		"two of four fit a line");
	l = load_of(8, 1);
	begin(&small);
	is_u64(rounds(&l, 2, 4, 2, 1), 4 * 99 - 2 * 98 - SLACK, "two by one pointer");
	l = load_of(8, 5);
	begin(&small);
	is_u64(rounds(&l, 1, 12, 6, 1), 12 * 100 - 6 * 99 - SLACK,
		"six that are issued before it comes");
	begin(&small);
	rounds_of(NULL, 50, 1, 2, 1, 1);
	collect(CP_SIM_time_bandwidth);
	is_u64(rounds(NULL, 1, 2, 1, 1), 150 + 150 * A_LINE / AHEAD_TICKS - 149 - SLACK,
		"counts were collected");
	m.ooo.loads = 0;
	begin(&m);
	is_u64(rounds(NULL, 1, 2, 1, 1), 0, "a core of any number of ports");
}

/* ---- the divider ---- */

/* A hundred batches of an instruction, which takes half a cycle: each so many times there
 * is one that has the divider for so many cycles, or is a chain. */
static uint64_t divisions(unsigned each, uint16_t cycles, uint8_t chain)
{
	static struct batch sum = {.clock = 1ull << 32},
			    quotient = {.clock = 1ull << 32, .chain_reach = 32};

	quotient.divides = cycles;
	quotient.chain_cycles = chain;
	begin(&small);
	for (unsigned i = 0; i < 100; i++) {
		ahead_begin(core, i % each ? &sum : &quotient, 1);
		core->count[CP_SIM_instructions]++;
		if (i % 7 == 0)
			ahead_follow(core);
	}
	return end(CP_SIM_cycles);
}

static void divider(void)
{
	is_u64(divisions(1, 6, 0), 100 * 6 - SLACK, "nothing but divisions");
	is_u64(divisions(4, 6, 0), 25 * 6 - SLACK + 2, "each fourth");
	is_u64(divisions(20, 6, 0), 50, "each twentieth");
	is_u64(divisions(4, 6, 13), divisions(4, 0, 13), "a chain that takes longer");
}

/* ---- the scheduler ---- */

/* A superblock of two instructions: one loads, and brings register 1 to where that is
 * put, and so many others wait for the load, or for what was put there. */
struct waiting {
	struct flow flow;
	struct flow_value address;
	union flow_word way[2];
	struct flow_waits waits;
	struct flow_wait wait;
	struct batch batch;
};

static void wait_for(struct waiting *w, int is_of_load, uint32_t others, uint32_t longer)
{
	uint64_t loads = (uint64_t)is_of_load, registers = is_of_load ? 0 : 2;

	*w = (struct waiting){.flow = {.begins = 1,
				      .nloads = 1,
				      .nways = 1,
				      .loads = 1,
				      .writes = 2,
				      .waits = &w->waits},
		.way = {{{FLOW_REGISTERS, 1}}, {{1, 0}}},
		.waits = {.registers = registers, .loads = loads, .n = 1},
		.wait = {registers, loads, others, longer}};
	w->batch = (struct batch){.clock = 2ull << 32, .flow = &w->flow};
}

/* The first load's line is there at 60, which its instructions wait for from 1 on, and
 * the second one's from 2 on. */
static uint64_t waits(struct waiting *first, struct waiting *second)
{
	struct machine m = small;

	m.time.l2 = 60;
	begin(&m);
	load(&first->batch, 2, 1, 1);
	load(&second->batch, 2, 1, 1);
	rounds_of(NULL, 1, 1, 2, 0, 0);
	return end(CP_SIM_time_l2);
}

static void scheduler(void)
{
	struct waiting first, second;

	wait_for(&first, 1, 48, 0);
	wait_for(&second, 1, 49, 0);
	is_u64(waits(&first, &second), 0, "as many wait as there are entries");
	wait_for(&second, 1, 50, 0);
	is_u64(waits(&first, &second), 60 - 2, "one more waits until others do not");
	wait_for(&first, 1, 48, 3);
	is_u64(waits(&first, &second), 61 - 2,
		"these are ready later than the later line, by two cycles of no line");
	wait_for(&second, 0, 50, 0);
	is_u64(waits(&first, &second), 60 - 2, "what is in a register since");
	wait_for(&first, 1, 200, 0);
	is_u64(waits(&first, &second), 60 - 2, "no more wait than there are entries");
	second.wait.registers = 4;
	second.waits.registers = 4;
	is_u64(waits(&first, &second), 0, "another register is ready");
}

/* Five entries, of which the first to be free are those that were not taken first. */
static void entries(void)
{
	struct held h = {0, 0, 0, {{0, 0}}};

	is_u64(held_take(&h, 5, 1, 2, 100), 1, "entries that are free");
	is_u64(held_take(&h, 5, 1, 2, 20), 1, "others");
	is_u64(held_take(&h, 5, 1, 2, 30), 20, "one is not");
	is_u64(held_take(&h, 5, 21, 2, 30), 30, "nor later");
	is_u64(held_take(&h, 5, 31, 5, 110), 100, "as many as there are");
	is_u64(held_take(&h, 5, 110, 5, 120), 110, "they are free by then");
}

/* ---- branches ---- */

/* A hundred batches of an instruction, which takes half a cycle, and of so many bytes:
 * each begins so far behind the one before. */
static uint64_t batches(
	int32_t bytes, uint64_t apart, uint16_t if_taken, uint16_t if_left)
{
	static struct batch b[100];

	memset(b, 0, sizeof(b));
	begin(&small);
	for (uint64_t i = 0; i < 100; i++) {
		b[i] = (struct batch){.clock = 1ull << 32,
			.from = (int32_t)(i * apart % 64),
			.behind = (int32_t)(i * apart % 64) + bytes,
			.if_taken = if_taken,
			.if_left = if_left};
		ahead_begin(core, &b[i], i * apart / 64);
		core->count[CP_SIM_instructions]++;
		if (i % 2)
			ahead_follow(core);
	}
	return end(CP_SIM_cycles);
}

static void branches(void)
{
	is_u64(batches(8, 8, AHEAD_TICKS / 2, 0), 50, "one behind the other");
	is_u64(batches(8, 24, AHEAD_TICKS / 2, 0), 99, "a branch a cycle");
	is_u64(batches(8, 24, 0, 0), 50, "batches that take a cycle anyway");
	is_u64(batches(8, 8, 0, 30 * AHEAD_TICKS), 50 + 99 * 30, "rounds that end");
	is_u64(batches(8, 24, 0, 30 * AHEAD_TICKS), 50, "and that go on");
}

int main(void)
{
	plan_lazy();
	loads();
	divider();
	scheduler();
	entries();
	branches();
	return 0;
}
