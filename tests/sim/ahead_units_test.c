/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Samples of time: programs whose time is known, modelled in full and in units.
 */
#include <math.h>
#include <string.h>

#include "model/ahead.h"
#include "tests/sim/small.h"
#include "tests/tap/tap.h"

static const struct machine small = {SMALL_CACHES, .cores = 1,
	.time = {.l2 = 40, .llc = 60, .memory = 100, .stlb = 5, .walk = 40},
	.ooo = SMALL_OOO};

static const struct time_sample in_full,
	some = {.full = 20000, .period = 4800, .warm = 200, .unit = 400};

static struct uncore uncore;
static struct core *core;
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

static void load_from_memory(uint32_t batch)
{
	core->count[CP_SIM_l1d_load_lines]++;
	core->count[CP_SIM_l2_load_lines]++;
	core->count[CP_SIM_llc_load_lines]++;
	ahead_observe(core,
		&(struct batch_origin){.address = 64 * (uint64_t)batch,
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

/* Somebody collects after so many batches. */
static void run(
	const struct time_sample *plan, misses *misses, uint32_t batches, uint32_t each)
{
	batch_told.sample = *plan;
	memset(&uncore, 0, sizeof(uncore));
	memset(all, 0, sizeof(all));
	uncore_init(&uncore, &small);
	core = core_new(&small, &uncore);
	core_attach(core);
	running = core;
	for (uint32_t i = 0; i < batches; i++) {
		batch_function_for(6, 0, 1)(&plain, 3, 0, 0, 0, 0);
		if (misses(i))
			load_from_memory(i);
		if (i % each == each - 1)
			collect();
	}
	collect();
	core_free(core);
	uncore_free(&uncore);
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
	uint64_t true_delays, true_issue, misses_were, first;
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
	/* The same units whoever collects. */
	run(&some, misses, MANY, 3);
	is_u64(all[CP_SIM_timed_instructions], first, "the same units");
	ok(fabs(sqrt(256.0 * (double)all[CP_SIM_time_variance]) - error) <= 1,
		"and variance, by regions");
}

/* What has no misses is the work of its instructions. */
static void nothing(void)
{
	run(&some, none, MANY, 997);
	is_u64(all[CP_SIM_cycles], (uint64_t)MANY * BATCH, "no misses: a cycle each");
	is_u64(all[CP_SIM_time_variance], 0, "and nothing varies");
}

/* What is waited for chains is that of units, too, beside what instructions take. */
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

int main(void)
{
	plan_lazy();
	batch_told.follow = ahead_step;
	full();
	check_sample("even misses", each_tenth);
	check_sample("misses in phases", in_phases);
	nothing();
	chains();
	return 0;
}
