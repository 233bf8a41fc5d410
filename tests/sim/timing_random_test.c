/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The timing model: random traces against a model that goes from cycle to cycle.
 */
#include <string.h>
#include "model/model.h"
#include "model/timing.h"
#include "tests/sim/one_core.h"
#include "tests/sim/random.h"
#include "tests/sim/small.h"
#include "tests/tap/tap.h"

static const struct machine small = SMALL_TIMED;

#define ENTRIES 300
struct plain {
	struct latencies of;
	uint64_t cycle, count[CP_SIM_NCOUNTERS];
	uint32_t filling[4], writing[4]; /* cycles to go; 0: free */
	uint32_t nwriting;
	struct {
		uint64_t instruction;
		uint32_t left, level; /* cycles to go */
	} value[ENTRIES];
	uint32_t nvalues;
};

/* A cycle passes. */
static void tick(struct plain *p)
{
	p->cycle++;
	for (uint32_t i = 0; i < 4; i++)
		p->filling[i] -= p->filling[i] > 0;
	for (uint32_t i = 0; i < p->nvalues; i++)
		p->value[i].left -= p->value[i].left > 0;
	if (p->nwriting && --p->writing[0] == 0) {
		memmove(p->writing, p->writing + 1, 3 * sizeof(p->writing[0]));
		p->nwriting--;
	}
}

/* The value that this instruction waits for: of the earliest one's, the first. */
static int awaited(const struct plain *p, uint64_t instruction)
{
	int found = -1;

	for (uint32_t i = 0; i < p->nvalues; i++)
		if (p->value[i].left && p->value[i].instruction <= instruction &&
			(found < 0 ||
				p->value[i].instruction < p->value[found].instruction))
			found = (int)i;
	return found;
}

static const enum cp_sim_counter stack[] = {
	CP_SIM_time_l2, CP_SIM_time_llc, CP_SIM_time_memory};

static void plain_values(struct plain *p, uint64_t instruction)
{
	int i;

	while ((i = awaited(p, instruction)) >= 0) {
		p->count[stack[p->value[i].level]]++;
		p->count[CP_SIM_value_stall_cycles]++;
		p->count[CP_SIM_value_stall_beyond_l2] += p->value[i].level >= 1;
		p->count[CP_SIM_value_stall_memory] += p->value[i].level == 2;
		tick(p);
	}
}

static void plain_wait(struct plain *p, uint32_t cycles, enum cp_sim_counter why,
	enum cp_sim_counter of_stack)
{
	for (; cycles; cycles--) {
		p->count[why]++;
		p->count[of_stack]++;
		tick(p);
	}
}

static uint32_t *plain_free_buffer(struct plain *p)
{
	for (uint32_t i = 0; i < p->of.fill_buffers; i++)
		if (!p->filling[i])
			return &p->filling[i];
	return NULL;
}

static void plain_fill(struct plain *p, uint32_t level, uint64_t used_by, int is_load)
{
	const uint32_t latency[] = {p->of.l2, p->of.llc, p->of.memory};
	uint32_t i;

	p->count[CP_SIM_buffer_full_events] += !plain_free_buffer(p);
	while (!plain_free_buffer(p))
		plain_wait(p, 1, CP_SIM_buffer_full_cycles, CP_SIM_time_bandwidth);
	*plain_free_buffer(p) = latency[level];
	if (!is_load)
		return;
	p->count[CP_SIM_load_latency_cycles] += latency[level];
	for (i = 0; i < p->nvalues && p->value[i].left; i++)
		;
	/* In the order of the loads. */
	if (i < p->nvalues) {
		memmove(&p->value[i], &p->value[i + 1],
			(p->nvalues - i - 1) * sizeof(p->value[0]));
		p->nvalues--;
	}
	i = p->nvalues++;
	p->value[i].instruction = used_by;
	p->value[i].left = latency[level];
	p->value[i].level = level;
}

static void plain_write(struct plain *p)
{
	p->count[CP_SIM_buffer_full_events] += p->nwriting == p->of.write_buffers;
	while (p->nwriting == p->of.write_buffers)
		plain_wait(p, 1, CP_SIM_buffer_full_cycles, CP_SIM_time_store);
	p->writing[p->nwriting++] = p->of.l2;
}

/* The effect of an instruction. */
struct deed {
	uint32_t itlb, itlb_walk, code_level; /* 3: no line */
	uint32_t dtlb, dtlb_walk, level, is_load, writes, used;
};

static struct deed pick_deed(void)
{
	struct deed d = {.code_level = 3, .level = 3};

	if (random_below(12) == 0)
		d.itlb_walk = (d.itlb = 1) & (uint32_t)random_below(2);
	if (random_below(8) == 0)
		d.code_level = (uint32_t)random_below(3);
	if (random_below(8) == 0)
		d.dtlb_walk = (d.dtlb = 1) & (uint32_t)random_below(2);
	if (random_below(2))
		d.level = (uint32_t)random_below(3);
	d.is_load = random_below(3) != 0;
	d.writes = random_below(3) == 0 ? 1 + (uint32_t)random_below(2) : 0;
	d.used = (uint32_t)random_below(12);
	return d;
}

static void plain_do(struct plain *p, const struct deed *d, uint64_t instruction)
{
	const uint32_t latency[] = {p->of.l2, p->of.llc, p->of.memory};
	uint32_t itlb = d->itlb_walk ? p->of.walk : d->itlb ? p->of.stlb : 0;
	uint32_t dtlb = d->dtlb_walk ? p->of.walk : d->dtlb ? p->of.stlb : 0;

	plain_wait(p, itlb, CP_SIM_ifetch_stall_cycles, CP_SIM_time_tlb);
	p->count[CP_SIM_itlb_walk_cycles] += d->itlb_walk ? itlb : 0;
	if (d->code_level < 3)
		plain_wait(p, latency[d->code_level], CP_SIM_ifetch_stall_cycles,
			stack[d->code_level]);
	plain_wait(p, dtlb, CP_SIM_dtlb_stall_cycles, CP_SIM_time_tlb);
	p->count[CP_SIM_dtlb_walk_cycles] += d->dtlb_walk ? dtlb : 0;
	if (d->level < 3)
		plain_fill(p, d->level, instruction + d->used, d->is_load);
	for (uint32_t i = 0; i < d->writes; i++)
		plain_write(p);
}

static void model_do(const struct deed *d, uint64_t instruction)
{
	uint64_t *n = core->count;
	uint32_t store = !d->is_load;

	n[CP_SIM_itlb_misses] += d->itlb;
	n[CP_SIM_itlb_walks] += d->itlb_walk;
	n[CP_SIM_l1i_misses] += d->code_level < 3;
	n[CP_SIM_l2_ifetch_misses] += d->code_level == 1 || d->code_level == 2;
	n[CP_SIM_llc_ifetch_misses] += d->code_level == 2;
	n[CP_SIM_dtlb_load_pages + store] += d->dtlb;
	n[CP_SIM_dtlb_load_walks + store] += d->dtlb_walk;
	n[CP_SIM_l1d_load_lines + store] += d->level < 3;
	n[CP_SIM_l2_load_lines + store] += d->level == 1 || d->level == 2;
	n[CP_SIM_llc_load_lines + store] += d->level == 2;
	n[CP_SIM_l1d_writebacks] += d->writes;
	timing_observe(
		core, &(struct batch_origin){.number = instruction, .used = d->used});
}

static void compare(const struct plain *p, const uint64_t *got, int round)
{
	int same = got[CP_SIM_cycles] == p->cycle;

	for (int i = CP_SIM_cycles + 1; i < CP_SIM_NCOUNTERS; i++)
		same &= got[i] == p->count[i];
	ok(same, "random trace %d", round);
	for (int i = CP_SIM_cycles; !same && i < CP_SIM_NCOUNTERS; i++)
		diag("counter %d: %llu, from cycle to cycle %llu", i,
			(unsigned long long)got[i],
			(unsigned long long)(i == CP_SIM_cycles ? p->cycle
								: p->count[i]));
}

/* Collected at any time: only instructions that have not been reached wait then. */
static void random_trace(int round)
{
	uint64_t got[CP_SIM_NCOUNTERS] = {0}, instruction = 0;
	struct machine m = small;
	static struct plain p;

	memset(&p, 0, sizeof(p));
	m.time.fill_buffers = 1 + (uint32_t)random_below(4);
	m.time.write_buffers = 1 + (uint32_t)random_below(4);
	m.time.memory = 31 + (uint32_t)random_below(100);
	p.of = m.time;
	begin_core(&m);
	for (int i = 0; i < 3000; i++) {
		struct deed d = pick_deed();
		uint64_t skip = random_below(4), collected = random_below(50) == 0;

		for (uint64_t k = 0; k <= skip; k++) {
			plain_values(&p, instruction + k);
			if (k == skip)
				plain_do(&p, &d, instruction + k);
			/* An instruction that uses its own value does before the next. */
			plain_values(&p, instruction + k);
			p.count[CP_SIM_time_issue]++;
			tick(&p);
		}
		model_do(&d, skip + core->count[CP_SIM_instructions]);
		core->count[CP_SIM_instructions] += skip + 1;
		instruction += skip + 1;
		if (!collected && i < 2999)
			continue;
		timing_collect(core);
		for (int c = 0; c < CP_SIM_NCOUNTERS; c++)
			got[c] += core->count[c];
		memset(core->count, 0, sizeof(core->count));
	}
	/* Whoever comes next has waited already. */
	plain_values(&p, instruction);
	compare(&p, got, round);
	end_core();
}

int main(void)
{
	plan(40);
	for (int i = 0; i < 40; i++)
		random_trace(i);
	return 0;
}
