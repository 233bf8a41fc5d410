/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Samples of time: programs whose time is known, modelled in full and in units.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/ahead.h"
#include "tests/sim/one_core.h"
#include "tests/sim/small.h"
#include "tests/tap/tap.h"
#include "units/learnt.h"

static struct machine small = {SMALL_CACHES, .cores = 1,
	.time = {.l2 = 40, .llc = 60, .memory = 100, .stlb = 5, .walk = 40},
	.ooo = SMALL_OOO};

static const struct time_sample in_full,
	some = {.full = 20000,
		.period = 4800,
		.branches = 9600,
		.warm = 200,
		.unit = 400},
	in_windows = {
		.full = 20000, .period = 4800, .branches = 800, .warm = 200, .unit = 400};

static uint64_t all[CP_SIM_NCOUNTERS];

/* ---- a program of batches ---- */

#define BATCH 10 /* instructions */

/* After which batches a load comes from memory. */
typedef int misses(uint32_t batch);

static int each_tenth(uint32_t batch)
{
	return batch % 10 == 0;
}

/* Now many and now few: by the thousand, as it were at random. */
static int in_phases(uint32_t batch)
{
	uint32_t phase = batch / 1000 * 2654435761u >> 28;

	return batch % (phase + 5) == 0;
}

static int none(uint32_t batch)
{
	(void)batch;
	return 0;
}

/* In the part in full, and then so seldom that hardly a unit has any. */
static int in_bursts(uint32_t batch)
{
	return batch < 1000 ? batch % 10 == 0 : batch % 100000 > 99800 && batch % 5 == 0;
}

static uint32_t loads_code;

static void load_from_memory(uint32_t batch)
{
	core->count[loads_code ? CP_SIM_l1i_misses : CP_SIM_l1d_load_lines]++;
	core->count[loads_code ? CP_SIM_l2_ifetch_misses : CP_SIM_l2_load_lines]++;
	core->count[loads_code ? CP_SIM_llc_ifetch_misses : CP_SIM_llc_load_lines]++;
	ahead_observe(core,
		&(struct batch_origin){.address = 64 * (uint64_t)batch,
			.number = core->count[CP_SIM_instructions] + (core->clock >> 32),
			.load = -1});
}

/* A load at that line's address, of which the last level has the line, or a walk finds
 * the page table's. */
static void load_line(uint64_t line, uint32_t walks)
{
	core->count[CP_SIM_l1d_load_lines]++;
	core->count[CP_SIM_l2_load_lines] += !walks;
	core->count[CP_SIM_dtlb_load_pages] += walks;
	core->count[CP_SIM_dtlb_load_walks] += walks;
	core->l2_missed = line;
	ahead_observe(core,
		&(struct batch_origin){.address = 64 * line,
			.number = core->count[CP_SIM_instructions] + (core->clock >> 32),
			.load = -1});
}

static void collect(void)
{
	core_collect(core);
	for (int c = 0; c < CP_SIM_NCOUNTERS; c++)
		all[c] += core->count[c];
	memset(core->count, 0, sizeof(core->count));
}

/* Each makes a chain so many cycles longer. */
static struct batch plain = {.clock = (uint64_t)BATCH << 32, .chain_reach = 32};

/* So many batches end in a branch that goes to one of two as it were at random. */
static uint32_t random_lines;

static uint64_t next_line(uint32_t batch)
{
	uint32_t draw = (batch ^ batch >> 16) * 0x45d9f3bu;

	draw = (draw ^ draw >> 16) * 0x45d9f3bu;
	return batch < random_lines ? 3 + (draw >> 16 & 1) : 3;
}

/* Somebody collects after so many batches.  No batches: the core stays for others. */
static void run(
	const struct time_sample *plan, misses *misses, uint32_t batches, uint32_t each)
{
	batch_told.sample = *plan;
	memset(all, 0, sizeof(all));
	begin_core(&small);
	for (uint32_t i = 0; i < batches; i++) {
		batch_function_for(6, 0, 1)(&plain, next_line(i), 0, 0, 0, 0);
		if (misses(i))
			load_from_memory(i);
		if (i % each == each - 1)
			collect();
	}
	collect();
	if (batches)
		end_core();
}

static uint64_t delays(void)
{
	return all[CP_SIM_cycles] - all[CP_SIM_time_issue];
}

static uint64_t sum_of_stack(void)
{
	uint64_t sum = 0;

	for (int i = CP_SIM_STACK; i < CP_SIM_STACK_END; i++)
		sum += all[i];
	return sum;
}

/* ---- tests ---- */

#define MANY 1000000u

static void full(void)
{
	uint64_t cycles;

	run(&in_full, each_tenth, 2000, 700);
	cycles = all[CP_SIM_cycles];
	is_u64(all[CP_SIM_timed_instructions], 20000, "in full: all are modelled");
	is_u64(all[CP_SIM_untimed_instructions], 0, "none is not");
	is_u64(all[CP_SIM_time_variance], 0, "and it is known");
	is_u64(sum_of_stack(), cycles, "each cycle is of one kind");
	run(&some, each_tenth, 2000, 700);
	is_u64(all[CP_SIM_cycles], cycles, "the beginning is in full");
	is_u64(all[CP_SIM_timed_instructions], 20000, "all of it");
	is_u64(all[CP_SIM_time_variance], 0, "and known");
}

static void check_sample(const char *name, misses *misses)
{
	uint64_t true_delays, true_issue, misses_were, first, cycles, variance;
	double error;

	run(&in_full, misses, MANY, 997);
	true_delays = delays();
	true_issue = all[CP_SIM_time_issue];
	misses_were = all[CP_SIM_l1d_load_lines];
	run(&some, misses, MANY, 997);
	error = sqrt(256.0 * (double)all[CP_SIM_time_variance]);
	first = all[CP_SIM_timed_instructions];
	is_u64(all[CP_SIM_timed_instructions] + all[CP_SIM_untimed_instructions],
		(uint64_t)MANY * BATCH, "%s: all instructions are one of both", name);
	is_u64(all[CP_SIM_timed_instructions] * 12 / (MANY * BATCH), 1,
		"a twelfth is modelled");
	is_u64(all[CP_SIM_time_issue], true_issue, "issue is known");
	is_u64(all[CP_SIM_l1d_load_lines], misses_were, "misses are counted in full");
	is_u64(sum_of_stack(), all[CP_SIM_cycles], "each cycle is of one kind");
	ok(fabs((double)delays() - (double)true_delays) <= 2 * error,
		"delays are those of all: %.0f of %.0f, %.0f", (double)delays(),
		(double)true_delays, error);
	ok(error <= 0.03 * (double)true_delays, "and known to 3 %%");
	is_u64(all[CP_SIM_miss_time_variance], all[CP_SIM_time_variance],
		"all of it is of misses");
	cycles = all[CP_SIM_cycles];
	variance = all[CP_SIM_time_variance];
	/* The same whoever collects. */
	for (uint32_t each = 3; each <= MANY; each = each * 7 + 1) {
		run(&some, misses, MANY, each);
		is_u64(all[CP_SIM_timed_instructions], first, "the same units");
		is_u64(all[CP_SIM_cycles], cycles, "the same cycles");
		is_u64(all[CP_SIM_time_variance], variance, "and variance");
	}
}

/* Code without misses takes the work of its instructions. */
static void nothing(void)
{
	run(&some, none, MANY, 997);
	is_u64(all[CP_SIM_cycles], (uint64_t)MANY * BATCH, "no misses: a cycle each");
	is_u64(all[CP_SIM_time_variance], 0, "and nothing varies");
}

/* Waits for chains are those of units, too, beside what instructions take. */
static void chains(void)
{
	uint64_t true_cycles;
	double off;

	plain.chain_cycles = 2 * BATCH;
	run(&in_full, none, MANY, 997);
	true_cycles = all[CP_SIM_cycles];
	is_u64((true_cycles + 100) / (MANY * BATCH), 2, "chains take twice as long");
	run(&some, none, MANY, 997);
	off = (double)all[CP_SIM_cycles] / (double)true_cycles - 1;
	ok(fabs(off) <= 0.001, "and so they do in a sample: %.5f", off);
	is_u64(all[CP_SIM_time_issue], all[CP_SIM_cycles], "which is issue");
	plain.chain_cycles = 0;
}

/* Causes that units hardly see are expected by how often they were counted. */
static void seldom(void)
{
	uint64_t true_delays;
	double error;

	run(&in_full, in_bursts, MANY, 997);
	true_delays = delays();
	run(&some, in_bursts, MANY, 997);
	error = sqrt(256.0 * (double)all[CP_SIM_time_variance]);
	ok(fabs((double)delays() - (double)true_delays) <= 0.25 * (double)true_delays,
		"bursts of misses: %.0f of %.0f", (double)delays(), (double)true_delays);
	ok(fabs((double)delays() - (double)true_delays) <= 2 * error,
		"and the interval has them: %.0f", error);
}

/* Code is asked for ahead where no branch was foreseen wrongly: all of L2's cycles. */
static void code(void)
{
	uint64_t waited;
	double error;

	loads_code = 1;
	run(&in_full, in_bursts, MANY, 997);
	waited = delays();
	ok(waited > 20000, "code takes time");
	run(&some, in_bursts, MANY, 997);
	error = sqrt(256.0 * (double)all[CP_SIM_miss_time_variance]);
	ok(fabs((double)delays() - (double)waited) <= 0.01 * (double)waited,
		"and so it does in a sample: %.0f of %.0f", (double)delays(),
		(double)waited);
	ok(error > 0 && error < 0.25 * (double)waited, "as far as units tell: %.0f",
		error);
	is_u64(sum_of_stack(), all[CP_SIM_cycles], "each cycle is of one kind");
	loads_code = 0;
}

/* Where they are learnt all the time it is known how often they are not foreseen. */
static void branches(void)
{
	uint64_t true_cycles;

	plain.branches = 1;
	random_lines = MANY;
	run(&in_full, none, MANY, 997);
	true_cycles = all[CP_SIM_time_branch];
	ok(true_cycles > (uint64_t)MANY / 2, "branches take time");
	run(&some, none, MANY, 997);
	ok(llabs((long long)(all[CP_SIM_time_branch] - true_cycles)) <= 1,
		"as long in a sample: %.0f of %.0f", (double)all[CP_SIM_time_branch],
		(double)true_cycles);
	is_u64(all[CP_SIM_miss_time_variance], 0, "which nothing of misses is");
	plain.branches = random_lines = 0;
}

/* Else windows stand for what is between them. */
static void windows(void)
{
	double true_cycles, error;

	plain.branches = 1;
	random_lines = MANY;
	run(&in_full, none, MANY, 997);
	true_cycles = (double)all[CP_SIM_time_branch];
	run(&in_windows, none, MANY, MANY);
	error = sqrt(256.0 * (double)all[CP_SIM_time_variance]);
	ok(error > 0 && error < 0.01 * true_cycles, "windows of branches: %.0f", error);
	ok(fabs((double)all[CP_SIM_time_branch] - true_cycles) <= 2 * error,
		"are like all: %.0f of %.0f", (double)all[CP_SIM_time_branch],
		true_cycles);
	run(&in_windows, none, MANY, 3);
	ok(fabs((double)all[CP_SIM_time_branch] - true_cycles) <= 2 * error,
		"whoever collects: %.0f", (double)all[CP_SIM_time_branch]);
	random_lines = 2000;
	run(&in_full, none, MANY, 997);
	true_cycles = (double)all[CP_SIM_time_branch];
	run(&in_windows, none, MANY, 997);
	ok(fabs((double)all[CP_SIM_time_branch] - true_cycles) <= 0.05 * true_cycles,
		"what was expected and does not come is taken back: %.0f of %.0f",
		(double)all[CP_SIM_time_branch], true_cycles);
	plain.branches = random_lines = 0;
}

/* Where batches are noted it is known which branches are taken; elsewhere as many are
 * expected. */
static void taken(void)
{
	uint64_t true_cycles;

	plain.if_taken = AHEAD_TICKS; /* and it begins where it does not end */
	plain.behind = -64;
	run(&in_full, none, MANY, 997);
	true_cycles = all[CP_SIM_time_issue];
	is_u64((true_cycles + 20) / MANY, BATCH + 1, "each batch is a cycle longer");
	run(&some, none, MANY, 997);
	ok(llabs((long long)(all[CP_SIM_time_issue] - true_cycles)) <=
			(long long)MANY / 1000,
		"so it is in a sample: %.0f of %.0f", (double)all[CP_SIM_time_issue],
		(double)true_cycles);
	plain.if_taken = 0;
	plain.behind = 0;
}

/* ---- between units ---- */

/* So many batches, some of which load. */
static void run_loads(
	const struct time_sample *plan, void (*loads)(uint32_t batch), uint32_t batches)
{
	batch_told.sample = *plan;
	memset(all, 0, sizeof(all));
	begin_core(&small);
	for (uint32_t i = 0; i < batches; i++) {
		batch_function_for(6, 0, 1)(&plain, 3, 0, 0, 0, 0);
		loads(i);
	}
	collect();
	end_core();
}

/* Fifty lines in turn, by a core that waits for memory in the second half. */
static void slow_half(uint32_t batch)
{
	if (batch >= MANY / 2 && batch % 8 == 0)
		load_from_memory(batch);
	if (batch >= MANY / 2 && batch % 40 == 4)
		load_line(1000 + batch / 40 % 50, 0);
}

/* How long ago lines were asked for is known by how slow the core was lately. */
static void stays(void)
{
	double true_cycles, off;

	small.ooo.stay = 40000;
	run_loads(&in_full, slow_half, MANY);
	true_cycles = (double)all[CP_SIM_time_llc];
	ok(true_cycles > 100000 && true_cycles < 300000,
		"half of the lines have left when they are asked for: %.0f", true_cycles);
	run_loads(&some, slow_half, MANY);
	off = (double)all[CP_SIM_time_llc] / true_cycles - 1;
	ok(fabs(off) <= 0.2, "as many have in a sample: %.3f", off);
	small.ooo.stay = 0;
}

/* Walks for four lines of page tables in turn, each of which L2 has by then. */
static void four_tables(uint32_t batch)
{
	if (batch % 10 == 0)
		load_line(4096 * (batch / 10 % 4), 1);
	load_from_memory(batch);
}

/* They do not age where nobody looks at walks. */
static void tables(void)
{
	double true_cycles, off;

	run_loads(&in_full, four_tables, MANY / 10);
	true_cycles = (double)all[CP_SIM_dtlb_walk_cycles];
	run_loads(&some, four_tables, MANY / 10);
	off = (double)all[CP_SIM_dtlb_walk_cycles] / true_cycles - 1;
	ok(fabs(off) <= 0.01, "walks are as long in a sample: %.3f", off);
}

/* Memory takes twice as long for a line as the core for what is between two stores. */
static void store_to_memory(uint32_t batch)
{
	core->count[CP_SIM_l1d_store_lines]++;
	core->count[CP_SIM_l2_store_lines]++;
	core->count[CP_SIM_llc_store_lines]++;
	ahead_observe(core,
		&(struct batch_origin){.address = 64 * (uint64_t)batch,
			.number = core->count[CP_SIM_instructions] + (core->clock >> 32),
			.load = -1});
}

/* It takes more stores to fill the buffers than a unit has. */
static void backlog(void)
{
	double true_cycles, off;

	small.time.write_buffers = 100;
	small.ooo.memory_line = 2 * BATCH * 100;
	run_loads(&in_full, store_to_memory, MANY / 10);
	true_cycles = (double)all[CP_SIM_cycles];
	is_u64((all[CP_SIM_cycles] + 2000) / (MANY / 10), 2 * BATCH,
		"the core goes as fast as memory");
	run_loads(&some, store_to_memory, MANY / 10);
	off = (double)all[CP_SIM_cycles] / true_cycles - 1;
	ok(fabs(off) <= 0.01, "buffers are as full as units before left them: %.3f", off);
	small.time.write_buffers = 0;
	small.ooo.memory_line = 0;
}

/* ---- regions ---- */

static struct learnt one, other;

/* So many batches more of that region: how many instructions are modelled of them. */
static uint64_t modelled(struct learnt *region, uint32_t batches, misses *misses)
{
	uint64_t before = all[CP_SIM_timed_instructions];

	ahead_region(core, region);
	for (uint32_t i = 0; i < batches; i++) {
		batch_function_for(6, 0, 1)(&plain, 3, 0, 0, 0, 0);
		if (misses(i))
			load_from_memory(i);
		if (i % 997 == 996)
			collect();
	}
	collect();
	return all[CP_SIM_timed_instructions] - before;
}

/* The first instructions of each region, and those close behind one that has such. */
static void regions(void)
{
	uint64_t variance;

	run(&some, none, 0, 1);
	learnt_begin(&one, some.full);
	learnt_begin(&other, some.full);
	is_u64(modelled(&one, 2000, each_tenth), 20000, "a region begins in full");
	is_u64(modelled(&one, 48000, each_tenth), 40000, "then a twelfth is modelled");
	is_u64(all[CP_SIM_time_variance] > 0, 1, "and is not known exactly");
	variance = all[CP_SIM_time_variance];
	is_u64(modelled(&other, 1000, each_tenth), 10000,
		"another region begins in full");
	variance = all[CP_SIM_time_variance] - variance;
	is_u64(variance, 100 * 100 / 256,
		"but what was late when it began is not known: a line from memory");
	is_u64(modelled(&one, 1000, each_tenth), 10000, "what is behind it lies in full");
	is_u64(modelled(&one, 6000, each_tenth) / 1000, 55, "for a while");
	is_u64(modelled(&other, 2000, each_tenth) / 1000, 10, "the other has the rest");
	is_u64(modelled(&one, 48000, each_tenth) / 1000, 40, "the sample goes on");
	end_core();
}

/* Ports have room for all loads, those that nobody followed before a region, too. */
static void ports(void)
{
	small.ooo.loads = 100;
	plain.loads = BATCH * 8 / 10;
	run(&some, none, 0, 1);
	learnt_begin(&one, some.full);
	learnt_begin(&other, some.full);
	modelled(&one, 50000, each_tenth);
	modelled(&other, 1000, each_tenth);
	is_u64(all[CP_SIM_time_bandwidth], 0,
		"loads before a region take none of its ports");
	end_core();
	small.ooo.loads = 0;
	plain.loads = 0;
}

/* A region is expected to take what its own instructions took. */
static void own_means(void)
{
	uint64_t before, error;

	run(&some, none, 0, 1);
	learnt_begin(&one, some.full);
	learnt_begin(&other, some.full);
	modelled(&one, 50000, each_tenth);
	plain.chain_cycles = 2 * BATCH;
	modelled(&other, 50000, none);
	plain.chain_cycles = 0;
	modelled(&one, 20000, none);
	before = all[CP_SIM_cycles];
	plain.chain_cycles = 2 * BATCH;
	modelled(&other, 50, none); /* hardly in a unit */
	plain.chain_cycles = 0;
	error = all[CP_SIM_cycles] - before;
	ok(error >= 950 && error <= 1050,
		"chains of one region are not the other's: %.0f", (double)error);
	end_core();
}

/* A cause that was never modelled may take as long as it can. */
static int once(uint32_t batch)
{
	return batch >= 50000 && batch < 50003;
}

static void never_seen(void)
{
	uint64_t true_delays;
	double error;

	run(&in_full, once, MANY, 997);
	true_delays = delays();
	run(&some, once, MANY, 997);
	error = sqrt(256.0 * (double)all[CP_SIM_time_variance]);
	ok(true_delays > 0 && 2 * error >= (double)true_delays,
		"what no unit has is not known: %.0f of %.0f, %.0f", (double)delays(),
		(double)true_delays, error);
}

/* The same until the next unit has some: from then on it is. */
static int in_second_half(uint32_t batch)
{
	return batch >= MANY / 2 && batch % 10 == 0;
}

static void seen_later(void)
{
	uint64_t true_delays;
	double error;

	run(&in_full, in_second_half, MANY, 997);
	true_delays = delays();
	run(&some, in_second_half, MANY, 997);
	error = sqrt(256.0 * (double)all[CP_SIM_time_variance]);
	ok(error < 6000, "what the next unit has is: %.0f of %.0f, %.0f",
		(double)delays(), (double)true_delays, error);
}

/* A stretch waited for what it did not ask for: others are not expected to do
 * more than they can. */
static void too_long(void)
{
	uint64_t true_delays;
	double error;

	run(&in_full, each_tenth, 49000, 997);
	true_delays = delays();
	run(&some, none, 0, 1);
	learnt_begin(&one, 0);
	learn_of_cause(&one.mean[PART(memory)], PART(memory), 1, 1000000);
	modelled(&one, 49000, each_tenth);
	error = sqrt(256.0 * (double)all[CP_SIM_time_variance]);
	ok(error < 2 * (double)true_delays,
		"a line is not expected to take a million cycles: %.0f of %.0f, %.0f",
		(double)delays(), (double)true_delays, error);
	end_core();
}

/* Ten causes that take a cycle and a half each, and of which three are covered. */
static void parts_of_cycles(void)
{
	struct mean whole = {.each = 3 << (MEAN_BITS - 1), .covered = 3}, parts = whole;
	uint64_t sum = 0;

	is_u64(uncovered(&whole, 10), 10, "seven causes: ten cycles and a half");
	for (int i = 0; i < 10; i++)
		sum += uncovered(&parts, 1);
	is_u64(sum, 10, "the same by one at a time");
}

int main(void)
{
	plan_lazy();
	batch_told.follow = ahead_step;
	full();
	check_sample("even misses", each_tenth);
	check_sample("misses in phases", in_phases);
	nothing();
	chains();
	seldom();
	code();
	branches();
	windows();
	taken();
	stays();
	tables();
	backlog();
	regions();
	ports();
	own_means();
	never_seen();
	seen_later();
	too_long();
	parts_of_cycles();
	return 0;
}
