/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The timing model of cores that execute out of order: traces whose cycles were worked
 * out by hand, then random ones against a model that goes from cycle to cycle.
 */
#include <stdlib.h>
#include <string.h>
#include "model/ahead.h"
#include "model/timing.h"
#include "tests/tap/tap.h"

#define G(s, w)                                                                          \
	{                                                                                \
		.sets = (s), .ways = (w)                                                 \
	}

/* An instruction a cycle. */
static const struct machine small = {.l1i = G(4, 1),
	.l1d = G(4, 1),
	.l2 = G(16, 8),
	.llc = G(64, 8),
	.itlb = G(1, 2),
	.dtlb = G(1, 2),
	.stlb = G(1, 4),
	.line = 64,
	.page = 4096,
	.cores = 2,
	.time = {.l2 = 10, .llc = 30, .memory = 100, .stlb = 5, .walk = 40},
	.ooo = {.l1 = 4, .window = 32, .mispredict = 15, .width = 100}};

static struct uncore uncore;
static struct core *core;
static uint64_t got[CP_SIM_NCOUNTERS];

static void begin(const struct machine *m)
{
	memset(&uncore, 0, sizeof(uncore));
	uncore_init(&uncore, m);
	core = core_new(m, &uncore);
	core_attach(core);
	running = core;
	memset(got, 0, sizeof(got));
}

static void end(void)
{
	core_free(core);
	uncore_free(&uncore);
}

static void collect(void)
{
	ahead_collect(core);
	for (int c = 0; c < CP_SIM_NCOUNTERS; c++)
		got[c] += core->count[c];
	memset(core->count, 0, sizeof(core->count));
}

/* ---- instructions, a batch each ---- */

#define REGISTERS 8
#define NONE REGISTERS
#define SB_LOADS 4 /* of a superblock */

enum what { OPERATION, A_LOAD, A_STORE, A_BRANCH };

/* from, other: what it needs; level: 0 to 2 of a miss, 3: a hit. */
struct instruction {
	enum what what;
	int from, other, to, latency, level, walk;
	int begins; /* a superblock */
	int chain;  /* of the register that it writes: by so many cycles longer */
	int reach;  /* of instructions behind the chain; 0: the window */
	int beside; /* the chain does not hang on what is loaded */
};

/* Does the register get nothing of what it was? */
static int is_anew(const struct instruction *i)
{
	return i->to != NONE && i->from != i->to && i->other != i->to && !i->chain;
}

/* Cycles + 1 from registers at the superblock's begin, and its loads; 0: no path. */
#define SOURCES (REGISTERS + SB_LOADS)
static int path[REGISTERS][SOURCES], nloads;

static void begin_superblock(void)
{
	memset(path, 0, sizeof(path));
	for (int r = 0; r < REGISTERS; r++)
		path[r][r] = 1;
	nloads = 0;
}

static void add_path(int *to, int from, int longer)
{
	for (int s = 0; from != NONE && s < SOURCES; s++)
		if (path[from][s] && path[from][s] + longer > to[s])
			to[s] = path[from][s] + longer;
}

/* Kept for as long as the core may look at them. */
struct kept {
	struct batch batch;
	struct flow flow;
	struct flow_value value; /* an address, or a condition */
	struct flow_source source[SOURCES];
	union flow_word way[2 * SOURCES];
};
static struct kept ring[1024];
static unsigned nkept;

static uint8_t number_of(int source)
{
	return (uint8_t)(source < REGISTERS ? source
					    : FLOW_REGISTERS + source - REGISTERS);
}

static void describe(struct kept *k, const int *paths, int to)
{
	struct flow_value *v = &k->value;

	v->to = (uint8_t)to;
	for (int s = 0; s < SOURCES; s++) {
		if (!paths[s])
			continue;
		v->registers |= s < REGISTERS ? 1ull << s : 0;
		v->loads |= s < REGISTERS ? 0 : 1ull << (s - REGISTERS);
		k->source[v->count++] =
			(struct flow_source){number_of(s), (uint8_t)(paths[s] - 1)};
	}
	k->flow.nsources = v->count;
}

/* Behind the sources. */
static void describe_ways(struct kept *k, const int *paths, int to)
{
	union flow_word *word = (union flow_word *)flow_ways(&k->flow);

	k->flow.writes = 1ull << to;
	for (int s = 0; s < SOURCES; s++) {
		if (!paths[s])
			continue;
		k->flow.reads |= s < REGISTERS ? 1ull << s : 0;
		k->flow.loads |= s < REGISTERS ? 0 : 1ull << (s - REGISTERS);
		*word++ = (union flow_word){.way = {number_of(s), 1}};
		*word++ =
			(union flow_word){.put = {(uint8_t)to, (uint8_t)(paths[s] - 1)}};
		k->flow.nways++;
	}
}

static struct batch *batch_of(const struct instruction *i)
{
	struct kept *k = &ring[nkept++ % 1024];
	int needed[SOURCES] = {0}, made[SOURCES] = {0};

	memset(k, 0, sizeof(*k));
	k->batch.clock = 1ull << 32;
	k->flow.begins = (uint8_t)i->begins;
	k->flow.end = i->what == A_BRANCH ? FLOW_BRANCHES : FLOW_GOES_ON;
	k->flow.nloads = i->what == A_LOAD;
	add_path(needed, i->from, i->what == A_BRANCH ? i->latency : 0);
	add_path(made, i->from, i->latency);
	add_path(made, i->other, i->latency);
	if (i->what == A_LOAD) {
		memset(made, 0, sizeof(made));
		add_path(made, i->from, (int)small.ooo.l1);
		made[REGISTERS + nloads] = 1;
	}
	if (i->what == A_LOAD || i->what == A_BRANCH)
		describe(k, needed, i->what == A_LOAD ? nloads : 0);
	if (i->to != NONE) {
		describe_ways(k, made, i->to);
		memcpy(path[i->to], made, sizeof(made));
	}
	k->batch.chain_of = i->chain ? (uint8_t)i->to & (FLOW_REGISTERS - 1) : 0;
	k->batch.chain_cycles = (uint8_t)i->chain;
	k->batch.chain_loads = i->what == A_LOAD && !i->beside ? 1ull << nloads : 0;
	k->batch.chain_reach = i->reach ? (uint32_t)i->reach : small.ooo.window;
	k->batch.anew = is_anew(i) ? 1ull << i->to : 0;
	k->batch.flow = &k->flow;
	k->batch.branches = i->what == A_BRANCH;
	return &k->batch;
}

/* As if caches had done that. */
static void miss(const struct instruction *i)
{
	uint64_t *n = core->count;
	int store = i->what == A_STORE;

	n[CP_SIM_l1d_load_lines + store] += i->level < 3;
	n[CP_SIM_l2_load_lines + store] += i->level == 1 || i->level == 2;
	n[CP_SIM_llc_load_lines + store] += i->level == 2;
	n[CP_SIM_dtlb_load_pages + store] += i->walk;
	n[CP_SIM_dtlb_load_walks + store] += i->walk;
	if (i->level < 3 || i->walk)
		ahead_observe(core,
			&(struct batch_origin){.number = core->count[CP_SIM_instructions],
				.load = store ? -1 : nloads});
}

static uint64_t lines;

/* Nothing has been seen after a branch before. */
static void execute(const struct instruction *i)
{
	if (i->begins)
		begin_superblock();
	ahead_begin(core, batch_of(i), ++lines);
	if (i->what == A_LOAD || i->what == A_STORE)
		miss(i);
	nloads += i->what == A_LOAD;
	core->count[CP_SIM_instructions]++;
	core->count[CP_SIM_l1d_stores] += i->what == A_STORE;
}

/* ---- traces by hand ---- */

/* Of those, and as many more that there are 100. */
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

/* Of what there is one, and of levels that give a line in 32 cycles. */
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
			({CP_SIM_cycles, 230}, {CP_SIM_time_bandwidth, 62}),
			LOAD_MEMORY(NONE, 1), LOAD_MEMORY(NONE, 2), LOAD_MEMORY(NONE, 3));
	}
	m = small;
	m.ooo.walkers = 1;
	/* Of 64 cycles the first walk takes 40, the second 24 and 16 more: the third is
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
	ahead_begin(core, &b, ++lines);
	nloads = 0;
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

/* Of a window of 4,096, in which each instruction misses, no more than 1,024 lines are on
 * their way: who comes then waits for the first of them, which has long been there. */
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
	uint64_t number = 1, wild = 0, usual = 0;

	begin(&small);
	for (uint64_t i = 0; i < 1000; i++) {
		uint32_t other;

		number = number * 6364136223846793005u + 1442695040888963407u;
		other = (uint32_t)(number >> 60);
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
	uint64_t number = 1, cost = 0;

	begin(&small);
	for (uint32_t i = 0; i < 16; i++)
		all[i].key = keys[i];
	for (uint32_t i = 0; i < 2000; i++) {
		number = number * 6364136223846793005u + 1442695040888963407u;
		cost += go_to(&all[i % 2 ? number >> 60 : i / 2 % 16], 7);
	}
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

/* ---- from cycle to cycle ---- */

static uint64_t seed = 88172645463325252ull;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 11) % n;
}

#define LENGTH 3000
static struct plain {
	uint64_t cycle, count[CP_SIM_NCOUNTERS];
	uint64_t ready[REGISTERS]; /* 0: long ago */
	int level[REGISTERS];
	uint64_t line[LENGTH]; /* of each instruction that loads: when it is there */
	int line_level[LENGTH];
	int stored;
	uint64_t store[LENGTH]; /* of each store that misses: when it leaves */
	int after_branch, condition;
	uint64_t known; /* of the branch before */
	/* Chains: when they are ready, in ticks, and what wait for them is made of, as
	 * the superblock found it. */
	uint64_t chain[REGISTERS], chain_end[LENGTH];
	int in_chain[LENGTH]; /* loads */
	uint32_t made_of[REGISTERS], condition_of;
} plain;

static const enum cp_sim_counter stack[] = {
	CP_SIM_time_l2, CP_SIM_time_llc, CP_SIM_time_memory};

static void plain_tick(enum cp_sim_counter why)
{
	plain.count[why]++;
	plain.cycle++;
}

/* The first of the instructions a window ago that has no line yet; -1: none. */
static int plain_wall(const struct machine *m, int number)
{
	for (int i = 0; i <= number - (int)m->ooo.window; i++)
		if (!plain.in_chain[i] && plain.line[i] > plain.cycle)
			return i;
	return -1;
}

/* The same of chains, whose instructions are as far behind as may be, and of their lines.
 */
static int plain_end(const struct instruction *of, int number)
{
	for (int i = 0; i <= number - of->reach; i++)
		if (plain.chain_end[i] > plain.cycle ||
			(plain.in_chain[i] && plain.line[i] > plain.cycle))
			return i;
	return -1;
}

/* The cycle in which the chains of those registers are ready. */
static uint64_t plain_chains(uint32_t registers)
{
	uint64_t latest = 0;

	for (int r = 0; r < REGISTERS; r++)
		if (registers >> r & 1 && plain.chain[r] > latest)
			latest = plain.chain[r];
	return latest / AHEAD_TICKS;
}

static uint32_t plain_made_of(int r)
{
	return r == NONE ? 0 : plain.made_of[r];
}

static void plain_issue(const struct machine *m, const struct instruction *i, int number)
{
	int wall, entries = (int)m->time.write_buffers;

	if (number && number % (int)(m->ooo.width / 100) == 0)
		plain_tick(CP_SIM_time_issue);
	while ((wall = plain_wall(m, number)) >= 0)
		plain_tick(stack[plain.line_level[wall]]);
	while ((wall = plain_end(i, number)) >= 0)
		plain_tick(plain.chain_end[wall] > plain.cycle
				   ? CP_SIM_time_issue
				   : stack[plain.line_level[wall]]);
	if (plain.after_branch) {
		while (plain_chains(plain.condition_of) > plain.cycle)
			plain_tick(CP_SIM_time_issue);
		while (plain.known > plain.cycle)
			plain_tick(stack[plain.condition]);
		for (uint32_t k = 0; k < m->ooo.mispredict; k++)
			plain_tick(CP_SIM_time_branch);
	}
	plain.after_branch = 0;
	for (int r = 0; i->begins && r < REGISTERS; r++) {
		if (plain.ready[r] <= plain.cycle)
			plain.ready[r] = 0;
		plain.made_of[r] = 1u << r;
	}
	if (entries && i->what == A_STORE && i->level < 3)
		while (plain.stored >= entries &&
			plain.store[plain.stored - entries] > plain.cycle)
			plain_tick(CP_SIM_time_store);
}

/* When that is ready, a while later. */
static uint64_t plain_ready(int r, int longer)
{
	return r == NONE || !plain.ready[r] ? 0 : plain.ready[r] + (uint64_t)longer;
}

static void plain_put(const struct instruction *i, uint64_t ready, int level)
{
	if (i->to == NONE)
		return;
	plain.ready[i->to] = ready;
	plain.level[i->to] = level;
}

static void plain_load(const struct machine *m, const struct instruction *i, int number)
{
	const uint32_t latency[] = {m->time.l2, m->time.llc, m->time.memory};
	uint64_t address = plain_ready(i->from, 0),
		 chains = plain_chains(plain_made_of(i->from));
	int level = i->from == NONE ? 0 : plain.level[i->from];

	if (i->level == 3) {
		plain_put(i, plain_ready(i->from, (int)m->ooo.l1), level);
		return;
	}
	address = address > chains ? address : chains;
	plain.line[number] =
		(address > plain.cycle ? address : plain.cycle) + latency[i->level];
	plain.line_level[number] = i->level;
	plain.in_chain[number] = i->chain && !i->beside && plain.chain[i->to] &&
				 plain_made_of(i->from) >> i->to & 1;
	plain_put(i, plain.line[number], i->level);
}

static void plain_store(const struct machine *m, const struct instruction *i)
{
	const uint32_t latency[] = {m->time.l2, m->time.llc, m->time.memory};
	uint64_t before = plain.stored ? plain.store[plain.stored - 1] : 0, there;

	if (i->level == 3)
		return;
	there = plain.cycle + latency[i->level];
	plain.store[plain.stored++] = there > before ? there : before;
}

/* A chain goes on from where it has got to. */
static void plain_chain(const struct machine *m, const struct instruction *i, int number)
{
	int width = (int)m->ooo.width / 100;
	uint64_t now = plain.cycle * AHEAD_TICKS +
		       (uint64_t)(number % width * (AHEAD_TICKS / width)),
		 *chain = &plain.chain[i->to];

	*chain = (*chain > now ? *chain : now) + (uint64_t)i->chain * AHEAD_TICKS;
	plain.chain_end[number] = *chain / AHEAD_TICKS;
}

static void plain_do(const struct machine *m, const struct instruction *i, int number)
{
	uint64_t one, other;
	uint32_t of;

	plain_issue(m, i, number);
	of = plain_made_of(i->from);
	if (is_anew(i))
		plain.chain[i->to] = 0;
	switch (i->what) {
	case A_LOAD:
		plain_load(m, i, number);
		break;
	case A_STORE:
		plain_store(m, i);
		break;
	case A_BRANCH:
		plain.after_branch = 1;
		plain.known = plain_ready(i->from, i->latency);
		plain.condition = i->from == NONE ? 0 : plain.level[i->from];
		plain.condition_of = of;
		break;
	default:
		one = plain_ready(i->from, i->latency);
		other = plain_ready(i->other, i->latency);
		plain_put(i, one > other ? one : other,
			plain.level[one >= other && i->from != NONE ? i->from
				    : i->other != NONE              ? i->other
								    : 0]);
		of |= plain_made_of(i->other);
	}
	if (i->to != NONE)
		plain.made_of[i->to] = of;
	if (i->chain)
		plain_chain(m, i, number);
}

static struct instruction pick(int after_branch, int loads)
{
	static const enum what often[] = {OPERATION, OPERATION, OPERATION, A_LOAD, A_LOAD,
		A_LOAD, A_STORE, A_BRANCH, 0, 0, 0};
	struct instruction i = {.what = often[random_below(8)],
		.from = (int)random_below(REGISTERS + 1),
		.other = NONE,
		.to = NONE,
		.latency = 1 + (int)random_below(9),
		.level = 3,
		.begins = after_branch || loads == SB_LOADS || random_below(6) == 0};

	if (i.what == OPERATION)
		i.other = (int)random_below(REGISTERS + 1);
	if (i.what <= A_LOAD)
		i.to = (int)random_below(REGISTERS);
	if (i.what <= A_LOAD && random_below(4) == 0) {
		i.from = i.to;
		i.chain = 1 + (int)random_below(40);
		i.beside = (int)random_below(2);
	}
	if ((i.what == A_LOAD || i.what == A_STORE) && random_below(3) == 0)
		i.level = (int)random_below(3);
	if (i.what == A_BRANCH && random_below(3))
		i.what = OPERATION;
	if (i.what == A_STORE)
		i.from = NONE;
	return i;
}

static void compare(int round)
{
	int same = got[CP_SIM_cycles] == plain.cycle;
	uint64_t sum = 0;

	for (int c = CP_SIM_STACK; c < CP_SIM_STACK_END; c++)
		sum += got[c];
	is_u64(sum, got[CP_SIM_cycles], "random trace %d: what each cycle is", round);
	for (int c = CP_SIM_time_branch; c < CP_SIM_STACK_END; c++)
		same &= got[c] == plain.count[c];
	ok(same, "random trace %d", round);
	for (int c = CP_SIM_STACK; !same && c < CP_SIM_STACK_END; c++)
		diag("counter %d: %llu, from cycle to cycle %llu", c,
			(unsigned long long)got[c], (unsigned long long)plain.count[c]);
}

static void random_trace(int round)
{
	struct machine m = small;
	struct instruction i = {.what = OPERATION};
	int reach;

	memset(&plain, 0, sizeof(plain));
	m.ooo.window = 8 + random_below(60);
	m.ooo.width = 100 * (1 + random_below(4));
	m.time.memory = 40 + random_below(200);
	m.time.write_buffers = random_below(5);
	reach = 4 + (int)random_below(m.ooo.window - 3);
	begin(&m);
	nloads = 0;
	for (int n = 0; n < LENGTH; n++) {
		i = pick(n == 0 || i.what == A_BRANCH, i.begins ? 0 : nloads);
		i.reach = reach;
		plain_do(&m, &i, n);
		execute(&i);
		if (random_below(50) == 0)
			collect();
	}
	/* Whoever comes next has been waited for, but by no branch that is not over. */
	plain.after_branch = 0;
	i = (struct instruction){OPERATION, NONE, NONE, NONE, 0, 3, 0, 1, 0, reach, 0};
	plain_do(&m, &i,
		LENGTH - 1 +
			(int)(m.ooo.width / 100 - (LENGTH - 1) % (m.ooo.width / 100)));
	collect();
	compare(round);
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
	streams();
	shared_line();
	written_back();
	many();
	branches();
	usual_branches();
	keys();
	loops();
	notes();
	for (int i = 0; i < 40; i++)
		random_trace(i);
	return 0;
}
