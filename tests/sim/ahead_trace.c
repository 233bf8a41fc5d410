/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "tests/sim/ahead_trace.h"
#include "tests/sim/one_core.h"
#include "tests/sim/small.h"

const struct machine small = {SMALL_CACHES, .cores = 2,
	.time = {.l2 = 10, .llc = 30, .memory = 100, .stlb = 5, .walk = 40},
	.ooo = SMALL_OOO};

static int nloads; /* of the superblock */
uint64_t got[CP_SIM_NCOUNTERS];

void begin(const struct machine *m)
{
	begin_core(m);
	memset(got, 0, sizeof(got));
	nloads = 0;
}

void end(void)
{
	end_core();
}

void collect(void)
{
	ahead_collect(core);
	for (int c = 0; c < CP_SIM_NCOUNTERS; c++)
		got[c] += core->count[c];
	memset(core->count, 0, sizeof(core->count));
}

int is_anew(const struct instruction *i)
{
	return i->to != NONE && i->from != i->to && i->other != i->to && !i->chain;
}

/* Cycles + 1 from registers at the superblock's begin, and its loads; 0: no path. */
#define SOURCES (REGISTERS + SB_LOADS)
static int path[REGISTERS][SOURCES];

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
	k->batch.chain_reach = i->reach ? (uint16_t)i->reach : small.ooo.window;
	k->batch.anew = is_anew(i) ? 1ull << i->to : 0;
	k->batch.flow = &k->flow;
	k->batch.branches = i->what == A_BRANCH;
	return &k->batch;
}

void miss(const struct instruction *i)
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

uint64_t next_line(void)
{
	static uint64_t lines;

	return ++lines;
}

void execute_at(const struct instruction *i, uint64_t line, uint32_t resolves)
{
	struct batch *b;

	if (i->begins)
		begin_superblock();
	b = batch_of(i);
	b->resolves = resolves;
	ahead_begin(core, b, line);
	if (i->what == A_LOAD || i->what == A_STORE)
		miss(i);
	nloads += i->what == A_LOAD;
	core->count[CP_SIM_instructions]++;
	core->count[CP_SIM_l1d_stores] += i->what == A_STORE;
}

void execute(const struct instruction *i)
{
	execute_at(i, next_line(), 0);
}

int superblock_loads(void)
{
	return nloads;
}
