/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timing.h"
#include "host.h"

/* More than a stretch of code can load. */
#define MAX_AWAITED 256

/* The counters that tell what a reference did. */
#define FIRST CP_SIM_l1i_misses
#define SEEN (CP_SIM_l1d_half_writebacks + 1 - FIRST)
#define AT(counter) (CP_SIM_##counter - FIRST)

enum level { SECOND, LAST, MEMORY, NLEVELS };

/* A load's line that somebody will wait for. */
struct awaited {
	uint64_t instruction, ready;
	enum level level;
};

struct timing {
	struct latencies of;
	uint32_t latency[NLEVELS];
	uint32_t drain; /* of an entry of the write buffer */
	uint32_t has_second, has_last, allocates, halves;

	uint64_t before; /* instructions up to the last collect */
	/* An instruction, and the cycle in which it is. */
	uint64_t instruction, now;
	uint64_t told; /* the cycle that counters know of */

	uint64_t fill[TIMING_BUFFERS];  /* the cycle from which each is free */
	uint64_t write[TIMING_BUFFERS]; /* the same, a ring: */
	uint32_t oldest;
	uint64_t drained; /* the newest entry */

	uint32_t nawaited;
	struct awaited awaited[MAX_AWAITED];

	uint64_t seen[SEEN]; /* of the core, at the last reference */
};

/* ---- the passing of time ---- */

/* Cycles that the instruction waits, for two reasons at most that are counted. */
static void wait_until(struct core *core, uint64_t cycle, enum cp_sim_counter why)
{
	struct timing *t = core->timing;

	if (cycle <= t->now)
		return;
	core->count[why] += cycle - t->now;
	t->now = cycle;
}

static void wait(struct core *core, uint64_t cycles, enum cp_sim_counter why)
{
	wait_until(core, core->timing->now + cycles, why);
}

static void issue(struct timing *t, uint64_t instruction)
{
	if (instruction <= t->instruction)
		return;
	t->now += instruction - t->instruction;
	t->instruction = instruction;
}

/* The one that the earliest instruction waits for; of several the one that was asked
 * for first. */
static uint32_t next_awaited(const struct timing *t)
{
	uint32_t next = 0;

	for (uint32_t i = 1; i < t->nawaited; i++)
		if (t->awaited[i].instruction < t->awaited[next].instruction)
			next = i;
	return next;
}

static void wait_for_value(struct core *core, const struct awaited *a)
{
	struct timing *t = core->timing;
	uint64_t late = a->ready > t->now ? a->ready - t->now : 0;

	if (a->level >= LAST)
		core->count[CP_SIM_value_stall_beyond_l2] += late;
	if (a->level == MEMORY)
		core->count[CP_SIM_value_stall_memory] += late;
	wait_until(core, a->ready, CP_SIM_value_stall_cycles);
}

/* Up to this instruction, with all that it and those before it wait for. */
static void advance(struct core *core, uint64_t instruction)
{
	struct timing *t = core->timing;

	while (t->nawaited) {
		uint32_t next = next_awaited(t);
		struct awaited a = t->awaited[next];

		if (a.instruction > instruction)
			break;
		t->nawaited--;
		for (uint32_t i = next; i < t->nawaited; i++)
			t->awaited[i] = t->awaited[i + 1];
		issue(t, a.instruction);
		wait_for_value(core, &a);
	}
	issue(t, instruction);
}

/* ---- buffers ---- */

static void wait_for_buffer(struct core *core, uint64_t free)
{
	if (free <= core->timing->now)
		return;
	core->count[CP_SIM_buffer_full_events]++;
	wait_until(core, free, CP_SIM_buffer_full_cycles);
}

/* From now on, for so many cycles; returns until when. */
static uint64_t take_fill_buffer(struct core *core, uint32_t cycles)
{
	struct timing *t = core->timing;
	uint32_t first = 0;

	if (!t->of.fill_buffers)
		return t->now + cycles;
	for (uint32_t i = 1; i < t->of.fill_buffers; i++)
		if (t->fill[i] < t->fill[first])
			first = i;
	wait_for_buffer(core, t->fill[first]);
	return t->fill[first] = t->now + cycles;
}

static void take_write_buffer(struct core *core)
{
	struct timing *t = core->timing;
	uint64_t *entry = &t->write[t->oldest];

	if (!t->of.write_buffers)
		return;
	wait_for_buffer(core, *entry);
	t->drained = (t->drained > t->now ? t->drained : t->now) + t->drain;
	*entry = t->drained;
	t->oldest = (t->oldest + 1) % t->of.write_buffers;
}

/* ---- what a reference did ----
 *
 * by: what the counters have grown by. */

/* The lines that misses of L1 brought, by the level that had them: `first` is the
 * counter of L2's instruction misses and its like. */
static void split(const struct timing *t, const uint64_t *by, uint64_t missed,
	enum access kind, uint64_t lines[NLEVELS])
{
	uint64_t beyond = t->has_second ? by[AT(l2_ifetch_misses) + kind] : missed;
	uint64_t memory = t->has_last ? by[AT(llc_ifetch_misses) + kind] : beyond;

	beyond = beyond < missed ? beyond : missed;
	memory = memory < beyond ? memory : beyond;
	lines[SECOND] = missed - beyond;
	lines[LAST] = beyond - memory;
	lines[MEMORY] = memory;
}

static void translate(struct core *core, uint64_t misses, uint64_t walks,
	enum cp_sim_counter stall, enum cp_sim_counter walk)
{
	const struct latencies *of = &core->timing->of;

	wait(core, (misses - walks) * of->stlb + walks * of->walk, stall);
	core->count[walk] += walks * of->walk;
}

static void fetch(struct core *core, const uint64_t *by)
{
	struct timing *t = core->timing;
	uint64_t lines[NLEVELS];

	translate(core, by[AT(itlb_misses)], by[AT(itlb_walks)],
		CP_SIM_ifetch_stall_cycles, CP_SIM_itlb_walk_cycles);
	split(t, by, by[AT(l1i_misses)], IFETCH, lines);
	for (int level = 0; level < NLEVELS; level++)
		wait(core, lines[level] * t->latency[level], CP_SIM_ifetch_stall_cycles);
}

static void await(
	struct core *core, uint64_t instruction, uint64_t ready, enum level level)
{
	struct timing *t = core->timing;

	if (t->nawaited == MAX_AWAITED)
		advance(core, t->awaited[next_awaited(t)].instruction);
	t->awaited[t->nawaited++] = (struct awaited){instruction, ready, level};
}

/* One line for a load or a store.  from_core: another core had it modified. */
static void fill(struct core *core, enum access kind, enum level level, int from_core,
	uint64_t used_by)
{
	struct timing *t = core->timing;
	uint32_t latency = t->latency[level];
	uint64_t ready;

	if (from_core && t->of.cache_to_cache)
		latency = t->of.cache_to_cache;
	ready = take_fill_buffer(core, latency);
	if (kind != LOAD)
		return;
	core->count[CP_SIM_load_latency_cycles] += latency;
	core->count[CP_SIM_loads_cache_to_cache] += (uint64_t)from_core;
	await(core, used_by, ready, level);
}

/* The farthest first; what came from another core is the farthest. */
static void fill_all(struct core *core, const uint64_t *by, uint64_t missed,
	enum access kind, uint64_t used_by)
{
	uint64_t lines[NLEVELS], from_core = by[AT(hitm)];

	split(core->timing, by, missed, kind, lines);
	for (int level = MEMORY; level >= SECOND; level--)
		for (uint64_t i = 0; i<lines[level]; i++, from_core -= from_core> 0)
			fill(core, kind, (enum level)level, from_core > 0, used_by);
}

static void write_all(struct core *core, const uint64_t *by)
{
	const struct timing *t = core->timing;
	uint64_t entries = by[AT(l1d_writes_through)];

	entries += t->halves ? by[AT(l1d_half_writebacks)] : by[AT(l1d_writebacks)];
	while (entries--)
		take_write_buffer(core);
}

static void data(struct core *core, const uint64_t *by, uint64_t used_by)
{
	translate(core, by[AT(dtlb_load_misses)] + by[AT(dtlb_store_misses)],
		by[AT(dtlb_load_walks)] + by[AT(dtlb_store_walks)],
		CP_SIM_dtlb_stall_cycles, CP_SIM_dtlb_walk_cycles);
	fill_all(core, by, by[AT(l1d_load_misses)] + by[AT(l1d_bypasses)], LOAD, used_by);
	if (core->timing->allocates)
		fill_all(core, by, by[AT(l1d_store_misses)], STORE, used_by);
	write_all(core, by);
}

/* Where anything takes time, one of these counters has grown. */
static int is_quiet(const uint64_t *now, const uint64_t *seen)
{
	static const uint8_t telling[] = {AT(l1i_misses), AT(l1d_load_misses),
		AT(l1d_store_misses), AT(l1d_writebacks), AT(itlb_misses),
		AT(dtlb_load_misses), AT(dtlb_store_misses), AT(l1d_bypasses),
		AT(l1d_writes_through)};
	uint64_t changed = 0;

#pragma GCC unroll 16
	for (uint32_t i = 0; i < sizeof(telling); i++)
		changed |= now[telling[i]] ^ seen[telling[i]];
	return !changed;
}

void timing_observe(struct core *core, const struct batch_origin *origin)
{
	struct timing *t = core->timing;
	const uint64_t *now = &core->count[FIRST];
	uint64_t by[SEEN], instruction;

	if (!t || is_quiet(now, t->seen))
		return;
	for (uint32_t i = 0; i < SEEN; i++) {
		by[i] = now[i] - t->seen[i];
		t->seen[i] = now[i];
	}
	instruction = t->before + origin->number;
	advance(core, instruction);
	fetch(core, by);
	data(core, by, instruction + origin->used);
}

void timing_collect(struct core *core)
{
	struct timing *t = core->timing;

	if (!t)
		return;
	t->before += core->count[CP_SIM_instructions];
	advance(core, t->before);
	core->count[CP_SIM_cycles] += t->now - t->told;
	t->told = t->now;
	for (uint32_t i = 0; i < SEEN; i++)
		t->seen[i] = 0;
}

/* ---- its life ---- */

/* Of what L1D writes to. */
static uint32_t next_latency(const struct machine *m)
{
	if (m->l2.sets)
		return m->time.l2;
	return m->llc.sets ? m->time.llc : m->time.memory;
}

struct timing *timing_new(const struct machine *m)
{
	struct timing *t = host_alloc(sizeof(*t));

	if (!t)
		return 0;
	t->of = m->time;
	t->latency[SECOND] = m->time.l2;
	t->latency[LAST] = m->time.llc;
	t->latency[MEMORY] = m->time.memory;
	t->drain = next_latency(m);
	t->has_second = m->l2.sets != 0;
	t->has_last = m->llc.sets != 0;
	t->allocates = !m->l1d.no_allocate;
	t->halves = m->l1d.halves;
	return t;
}

void timing_free(struct timing *t)
{
	if (t)
		host_free(t, sizeof(*t));
}
