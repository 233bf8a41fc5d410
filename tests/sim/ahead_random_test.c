/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Random traces of a core that executes out of order, against a model that goes from
 * cycle to cycle.
 */
#include <string.h>

#include "model/timing.h"
#include "tests/sim/ahead_trace.h"
#include "tests/sim/random.h"
#include "tests/tap/tap.h"

#define LENGTH 3000
static struct plain {
	uint64_t cycle, count[CP_SIM_NCOUNTERS];
	uint64_t ready[REGISTERS]; /* 0: long ago */
	int level[REGISTERS];
	uint64_t came[REGISTERS]; /* the line that it hangs on */
	uint64_t line[LENGTH];    /* of each instruction that loads: when it is there */
	int line_level[LENGTH];
	int stored;
	uint64_t store[LENGTH]; /* of each store that misses: when it leaves */
	int after_branch, condition;
	uint64_t known, condition_came; /* of the branch before */
	uint32_t resolves;
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
		uint64_t resolved = plain.cycle + plain.resolves;

		while (plain_chains(plain.condition_of) > plain.cycle)
			plain_tick(CP_SIM_time_issue);
		while (plain.known > plain.cycle)
			plain_tick(plain.cycle < plain.condition_came
					   ? stack[plain.condition]
					   : CP_SIM_time_issue);
		while (resolved > plain.cycle)
			plain_tick(CP_SIM_time_branch);
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

static void plain_put(
	const struct instruction *i, uint64_t ready, uint64_t came, int level)
{
	if (i->to == NONE)
		return;
	plain.ready[i->to] = ready;
	plain.came[i->to] = came;
	plain.level[i->to] = level;
}

static void plain_load(const struct machine *m, const struct instruction *i, int number)
{
	const uint32_t latency[] = {m->time.l2, m->time.llc, m->time.memory};
	uint64_t address = plain_ready(i->from, 0),
		 chains = plain_chains(plain_made_of(i->from));
	int level = i->from == NONE ? 0 : plain.level[i->from];

	if (i->level == 3) {
		plain_put(i, plain_ready(i->from, (int)m->ooo.l1),
			i->from == NONE ? 0 : plain.came[i->from], level);
		return;
	}
	address = address > chains ? address : chains;
	plain.line[number] =
		(address > plain.cycle ? address : plain.cycle) + latency[i->level];
	plain.line_level[number] = i->level;
	plain.in_chain[number] = i->chain && !i->beside && plain.chain[i->to] &&
				 plain_made_of(i->from) >> i->to & 1;
	plain_put(i, plain.line[number], plain.line[number], i->level);
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

/* The later one of both values; of two at once, the one whose line came first. */
static void plain_operate(const struct instruction *i)
{
	uint64_t one = plain_ready(i->from, i->latency),
		 other = plain_ready(i->other, i->latency);
	int of = i->from;

	if (of == NONE || other > one ||
		(i->other != NONE && other == one &&
			plain.came[i->other] < plain.came[of]))
		of = i->other;
	if (of == NONE)
		plain_put(i, 0, 0, 0);
	else
		plain_put(i, one > other ? one : other, plain.came[of], plain.level[of]);
}

static void plain_do(const struct machine *m, const struct instruction *i, int number)
{
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
		plain.condition_came = i->from == NONE ? 0 : plain.came[i->from];
		plain.condition_of = of;
		break;
	default:
		plain_operate(i);
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
	uint32_t resolves;

	memset(&plain, 0, sizeof(plain));
	m.ooo.window = 8 + random_below(60);
	m.ooo.width = 100 * (1 + random_below(4));
	m.time.memory = 40 + random_below(200);
	m.time.write_buffers = random_below(5);
	reach = 4 + (int)random_below(m.ooo.window - 3);
	begin(&m);
	for (int n = 0; n < LENGTH; n++) {
		i = pick(n == 0 || i.what == A_BRANCH, i.begins ? 0 : superblock_loads());
		i.reach = reach;
		resolves = random_below(i.what == A_BRANCH ? 30 : 1);
		plain_do(&m, &i, n);
		plain.resolves = i.what == A_BRANCH ? resolves : plain.resolves;
		execute_at(&i, next_line(), resolves);
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
	for (int i = 0; i < 40; i++)
		random_trace(i);
	return 0;
}
