/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Values that go through memory from one superblock to another on cores that execute out
 * of order, by hand: rounds of a loop that load a word, add to it and store it.
 */
#include <inttypes.h>
#include <string.h>

#include "lines/words.h"
#include "model/ahead.h"
#include "model/flow.h"
#include "tests/sim/one_core.h"
#include "tests/sim/small.h"
#include "tests/tap/tap.h"

static const struct machine small = {SMALL_CACHES, .cores = 1,
	.time = {.l2 = 10, .llc = 30, .memory = 100, .stlb = 5, .walk = 40},
	.ooo = SMALL_OOO};

/* ---- rounds ---- */

#define A_ROUND 2 /* instructions, and cycles if nothing is late */
#define ADDING 1
#define BY_MEMORY (4 + CARRIED_CYCLES + ADDING)

static struct rmw {
	struct flow flow;
	struct flow_value address, data;
	struct flow_source source[1];
	struct flow_touch touch[2];
} rmw;
static struct batch batch;

static void begin(int by_memory)
{
	begin_core(&small);
	rmw = (struct rmw){.flow = {.begins = 1,
				   .nloads = 1,
				   .nsources = 1,
				   .nstored = 1,
				   .ntouches = 2},
		.data = {.loads = 1, .count = 1},
		.source = {{FLOW_REGISTERS, ADDING}},
		.touch = {{.load = 0, .at = 8, .by_memory = (uint8_t)by_memory},
			{.load = FLOW_LOADS,
				.at = 8,
				.value = 1,
				.by_memory = (uint8_t)by_memory,
				.reach = (uint16_t)small.ooo.window,
				.add = 4 + ADDING}}};
	batch = (struct batch){
		.clock = (uint64_t)A_ROUND << 32, .touches = 1, .flow = &rmw.flow};
}

static void one_round(uint64_t address)
{
	const uint64_t at[BATCH_PLACES] = {address};

	ahead_begin(core, &batch, 1, at);
	core->count[CP_SIM_instructions] += A_ROUND;
}

/* The core's cycles since it was last asked. */
static uint64_t cycles(void)
{
	uint64_t taken;

	ahead_collect(core);
	taken = core->count[CP_SIM_cycles];
	memset(core->count, 0, sizeof(core->count));
	return taken;
}

/* Of so many words in turn. */
static uint64_t rounds(int n, int words)
{
	for (int i = 0; i < n; i++)
		one_round(0x1000 + 8 * (uint64_t)(i % words));
	return cycles();
}

static uint64_t hundred_of(int words, int by_memory)
{
	uint64_t taken;

	begin(by_memory);
	rounds(100 * words, words);
	taken = rounds(100 * words, words) / (uint64_t)words;
	end_core();
	return taken;
}

static void words(void)
{
	is_u64(hundred_of(1, 1), 100 * BY_MEMORY, "each round waits for the one before");
	is_u64(hundred_of(2, 1), 100 * BY_MEMORY / 2, "two words, for the second last");
	is_u64(hundred_of(3, 1), 100 * A_ROUND, "three words are ready when they come");
	is_u64(hundred_of(1, 0), 100 * A_ROUND,
		"by a register and a constant the core has it at once");
}

/* ---- who is looked at ---- */

static void others_then_one(int others)
{
	begin(1);
	rounds(others, 100);
	is_u64(rounds(100, 1), 100 * A_ROUND, "places that nobody notes meet nothing");
	rounds((NOTE_EACH + NOTE_FOR / 2) / A_ROUND - others, 1);
	is_u64(rounds(100, 1), 100 * BY_MEMORY, "until all are noted once more");
	rounds(2 * NOTE_FOR, 1);
	is_u64(rounds(100, 1), 100 * BY_MEMORY, "then, for as long as they do");
	rounds(2 * NOTE_FOR, 100);
	is_u64(rounds(100, 1), 100 * A_ROUND, "and not much longer");
	end_core();
}

/* Rounds as batch functions make them, so that phases begin and end. */
static uint64_t sampled_rounds(int n, int words)
{
	uint64_t taken;

	for (int i = 0; i < n; i++) {
		const uint64_t at[BATCH_PLACES] = {0x1000 + 8 * (uint64_t)(i % words)};

		if (batch_note_step(core, core->clock, &batch, 1, at, 1))
			ahead_step(core);
		core->clock += batch.clock;
	}
	core_collect(core);
	taken = core->count[CP_SIM_cycles];
	memset(core->count, 0, sizeof(core->count));
	return taken;
}

/* All places are noted where a unit warms up, too, so it meets what goes through them. */
static void sample(void)
{
	const struct time_sample before = batch_told.sample;
	const uint64_t all = NOTE_EACH / 2 / A_ROUND * BY_MEMORY;
	uint64_t taken;

	batch_told.sample = (struct time_sample){.full = 2 * NOTE_FOR,
		.period = 8 * NOTE_FOR,
		.branches = NOTE_FOR,
		.warm = NOTE_FOR,
		.unit = NOTE_FOR};
	begin(1);
	is_u64(sampled_rounds(NOTE_FOR, 100), NOTE_FOR * A_ROUND,
		"in full: no value is late");
	taken = sampled_rounds(NOTE_EACH / 2 / A_ROUND, 1);
	end_core();
	batch_told.sample = before;
	ok(taken >= all * 7 / 8 && taken <= all * 9 / 8,
		"units note places where they begin: %" PRIu64 " of %" PRIu64 " cycles",
		taken, all);
}

/* ---- what is late already ---- */

static void miss(void)
{
	core->count[CP_SIM_l1d_load_lines]++;
	core->count[CP_SIM_l2_load_lines]++;
	core->count[CP_SIM_llc_load_lines]++;
	ahead_observe(core, &(struct batch_origin){.address = 0x1008,
				    .number = core->count[CP_SIM_instructions] - A_ROUND,
				    .load = 0});
}

/* Memory's part of what rounds take of which the first misses, and others are of the
 * same word, or of others. */
static uint64_t behind_miss(uint64_t step)
{
	uint64_t waited;

	begin(1);
	one_round(0x1000);
	miss();
	for (uint64_t i = 1; i < 100; i++)
		one_round(0x1000 + (i == 1 ? step : 64 * i));
	ahead_collect(core);
	waited = core->count[CP_SIM_time_memory];
	end_core();
	return waited;
}

static void missed(void)
{
	uint64_t alone = behind_miss(64);

	ok(alone > 0, "a line is waited for");
	is_u64(behind_miss(0), alone + BY_MEMORY - A_ROUND,
		"what was made of it goes by memory, and is its wait");
}

int main(void)
{
	plan_lazy();
	words();
	others_then_one(NOTE_FOR);
	sample();
	missed();
	return 0;
}
