/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines of cores that execute out of order, by hand: those that were fetched ahead, and
 * those that the last level has given to others.
 */
#include <string.h>

#include "model/ahead_parts.h"
#include "model/timing.h"
#include "tests/sim/one_core.h"
#include "tests/sim/small.h"
#include "tests/tap/tap.h"

static const struct machine small = {SMALL_CACHES, .cores = 1,
	.time = {.l2 = 40, .llc = 60, .memory = 100, .stlb = 5, .walk = 40},
	.ooo = SMALL_OOO};

/* Ends what has so many instructions: the cycles that were waited for, of a kind or all
 * of them. */
static uint64_t waited(uint64_t instructions, enum cp_sim_counter kind)
{
	uint64_t all;

	core->count[CP_SIM_instructions] = instructions;
	ahead_collect(core);
	all = kind == CP_SIM_cycles ? core->count[kind] - core->count[CP_SIM_time_issue]
				    : core->count[kind];
	end_core();
	return all;
}

/* A load of that line, behind so many instructions: 1, L2 has it, 2, the last level has,
 * 3, memory. */
static void load(uint64_t number, uint64_t line, int level)
{
	core->count[CP_SIM_instructions] = number;
	core->count[CP_SIM_l1d_load_lines]++;
	core->count[CP_SIM_l2_load_lines] += level > 1;
	core->count[CP_SIM_llc_load_lines] += level > 2;
	core->l2_missed = line;
	ahead_observe(core, &(struct batch_origin){
				    .address = line * 64, .number = number, .load = -1});
}

/* Lines one behind the other, from the last one of a page but so many, 200 instructions
 * apart. */
static uint64_t stream(const struct machine *m, int before, int step, int level)
{
	begin_core(m);
	for (int i = 0; i < 8; i++)
		load(200 * (uint64_t)i, (uint64_t)(6400 + (before + i) * step), level);
	return waited(2000, CP_SIM_cycles);
}

static void streams(void)
{
	struct machine m = small;

	/* Three of them are waited for 28 cycles each; what is behind them takes 20. */
	m.ooo.distance = 2;
	m.ooo.near = 20;
	is_u64(stream(&m, 0, 1, 2), 84, "a stream");
	is_u64(stream(&m, -4, 1, 2), 84, "into the next page");
	is_u64(stream(&m, -3, -1, 2), 84, "into the page before");
	is_u64(stream(&m, -2, 1, 2), 140, "two lines do not lead there");
	is_u64(stream(&m, 0, 65, 2), 224, "a line a page is none");
	is_u64(stream(&m, 0, 1, 1), 24, "of L2's lines");
	m.ooo.near = 38;
	is_u64(stream(&m, 0, 1, 2), 114, "what a line takes that was fetched ahead");
	m.ooo.near = 0;
	is_u64(stream(&m, 0, 1, 2), 124, "as one of L2 if that is not said");
}

/* Loads of 40 pages between two lines of a stream. */
static void beside_others(void)
{
	struct machine m = small;

	m.ooo.distance = 2;
	m.ooo.near = 20;
	begin_core(&m);
	for (uint64_t i = 0; i < 8; i++) {
		load(10000 * i, 6400 + i, 2);
		for (uint64_t k = 0; k < 40; k++)
			load(10000 * i + 100 + 200 * k,
				64000 + 64 * ((7 * i + k) * 37 % 97), 2);
	}
	is_u64(waited(80000, CP_SIM_cycles), 28 * (3 + 8 * 40),
		"loads from all over do not end it");
}

/* A line that the last level has waits 28 cycles, from memory 68. */
static void stays(void)
{
	struct machine m = small;

	m.ooo.stay = 1 << 20;
	begin_core(&m);
	load(0, 64, 3);
	load(200000, 64, 2);
	is_u64(waited(300000, CP_SIM_time_memory), 68, "asked for soon: it is there");
	begin_core(&m);
	load(0, 64, 3);
	load(5000000, 64, 2);
	is_u64(waited(6000000, CP_SIM_time_memory), 136, "asked for late: it has left");
	begin_core(&m);
	load(0, 64, 3);
	for (uint64_t i = 1; i < 50; i++)
		load(i * 200000, 64, 2);
	is_u64(waited(10000000, CP_SIM_time_memory), 68, "as long as it is asked for");
	begin_core(&m);
	load(0, 64, 3);
	for (uint64_t i = 1; i < 50; i++)
		load(i * 200000, 64, i < 49 ? 1 : 2);
	is_u64(waited(10000000, CP_SIM_time_memory), 136,
		"L2, which serves it meanwhile, asks for nothing");
	begin_core(&m);
	load(0, 64, 3);
	load(5000000, 128, 2);
	is_u64(waited(6000000, CP_SIM_time_memory), 68, "one that was never asked for");
	m.ooo.stay = 0;
	begin_core(&m);
	load(0, 64, 3);
	load(5000000, 64, 2);
	is_u64(waited(6000000, CP_SIM_time_memory), 68, "where nobody else is");
}

/* Another core of the same last level, which begins now. */
static struct core *new_core(const struct machine *m)
{
	struct core *other = core_new(m, &uncore);

	core_attach(other);
	return other;
}

static void load_on(struct core *one, uint64_t number, uint64_t line, int level)
{
	struct core *kept = core;

	core = one;
	load(number, line, level);
	core = kept;
}

/* Ends the other core, and then the first one: what each waited for memory. */
static void end_both(
	struct core *other, uint64_t of_other, uint64_t of_first, const char *description)
{
	other->count[CP_SIM_instructions] = 20000000;
	ahead_collect(other);
	is_u64(other->count[CP_SIM_time_memory], of_other, "%s: the other", description);
	core_free(other);
	is_u64(waited(20000000, CP_SIM_time_memory), of_first, "%s", description);
}

static void of_several_cores(void)
{
	struct machine m = small;
	struct core *other;

	m.cores = 2;
	m.ooo.stay = 1 << 20;
	begin_core(&m);
	other = new_core(&m);
	load(0, 64, 3);
	for (uint64_t i = 1; i < 50; i++)
		load_on(other, i * 200000, 64, 2);
	load(10000000, 64, 2);
	end_both(other, 0, 68, "as long as another core asks for it");
	begin_core(&m);
	other = new_core(&m);
	load(5000000, 64, 3);
	load_on(other, 0, 64, 2);
	end_both(other, 0, 68, "asked for later than now");
	begin_core(&m);
	load(5000000, 64, 3);
	other = new_core(&m);
	load_on(other, 0, 64, 2);
	load_on(other, 5000000, 64, 2);
	end_both(other, 68, 68, "a core begins later");
}

/* The second alone of two lines that a load crosses may have left. */
static void crossing(void)
{
	struct machine m = small;

	m.ooo.stay = 1 << 20;
	begin_core(&m);
	load(0, 65, 3);
	load(4800000, 64, 2);
	core->count[CP_SIM_instructions] = 5000000;
	core->count[CP_SIM_l1d_load_lines]++;
	core->count[CP_SIM_l2_load_lines]++;
	core->l2_missed = 65;
	ahead_observe(
		core, &(struct batch_origin){
			      .address = 64 * 64 + 60, .number = 5000000, .load = -1});
	is_u64(waited(6000000, CP_SIM_time_memory), 136, "the second of two lines");
}

/* The caches' counts are what they are. */
static void counts(void)
{
	struct machine m = small;

	m.ooo.stay = 1 << 20;
	begin_core(&m);
	load(0, 64, 3);
	load(5000000, 64, 2);
	is_u64(waited(6000000, CP_SIM_llc_load_lines), 1, "its misses are not counted");
}

/* Half of the lines at the stay's end have left, a quarter of them at half of it. */
static void chances(void)
{
	static const struct {
		uint32_t age, least, most;
	} of[] = {{250, 0, 0}, {500, 130, 200}, {1000, 450, 550}, {1500, 790, 870},
		{1750, 1000, 1000}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		uint32_t left = 0;

		for (uint64_t line = 0; line < 1000; line++)
			left += stays_is_over(line, 77, 77 + of[i].age,
					1000 << STAY_UNIT_LOG) != 0;
		ok(left >= of[i].least && left <= of[i].most,
			"after %u of 1,000: %u have left", of[i].age, left);
	}
}

/* The latest four lines of a set are kept. */
static void table(void)
{
	static struct stays s;
	uint64_t line = 1;

	stays_renew(&s, line, 10);
	is_u64(stays_renew(&s, line, 20), 10, "when it was asked for");
	is_u64(stays_renew(&s, line, 30), 20, "and then");
	for (uint64_t other = 2; other < (UINT64_C(64) << STAYS_LOG); other++)
		stays_renew(&s, other, 40);
	is_u64(stays_renew(&s, line, 50), 50, "what is not known is now");
}

/* ---- stores ---- */

/* So many, ten instructions apart, of lines so far apart, that miss L1D: the cycles
 * that they wait for the only entry of the buffer.  Each line takes 40. */
static uint64_t stores_of(const struct machine *m, uint64_t count, uint64_t apart)
{
	begin_core(m);
	for (uint64_t i = 0; i < count; i++) {
		core->count[CP_SIM_instructions] = 10 * i;
		core->count[CP_SIM_l1d_store_lines]++;
		ahead_observe(
			core, &(struct batch_origin){.address = (65 + i * apart) * 64,
				      .number = 10 * i,
				      .load = -1});
	}
	return waited(40000, CP_SIM_time_store);
}

static uint64_t stores(const struct machine *m, uint64_t apart)
{
	return stores_of(m, 5, apart);
}

/* The cycles of one more, behind so many that each takes as long. */
static uint64_t one_store(const struct machine *m, uint64_t apart)
{
	return (stores_of(m, 320, apart) - stores_of(m, 256, apart)) / 64;
}

static void turns_of_stores(void)
{
	struct machine m = small;

	m.time.write_buffers = 1;
	is_u64(stores(&m, 1), 4 * 40 - 40, "one behind the other");
	m.ooo.set_line = 480000;
	is_u64(stores(&m, 1), 4 * 40 - 40, "of different sets");
	is_u64(stores(&m, 4), 4 * 40 - 40 + 144,
		"of more lines of a set than it has ways, of which the third takes 200");
	is_u64(stores(&m, 0), 4 * 40 - 40, "of one line");
	m.ooo.set_line = 9600;
	is_u64(one_store(&m, 4), 96 - 10, "of one set, as long as it says");
	is_u64(one_store(&m, 1), 96 * 26 / 48 - 10,
		"of four, by the 26 lines of its own");
	m.ooo.set_line = 0;
	m.ooo.store_line = 10000;
	is_u64(stores(&m, 1), 3 * 100, "and of any set, the first one, too");
}

/* Four lines of L2 at once, so far apart: the cycles without room. */
static uint64_t of_l2(const struct machine *m, uint64_t apart)
{
	begin_core(m);
	for (uint64_t i = 0; i < 4; i++)
		load(0, 6401 + i * apart, 1);
	return waited(2000, CP_SIM_time_bandwidth);
}

static void turns_of_loads(void)
{
	struct machine m = small;

	m.time.l2 = 200;
	is_u64(of_l2(&m, 4), 0, "L2 gives any line at once");
	m.ooo.load_set_line = 8000;
	is_u64(of_l2(&m, 4), 3 * 80, "a bank gives a line in 80 cycles");
	is_u64(of_l2(&m, 2), 80, "two banks give two");
	is_u64(of_l2(&m, 1), 0, "and four banks four");
	m.ooo.banks = 8;
	is_u64(of_l2(&m, 4), 80, "of eight banks two give them");
	m.ooo.banks = 0;
	m.ooo.llc_set_line = 20000;
	is_u64(of_l2(&m, 4), 3 * 80, "a line that L2 has is as soon there");
	m.ooo.load_set_line = 0;
	m.ooo.l2_line = 4000;
	is_u64(of_l2(&m, 2), 3 * 80, "half of L2 gives a line in twice the cycles");
	is_u64(of_l2(&m, 1), 80, "the other half gives others");
}

/* Four lines of the last level at once, so far apart: the cycles without room. */
static uint64_t lone(const struct machine *m, uint64_t apart)
{
	begin_core(m);
	for (uint64_t i = 0; i < 4; i++)
		load(0, 6400 + i * apart, 2);
	return waited(2000, CP_SIM_time_bandwidth);
}

static void lines_of_no_stream(void)
{
	struct machine m = small;

	m.ooo.llc_line = 1000;
	is_u64(lone(&m, 100), 0, "as many cycles as are there");
	m.ooo.lone_line = 4000;
	is_u64(lone(&m, 101), 0, "lines of no stream, of both halves");
	is_u64(lone(&m, 128), 120, "and of one");
	is_u64(lone(&m, 2), 120, "wherever they are in it");
	m.ooo.llc_line = m.ooo.lone_line = 0;
	m.ooo.load_set_line = 4000;
	is_u64(lone(&m, 4), 3 * 40, "for as long as one of L2 they keep a bank busy");
	m.ooo.llc_set_line = 8000;
	is_u64(lone(&m, 4), 3 * 80, "or for longer");
}

/* L2 has an even line, and the last level another one, wherever it is, at once: the
 * cycles without room. */
static uint64_t of_both(const struct machine *m, uint64_t other)
{
	begin_core(m);
	load(0, other, 2);
	load(0, 6500, 1);
	return waited(2000, CP_SIM_time_bandwidth);
}

/* L2 is busy with what it has to get, and then has a line of its own. */
static void lines_of_two_levels(void)
{
	struct machine m = small;

	m.time.l2 = 200;
	m.ooo.l2_line = 2000;
	m.ooo.llc_line = 5000;
	is_u64(of_both(&m, 6400), 100, "a line that L2 has waits for one that it gets");
	is_u64(of_both(&m, 6401), 0, "but not of its other half");
	m.ooo.lone_line = 15000;
	is_u64(of_both(&m, 6400), 150, "of no stream, as long as that takes");
	m.ooo.l2_line = 20000;
	is_u64(of_both(&m, 6400), 400, "but no shorter than a line of L2");
}

/* Two even lines of a level at once, the counter telling that with the first one another
 * leaves modified: the cycles without room. */
static uint64_t behind_modified(
	const struct machine *m, int level, enum cp_sim_counter leaves)
{
	begin_core(m);
	core->count[leaves]++;
	load(0, 6400, level);
	load(0, 6500, level);
	return waited(2000, CP_SIM_time_bandwidth);
}

static void modified_lines(void)
{
	struct machine m = small;

	m.time.l2 = 200;
	m.ooo.l2_line = 4000;
	is_u64(behind_modified(&m, 1, CP_SIM_l1d_writebacks), 80 + 40,
		"a line that leaves takes each half of L2 half as long as another its one");
	m.ooo.store_line = 16000;
	is_u64(behind_modified(&m, 1, CP_SIM_l1d_writebacks), 80 + 90,
		"three quarters of what a stored line takes more, it takes both ways");
	m.ooo.llc_line = 4000;
	is_u64(behind_modified(&m, 2, CP_SIM_l1d_writebacks), 80 + 30,
		"a quarter, if the last level has what comes");
	m.ooo.llc_line = m.ooo.l2_line = m.ooo.store_line = 0;
	m.ooo.load_set_line = 8000;
	is_u64(behind_modified(&m, 1, CP_SIM_l1d_writebacks), 80 + 80,
		"it takes a bank as long as another");
	m.ooo.load_set_line = 0;
	m.ooo.lone_line = 15000;
	is_u64(behind_modified(&m, 2, CP_SIM_l2_writebacks), 150 + 50,
		"one that leaves L2 a third of what one takes that comes");
}

/* Lines of a stream that come, of which one more leaves L1D or L2 modified with each. */
static uint64_t leaving_for_stream(const struct machine *m, enum cp_sim_counter leaves)
{
	begin_core(m);
	for (uint64_t i = 0; i < 16; i++) {
		core->count[leaves]++;
		load(4 * i, 6400 + i, 2);
	}
	return waited(2000, CP_SIM_time_bandwidth);
}

static void modified_lines_of_streams(void)
{
	struct machine m = small;

	m.ooo.distance = 4;
	m.ooo.llc_line = 2000;
	m.ooo.store_line = 4000;
	/* The first three lines are not yet of it. */
	is_u64(leaving_for_stream(&m, CP_SIM_llc_writebacks), 224, "a stream alone");
	is_u64(leaving_for_stream(&m, CP_SIM_l2_writebacks), 224 + 39,
		"what leaves L2 for a stream takes nothing");
	is_u64(leaving_for_stream(&m, CP_SIM_l1d_writebacks), 224 + 266,
		"what leaves L1D, half of what a stored line takes more");
}

/* ---- page walks ---- */

static void walk(uint64_t number, uint64_t page)
{
	core->count[CP_SIM_instructions] = number;
	core->count[CP_SIM_dtlb_load_pages]++;
	core->count[CP_SIM_dtlb_load_walks]++;
	ahead_observe(
		core, &(struct batch_origin){
			      .address = page * 4096, .number = number, .load = -1});
}

/* Two walks, for that page and another, with so many lines of a level in between: what
 * the second one takes. */
static uint64_t second_walk(uint64_t page, uint64_t other, int lines, int level)
{
	uint64_t number = 1000;

	begin_core(&small);
	walk(0, page);
	for (; lines; lines--, number += 200)
		load(number, 64000 + number, level);
	walk(number, other);
	return waited(number + 200, CP_SIM_dtlb_walk_cycles) - 40;
}

/* L1D has four lines, and a hit takes 4 cycles; L2 has 128. */
static void lines_of_tables(void)
{
	is_u64(second_walk(80, 80, 4, 1), 40, "L1D has the entry");
	is_u64(second_walk(80, 80, 5, 1), 40 + 36, "L2 has");
	is_u64(second_walk(80, 87, 5, 1), 40 + 36, "and others of its line");
	is_u64(second_walk(80, 88, 5, 1), 40, "the next line was never asked for");
	is_u64(second_walk(80, 80, 128, 2), 40 + 36, "as many lines as L2 has");
	is_u64(second_walk(80, 80, 129, 2), 40 + 56, "one more: the last level has");
	is_u64(second_walk(80, 80 + 8 * ENTRY_LINES, 0, 1), 40 + 36,
		"one of too many that are asked for");
}

/* Lines count on behind a collect. */
static void walks_of_regions(void)
{
	begin_core(&small);
	walk(0, 80);
	for (uint64_t i = 0; i < 5; i++)
		load(1000 + 200 * i, 6400 + i, 1);
	core->count[CP_SIM_instructions] = 3000;
	ahead_collect(core);
	memset(core->count, 0, sizeof(core->count));
	walk(1000, 80);
	is_u64(waited(2000, CP_SIM_dtlb_walk_cycles), 40 + 36, "in another region");
}

int main(void)
{
	plan_lazy();
	batch_told.observe = timing_observe;
	streams();
	beside_others();
	stays();
	of_several_cores();
	crossing();
	counts();
	turns_of_stores();
	turns_of_loads();
	lines_of_no_stream();
	lines_of_two_levels();
	modified_lines();
	modified_lines_of_streams();
	lines_of_tables();
	walks_of_regions();
	chances();
	table();
	return 0;
}
