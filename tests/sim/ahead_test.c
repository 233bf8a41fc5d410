/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The timing model of cores that execute out of order: traces whose cycles were worked
 * out by hand.
 */
#include <string.h>

#include "model/timing.h"
#include "tests/sim/ahead_trace.h"
#include "tests/sim/small.h"
#include "tests/tap/tap.h"

/* The counts of those, and of as many more that there are 100. */
struct expected {
	enum cp_sim_counter counter;
	uint64_t value;
};

static void expect(const char *name, const struct machine *m,
	const struct instruction *of, size_t n, const struct expected *e)
{
	uint64_t sum = 0;

	begin(m);
	for (size_t i = 0; i < n; i++)
		execute(&of[i]);
	core->count[CP_SIM_instructions] += 100 - n;
	collect();
	for (; e->value; e++)
		is_u64(got[e->counter], e->value, "%s: counter %d", name, e->counter);
	for (int c = CP_SIM_STACK; c < CP_SIM_STACK_END; c++)
		sum += got[c];
	is_u64(sum, got[CP_SIM_cycles], "%s: what each cycle is", name);
	end();
}

#define LOAD_MEMORY(from, to)                                                            \
	{                                                                                \
		A_LOAD, from, NONE, to, 0, 2, 0, 1, 0, 0, 0                              \
	}
#define TRACE(name, m, e, ...)                                                           \
	do {                                                                             \
		const struct instruction trace_[] = {__VA_ARGS__};                       \
		const struct expected e_[] = {EXPECTED e, {0, 0}};                       \
                                                                                         \
		expect(name, m, trace_, sizeof(trace_) / sizeof(trace_[0]), e_);         \
	} while (0)
#define EXPECTED(...) __VA_ARGS__

static void values(void)
{
	/* The 33rd instruction waits from 32 to 100. */
	TRACE("a miss", &small,
		({CP_SIM_cycles, 168}, {CP_SIM_time_issue, 100},
			{CP_SIM_time_memory, 68}),
		LOAD_MEMORY(NONE, 1));
	/* The second one's line is there at 101, when the 34th is issued. */
	TRACE("two misses", &small, ({CP_SIM_cycles, 168}), LOAD_MEMORY(NONE, 1),
		LOAD_MEMORY(NONE, 2));
	/* It starts at 100: the 34th waits from 101 to 200. */
	TRACE("two that depend", &small, ({CP_SIM_cycles, 267}), LOAD_MEMORY(NONE, 1),
		LOAD_MEMORY(1, 2));
	/* It starts at 103: the 35th, at 102, waits up to 203. */
	TRACE("by an operation", &small, ({CP_SIM_cycles, 269}), LOAD_MEMORY(NONE, 1),
		{OPERATION, 1, NONE, 3, 3, 3, 0, 0, 0, 0, 0}, LOAD_MEMORY(3, 2));
	/* The same by a load that hits: at 104. */
	TRACE("by a hit", &small, ({CP_SIM_cycles, 270}), LOAD_MEMORY(NONE, 1),
		{A_LOAD, 1, NONE, 3, 0, 3, 0, 1, 0, 0, 0}, LOAD_MEMORY(3, 2));
	/* Nobody waits for what was there. */
	TRACE("overwritten", &small, ({CP_SIM_cycles, 168}), LOAD_MEMORY(NONE, 1),
		{OPERATION, NONE, NONE, 1, 1, 3, 0, 1, 0, 0, 0}, LOAD_MEMORY(1, 2));
	/* 40 later: 68 and 40. */
	TRACE("a walk", &small,
		({CP_SIM_cycles, 208}, {CP_SIM_time_tlb, 40}, {CP_SIM_time_memory, 68},
			{CP_SIM_dtlb_walk_cycles, 40}),
		{A_LOAD, NONE, NONE, 1, 0, 2, 1, 1, 0, 0, 0});
	/* From 0 to 40, 1 to 41, and 2 to 42. */
	TRACE("walks side by side", &small, ({CP_SIM_dtlb_walk_cycles, 42}),
		{A_LOAD, NONE, NONE, 1, 0, 2, 1, 1, 0, 0, 0},
		{A_LOAD, NONE, NONE, 2, 0, 2, 1, 1, 0, 0, 0},
		{A_LOAD, NONE, NONE, 3, 0, 2, 1, 1, 0, 0, 0});
}

#define CHAIN(r, cycles)                                                                 \
	{                                                                                \
		OPERATION, r, NONE, r, cycles, 3, 0, 1, cycles, 0, 0                     \
	}

static void chains(void)
{
	/* The 33rd instruction waits from 32 to 100. */
	TRACE("a chain", &small, ({CP_SIM_cycles, 168}, {CP_SIM_time_issue, 168}),
		CHAIN(1, 100));
	/* The 33rd waits from 32 to 60, the 34th from 61 to 120. */
	TRACE("a chain that goes on", &small, ({CP_SIM_cycles, 187}), CHAIN(1, 60),
		CHAIN(1, 60));
	/* The 34th waits from 61 to 61. */
	TRACE("chains side by side", &small, ({CP_SIM_cycles, 128}), CHAIN(1, 60),
		CHAIN(2, 60));
	/* Ten instructions are issued behind it: the eleventh waits from 10 to 100. */
	TRACE("a chain that many wait for", &small, ({CP_SIM_cycles, 190}),
		{OPERATION, 1, NONE, 1, 100, 3, 0, 1, 100, 10, 0});
	/* It begins at 2: the 35th is issued at 62. */
	TRACE("a chain that begins anew", &small, ({CP_SIM_cycles, 128}), CHAIN(1, 60),
		{OPERATION, NONE, NONE, 1, 1, 3, 0, 1, 0, 0, 0}, CHAIN(1, 60));
	/* The third instruction waits from 2 to 50. */
	TRACE("a branch behind a chain", &small,
		({CP_SIM_cycles, 163}, {CP_SIM_time_branch, 15},
			{CP_SIM_time_issue, 148}),
		CHAIN(1, 50), {A_BRANCH, 1, NONE, NONE, 0, 3, 0, 0, 0, 0, 0},
		{OPERATION, NONE, NONE, 2, 1, 3, 0, 1, 0, 0, 0});
	/* The 33rd waits from 32 to 50. */
	TRACE("a branch beside it", &small, ({CP_SIM_cycles, 118}), CHAIN(1, 50),
		{A_BRANCH, 2, NONE, NONE, 0, 3, 0, 0, 0, 0, 0},
		{OPERATION, NONE, NONE, 2, 1, 3, 0, 1, 0, 0, 0});
}

static void loads_of_chains(void)
{
	/* It starts at 50: the 33rd waits from 32 to 50, the 34th from 51 to 150. */
	TRACE("a load behind a chain", &small,
		({CP_SIM_cycles, 217}, {CP_SIM_time_issue, 118},
			{CP_SIM_time_memory, 99}),
		CHAIN(1, 50), LOAD_MEMORY(1, 2));
	/* The same, but the 34th waits for the chain from 51 to 54 first. */
	TRACE("a load in a chain", &small,
		({CP_SIM_cycles, 217}, {CP_SIM_time_issue, 121},
			{CP_SIM_time_memory, 96}),
		CHAIN(1, 50), {A_LOAD, 1, NONE, 1, 0, 2, 0, 1, 4, 0, 0});
	/* Nothing hangs on a chain that begins: the 33rd waits, not the eleventh. */
	TRACE("a load that begins a chain", &small,
		({CP_SIM_cycles, 168}, {CP_SIM_time_memory, 68}),
		{A_LOAD, 1, NONE, 1, 0, 2, 0, 1, 4, 10, 0});
	/* It starts at 2: the 35th, which is issued at 52, waits up to 102. */
	TRACE("a load behind what ended one", &small, ({CP_SIM_cycles, 168}),
		CHAIN(1, 50), {OPERATION, NONE, NONE, 1, 1, 3, 0, 1, 0, 0, 0},
		LOAD_MEMORY(1, 2));
}

static void limits(void)
{
	struct machine m = small;

	/* The third instruction waits from 2 to 100, and the pipeline is filled anew. */
	TRACE("a branch", &small,
		({CP_SIM_cycles, 213}, {CP_SIM_time_branch, 15},
			{CP_SIM_time_memory, 98}),
		LOAD_MEMORY(NONE, 1), {A_BRANCH, 1, NONE, NONE, 0, 3, 0, 0, 0, 0, 0},
		{OPERATION, NONE, NONE, 2, 1, 3, 0, 1, 0, 0, 0});
	m.time.write_buffers = 2;
	/* The third store waits from 2 to 100. */
	TRACE("stores", &m, ({CP_SIM_cycles, 198}, {CP_SIM_time_store, 98}),
		{A_STORE, NONE, NONE, NONE, 0, 2, 0, 1, 0, 0, 0},
		{A_STORE, NONE, NONE, NONE, 0, 2, 0, 1, 0, 0, 0},
		{A_STORE, NONE, NONE, NONE, 0, 2, 0, 1, 0, 0, 0});
	m = small;
	m.ooo.memory_line = 3200;
	/* Memory has given two lines by 64: the third load starts then, not at 2. */
	TRACE("bandwidth", &m,
		({CP_SIM_cycles, 230}, {CP_SIM_time_bandwidth, 62},
			{CP_SIM_time_memory, 68}),
		LOAD_MEMORY(NONE, 1), LOAD_MEMORY(NONE, 2), LOAD_MEMORY(NONE, 3));
	m = small;
	m.ooo.width = 400;
	/* The 33rd is issued at 8, and waits up to 100. */
	TRACE("width", &m, ({CP_SIM_cycles, 117}, {CP_SIM_time_issue, 25}),
		LOAD_MEMORY(NONE, 1));
}

/* Resources of which there is one, and levels whose halves each give a line in 64 cycles.
 */
static void rooms(void)
{
	struct machine m = small;
	uint32_t *const cycles[] = {&m.ooo.l2_line, &m.ooo.llc_line};

	m.time.fill_buffers = 1;
	/* The second line comes from 100 to 200, the 34th waits for it from 101 on. */
	TRACE("a fill buffer", &m,
		({CP_SIM_cycles, 267}, {CP_SIM_time_bandwidth, 99},
			{CP_SIM_time_memory, 68}),
		LOAD_MEMORY(NONE, 1), LOAD_MEMORY(NONE, 2));
	m = small;
	m.ooo.l2_fill_buffers = 1;
	TRACE("a fill buffer of L2", &m, ({CP_SIM_cycles, 267}), LOAD_MEMORY(NONE, 1),
		LOAD_MEMORY(NONE, 2));
	for (int i = 0; i < 2; i++) {
		m = small;
		*cycles[i] = 3200;
		TRACE("a level's bandwidth", &m,
			({CP_SIM_cycles, 294}, {CP_SIM_time_bandwidth, 126}),
			LOAD_MEMORY(NONE, 1), LOAD_MEMORY(NONE, 2), LOAD_MEMORY(NONE, 3));
	}
	m = small;
	m.ooo.walkers = 1;
	/* The first walk takes 40 of 64 cycles, the second 24 and 16 more: the third is
	 * from 80 to 120, its line there at 220; the 35th would be issued at 142. */
	TRACE("a walker", &m,
		({CP_SIM_cycles, 286}, {CP_SIM_time_tlb, 118}, {CP_SIM_time_memory, 68}),
		{A_LOAD, NONE, NONE, 1, 0, 2, 1, 1, 0, 0, 0},
		{A_LOAD, NONE, NONE, 2, 0, 2, 1, 1, 0, 0, 0},
		{A_LOAD, NONE, NONE, 3, 0, 2, 1, 1, 0, 0, 0});
	/* The walk, and the hit behind it: at 44. */
	TRACE("a page alone", &small, ({CP_SIM_cycles, 112}, {CP_SIM_time_tlb, 12}),
		{A_LOAD, NONE, NONE, 1, 0, 3, 1, 1, 0, 0, 0});
}

/* The last level has the line, no TLB the page. */
static void code(void)
{
	begin(&small);
	core->count[CP_SIM_l1i_misses] = core->count[CP_SIM_l2_ifetch_misses] = 1;
	core->count[CP_SIM_itlb_misses] = core->count[CP_SIM_itlb_walks] = 1;
	ahead_observe(core, &(struct batch_origin){.load = -1});
	core->count[CP_SIM_instructions] = 100;
	collect();
	is_u64(got[CP_SIM_cycles], 170, "code: cycles");
	is_u64(got[CP_SIM_time_llc], 30, "code: the line");
	is_u64(got[CP_SIM_time_tlb], 40, "code: the page");
	is_u64(got[CP_SIM_itlb_walk_cycles], 40, "code: the walk");
	is_u64(got[CP_SIM_ifetch_stall_cycles], 70, "code: what was waited for");
	end();
}

/* A line of code from the L2, or behind it, after so many instructions; and as many as
 * make a hundred. */
static uint64_t wait_for_line(int from_llc, unsigned after)
{
	uint64_t before = got[CP_SIM_ifetch_stall_cycles];

	core->count[CP_SIM_instructions] = after;
	core->count[CP_SIM_l1i_misses]++;
	core->count[CP_SIM_l2_ifetch_misses] += (uint64_t)from_llc;
	ahead_observe(core, &(struct batch_origin){.number = after, .load = -1});
	core->count[CP_SIM_instructions] = 100;
	collect();
	return got[CP_SIM_ifetch_stall_cycles] - before;
}

static void code_ahead(void)
{
	begin(&small);
	is_u64(wait_for_line(0, 0), 10, "code: nothing was foreseen");
	is_u64(wait_for_line(0, 0), 0, "code: it was asked for before");
	is_u64(wait_for_line(1, 50), 20, "code: as long before as the L2 takes");
	execute(&(struct instruction){A_BRANCH, NONE, NONE, NONE, 0, 3, 0, 1, 0, 0, 0});
	execute(&(struct instruction){OPERATION, NONE, NONE, 1, 1, 3, 0, 1, 0, 0, 0});
	/* The instruction behind the branch is the second one. */
	is_u64(wait_for_line(0, 1 + 7), 10 - 7, "code: not before a branch was known");
	end();
}

/* Two loads by one pointer: the first one's line is at 100, and the pointer that the
 * second one brings of it, too, from which the third instruction loads until 200.  The
 * 35th waits for that from 102 on. */
static void shared_line(void)
{
	static const struct instruction next = LOAD_MEMORY(2, 3);
	static struct {
		struct flow flow;
		struct flow_value value[2];
		struct flow_source source[2];
		union flow_word way[2];
	} two = {{.begins = 1,
			 .nloads = 2,
			 .nways = 1,
			 .nsources = 2,
			 .loads = 2,
			 .writes = 4},
		{{.registers = 2, .first = 0, .count = 1, .to = 0, .again = 1},
			{.registers = 2, .first = 1, .count = 1, .to = 1}},
		{{1, 0}, {1, 0}}, {{{FLOW_REGISTERS + 1, 1}}, {{2, 0}}}};
	static struct batch b;

	b.flow = &two.flow;
	b.clock = 2ull << 32;
	begin(&small);
	ahead_begin(core, &b, next_line());
	miss(&(struct instruction){A_LOAD, 1, NONE, NONE, 0, 2, 0, 1, 0, 0, 0});
	core->count[CP_SIM_instructions] += 2;
	execute(&next);
	core->count[CP_SIM_instructions] += 97;
	collect();
	is_u64(got[CP_SIM_cycles], 266, "a hit of a line that is on its way");
	end();
}

/* From memory, every 200 instructions, so many bytes apart; returns all cycles. */
static uint64_t stream(const struct machine *m, uint32_t apart)
{
	begin(m);
	for (uint64_t i = 0; i < 8; i++) {
		core->count[CP_SIM_instructions] = 200 * i;
		core->count[CP_SIM_l1d_load_lines]++;
		core->count[CP_SIM_l2_load_lines]++;
		core->count[CP_SIM_llc_load_lines]++;
		ahead_observe(core, &(struct batch_origin){.address = 4096 + apart * i,
					    .number = 200 * i,
					    .load = -1});
	}
	core->count[CP_SIM_instructions] = 2000;
	collect();
	end();
	return got[CP_SIM_cycles];
}

/* Each of the first three lines of a stream is waited for 68 cycles; those behind them
 * are in L2 in time. */
static void streams(void)
{
	struct machine m = small;

	m.ooo.distance = 2;
	is_u64(stream(&m, 64), 2204, "a stream is fetched ahead");
	is_u64(stream(&m, 128), 2204, "of every second line, too");
	is_u64(stream(&m, 4096), 2544, "one line a page is no stream");
	m.ooo.memory_line = 30000;
	is_u64(stream(&m, 64), 2768, "memory gives a line in 300 cycles");
	m.ooo.distance = m.ooo.memory_line = 0;
	is_u64(stream(&m, 64), 2544, "where nothing fetches ahead, each waits");
}

/* With the first line two go to memory: the three take 96 cycles of it, and the second
 * one is there at 196, when the 34th has waited since 101. */
static void written_back(void)
{
	static const struct instruction load[] = {
		LOAD_MEMORY(NONE, 1), LOAD_MEMORY(NONE, 2)};
	struct machine m = small;

	m.ooo.memory_line = 3200;
	begin(&m);
	core->count[CP_SIM_llc_writebacks] = 2;
	execute(&load[0]);
	execute(&load[1]);
	core->count[CP_SIM_instructions] += 98;
	collect();
	is_u64(got[CP_SIM_cycles], 263, "written back: cycles");
	is_u64(got[CP_SIM_time_bandwidth], 95, "written back: no room");
	end();
}

/* In a window of 4,096, in which each instruction misses, no more than 1,024 lines are on
 * their way: a load that comes then waits for the first of them, which has long been
 * there. */
static void many(void)
{
	static const struct instruction load = LOAD_MEMORY(NONE, 1);
	struct machine m = small;

	m.ooo.window = 4096;
	begin(&m);
	for (int i = 0; i < 3000; i++)
		execute(&load);
	collect();
	is_u64(got[CP_SIM_cycles], 3000, "many misses: none is waited for");
	end();
}

/* Whoever runs a batch notes it, and has all followed when there is no room for more. */
static void notes(void)
{
	static struct batch plain = {.clock = 1ull << 32};
	struct step *first;

	begin(&small);
	batch_told.follow = ahead_step;
	first = core->next_step;
	batch_function_for(6, 0, 1)(&plain, 3, 0, 0, 0, 0);
	is_u64((uint64_t)(core->next_step - first), 1, "a batch is noted");
	is_u64(first->line, 3, "its line");
	for (int i = 1; i < AHEAD_STEPS; i++)
		batch_function_for(6, 0, 1)(&plain, 3, 0, 0, 0, 0);
	is_u64((uint64_t)(core->next_step - first), 0, "all are followed");
	is_u64(core->clock >> 32, AHEAD_STEPS, "and run");
	batch_told.follow = NULL;
	core->noting_from = UINT64_MAX;
	batch_function_for(6, 0, 1)(&plain, 3, 0, 0, 0, 0);
	is_u64((uint64_t)(core->next_step - first), 0, "nobody asks: nothing is noted");
	end();
}

int main(void)
{
	plan_lazy();
	batch_told.observe = timing_observe;
	values();
	chains();
	loads_of_chains();
	limits();
	rooms();
	code();
	code_ahead();
	streams();
	shared_line();
	written_back();
	many();
	notes();
	return 0;
}
