/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timing.h"
#include "host.h"

/* More than a stretch of code can load. */
#define MAX_AWAITED 256

/* The counters that tell what a reference did. */
#define FIRST CP_SIM_l1i_misses
#define SEEN (CP_SIM_l1d_half_writebacks + 1 - FIRST)
#define AT(counter) (CP_SIM_##counter - FIRST)

/* Where lines come from, the nearest first. */
enum level { SECOND, LAST, MEMORY, ONE_HOP, TWO_HOPS, NLEVELS };

/* Of those with another core's lines: whose caches had them. */
enum owner { NOBODY, NEAR_CORE, FAR_CORE, NOWNERS };

/* A load's line that somebody will wait for. */
struct awaited {
	uint64_t instruction, ready;
	enum level level;
};

struct timing {
	struct latencies of;
	uint32_t latency[NOWNERS][NLEVELS];
	uint32_t drain; /* of an entry of the write buffer */
	uint32_t has_second, has_last, halves;
	uint64_t allocates; /* all ones, or 0 */

	uint64_t before; /* instructions up to the last collect */
	/* An instruction, and the cycle in which it is. */
	uint64_t instruction, now;
	uint64_t told; /* the cycle that counters know of */

	uint32_t next_fill;             /* most likely free */
	uint64_t fill[TIMING_BUFFERS];  /* the cycle from which each is free */
	uint64_t write[TIMING_BUFFERS]; /* the same, a ring: */
	uint32_t oldest;
	uint64_t drained; /* the newest entry */

	/* In the order of the instructions that wait; those before `waiting` have. */
	uint32_t waiting, nawaited;
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

/* What waited for a value that came so much later. */
LANES_INLINE void count_late(struct core *core, enum level level, uint64_t late)
{
	if (level >= LAST)
		core->count[CP_SIM_value_stall_beyond_l2] += late;
	if (level >= MEMORY)
		core->count[CP_SIM_value_stall_memory] += late;
	core->count[CP_SIM_value_stall_cycles] += late;
}

/* Up to this instruction, with all that it and those before it wait for.  Variables,
 * because the compiler would store and load what it must take for a counter. */
LANES_INLINE void advance(struct core *core, uint64_t instruction)
{
	struct timing *t = core->timing;
	uint64_t now = t->now, at = t->instruction;
	uint32_t i = t->waiting, n = t->nawaited;

	for (; i < n && t->awaited[i].instruction <= instruction; i++) {
		const struct awaited *a = &t->awaited[i];
		uint64_t ready = a->ready;

		if (a->instruction > at) {
			now += a->instruction - at;
			at = a->instruction;
		}
		if (ready <= now)
			continue;
		count_late(core, a->level, ready - now);
		now = ready;
	}
	t->waiting = i < n ? i : 0;
	t->nawaited = i < n ? n : 0;
	t->now = instruction > at ? now + instruction - at : now;
	t->instruction = instruction > at ? instruction : at;
}

/* Of those that wait for the end of the list, the first ones have to go earlier. */
static __attribute__((noinline)) void make_place(struct core *core)
{
	struct timing *t = core->timing;

	if (!t->waiting)
		advance(core, t->awaited[0].instruction);
	for (uint32_t i = t->waiting; i < t->nawaited; i++)
		t->awaited[i - t->waiting] = t->awaited[i];
	t->nawaited -= t->waiting;
	t->waiting = 0;
}

/* Behind those that earlier instructions wait for, and the same one. */
LANES_INLINE void await(struct core *core, struct awaited a)
{
	struct timing *t = core->timing;
	uint32_t i;

	if (__builtin_expect(t->nawaited == MAX_AWAITED, 0))
		make_place(core);
	for (i = t->nawaited++;
		i > t->waiting && t->awaited[i - 1].instruction > a.instruction; i--)
		t->awaited[i] = t->awaited[i - 1];
	t->awaited[i] = a;
}

/* ---- buffers ---- */

static void wait_for_buffer(struct core *core, uint64_t free)
{
	if (free <= core->timing->now)
		return;
	core->count[CP_SIM_buffer_full_events]++;
	wait_until(core, free, CP_SIM_buffer_full_cycles);
}

/* Any that is free; else the first that will be. */
static uint32_t find_fill_buffer(const struct timing *t)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < t->of.fill_buffers; i++)
		if (t->fill[i] < t->fill[first])
			first = i;
	return first;
}

/* From now on, for so many cycles; returns until when. */
LANES_INLINE uint64_t take_fill_buffer(struct core *core, uint32_t cycles)
{
	struct timing *t = core->timing;
	uint32_t i = t->next_fill;

	if (!t->of.fill_buffers)
		return t->now + cycles;
	if (t->fill[i] > t->now) {
		i = find_fill_buffer(t);
		wait_for_buffer(core, t->fill[i]);
	}
	t->next_fill = i + 1 < t->of.fill_buffers ? i + 1 : 0;
	return t->fill[i] = t->now + cycles;
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
	t->oldest = t->oldest + 1 < t->of.write_buffers ? t->oldest + 1 : 0;
}

/* ---- what a reference did ---- */

/* The core's counters now and at the last reference. */
struct change {
	const uint64_t *now, *seen;
};

#define GREW(by, counter) ((by)->now[AT(counter)] - (by)->seen[AT(counter)])

/* Lines that L1 missed, and those of them that L2 and the last level did, that other
 * sockets' memory had, and that caches had modified: another core's, another socket's. */
struct missed {
	uint64_t l1, l2, llc, one_hop, two_hops, modified, remote;
};

/* Where a line came from if it is the only one. */
LANES_INLINE enum level level_of(const struct timing *t, const struct missed *m)
{
	if (t->has_second && !m->l2)
		return SECOND;
	if (t->has_last && !m->llc)
		return LAST;
	return MEMORY + (m->one_hop ? 1 : m->two_hops ? 2 : 0);
}

static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

/* The same of several. */
static void split(const struct timing *t, const struct missed *m, uint64_t lines[NLEVELS])
{
	uint64_t beyond = t->has_second ? at_most(m->l2, m->l1) : m->l1,
		 memory = t->has_last ? at_most(m->llc, beyond) : beyond;

	lines[SECOND] = m->l1 - beyond;
	lines[LAST] = beyond - memory;
	lines[ONE_HOP] = at_most(m->one_hop, memory);
	lines[TWO_HOPS] = at_most(m->two_hops, memory - lines[ONE_HOP]);
	lines[MEMORY] = memory - lines[ONE_HOP] - lines[TWO_HOPS];
}

LANES_INLINE void translate(struct core *core, uint64_t misses, uint64_t walks,
	enum cp_sim_counter stall, enum cp_sim_counter walk)
{
	const struct latencies *of = &core->timing->of;

	wait(core, (misses - walks) * of->stlb + walks * of->walk, stall);
	core->count[walk] += walks * of->walk;
}

static __attribute__((noinline)) void fetch(struct core *core, const struct change *by)
{
	struct timing *t = core->timing;
	uint64_t lines[NLEVELS];

	translate(core, GREW(by, itlb_misses), GREW(by, itlb_walks),
		CP_SIM_ifetch_stall_cycles, CP_SIM_itlb_walk_cycles);
	split(t,
		&(struct missed){GREW(by, l1i_misses), GREW(by, l2_ifetch_misses),
			GREW(by, llc_ifetch_misses),
			GREW(by, one_hop_lines) - GREW(by, loads_one_hop),
			GREW(by, two_hop_lines) - GREW(by, loads_two_hop), 0, 0},
		lines);
	for (int level = 0; level < NLEVELS; level++)
		wait(core, lines[level] * t->latency[NOBODY][level],
			CP_SIM_ifetch_stall_cycles);
}

/* One line for a load or a store. */
LANES_INLINE void fill(struct core *core, enum access kind, enum level level,
	enum owner owner, uint64_t used_by)
{
	struct timing *t = core->timing;
	uint32_t latency = t->latency[owner][level];
	uint64_t ready;

	ready = take_fill_buffer(core, latency);
	if (kind != LOAD)
		return;
	core->count[CP_SIM_load_latency_cycles] += latency;
	await(core, (struct awaited){used_by, ready, level});
}

LANES_INLINE enum owner owner_of(const struct missed *m)
{
	return !m->modified ? NOBODY : m->remote ? FAR_CORE : NEAR_CORE;
}

/* The farthest first; what came from another core is the farthest of what did not come
 * from another socket's memory. */
static __attribute__((noinline)) void fill_several(
	struct core *core, enum access kind, struct missed m, uint64_t used_by)
{
	uint64_t lines[NLEVELS];

	split(core->timing, &m, lines);
	for (int level = TWO_HOPS; level >= SECOND; level--)
		for (uint64_t i = 0; i < lines[level]; i++) {
			enum owner owner = level > MEMORY ? NOBODY : owner_of(&m);

			fill(core, kind, (enum level)level, owner, used_by);
			m.modified -= owner != NOBODY;
			m.remote -= owner == FAR_CORE;
		}
}

LANES_INLINE void fill_all(
	struct core *core, enum access kind, struct missed m, uint64_t used_by)
{
	if (__builtin_expect(m.l1 == 1, 1))
		fill(core, kind, level_of(core->timing, &m), owner_of(&m), used_by);
	else
		fill_several(core, kind, m, used_by);
}

/* What a reference did most of all. */
struct deed {
	uint64_t code, pages, loads, stores, writes;
};

/* Of a plain machine: much of what others count cannot be there. */
LANES_INLINE struct deed plain_deed(const struct change *by)
{
	return (struct deed){
		.code = GREW(by, l1i_misses) + GREW(by, itlb_misses),
		.pages = GREW(by, dtlb_load_misses) + GREW(by, dtlb_store_misses),
		.loads = GREW(by, l1d_load_misses),
		.stores = GREW(by, l1d_store_misses),
		.writes = GREW(by, l1d_writebacks),
	};
}

LANES_INLINE struct deed deed_of(const struct timing *t, const struct change *by)
{
	struct deed did = plain_deed(by);

	did.loads += GREW(by, l1d_bypasses);
	did.stores &= t->allocates;
	if (t->halves)
		did.writes = GREW(by, l1d_half_writebacks);
	did.writes += GREW(by, l1d_writes_through);
	return did;
}

LANES_INLINE int is_nothing(const struct deed *did)
{
	return !(did->code | did->pages | did->loads | did->stores | did->writes);
}

static void data(struct core *core, const struct change *by, const struct deed *did,
	uint64_t used_by)
{
	if (did->pages)
		translate(core, did->pages,
			GREW(by, dtlb_load_walks) + GREW(by, dtlb_store_walks),
			CP_SIM_dtlb_stall_cycles, CP_SIM_dtlb_walk_cycles);
	if (did->loads)
		fill_all(core, LOAD,
			(struct missed){did->loads, GREW(by, l2_load_misses),
				GREW(by, llc_load_misses), GREW(by, loads_one_hop),
				GREW(by, loads_two_hop),
				GREW(by, hitm) | GREW(by, loads_cache_to_cache),
				GREW(by, loads_remote_cache)},
			used_by);
	if (did->stores)
		fill_all(core, STORE,
			(struct missed){did->stores, GREW(by, l2_store_misses),
				GREW(by, llc_store_misses),
				GREW(by, one_hop_lines) - GREW(by, loads_one_hop),
				GREW(by, two_hop_lines) - GREW(by, loads_two_hop),
				GREW(by, hitm) | GREW(by, remote_hitm),
				GREW(by, remote_hitm) - GREW(by, loads_remote_cache)},
			used_by);
	for (uint64_t entries = did->writes; entries; entries--)
		take_write_buffer(core);
}

typedef uint64_t pair __attribute__((vector_size(16), may_alias, aligned(8)));

LANES_INLINE void see(uint64_t *seen, const uint64_t *now)
{
	uint32_t i = 0;

#pragma GCC unroll 16
	for (; i + 2 <= SEEN; i += 2)
		*(pair *)&seen[i] = *(const pair *)&now[i];
	for (; i < SEEN; i++)
		seen[i] = now[i];
}

/* Of what a load changes on a plain machine. */
LANES_INLINE void see_load(struct timing *t, const uint64_t *now)
{
#define SEE(counter) t->seen[AT(counter)] = now[AT(counter)]
	SEE(l1d_load_misses);
	SEE(l1d_writebacks);
	SEE(l2_load_misses);
	SEE(llc_load_misses);
	SEE(dtlb_load_misses);
	SEE(dtlb_load_walks);
	SEE(hitm);
	SEE(loads_cache_to_cache);
#undef SEE
}

/* The commonest by far: a load of one line, and nothing else but its page.  To copy all
 * that is counted would cost as much as the rest. */
LANES_INLINE int is_load(const struct change *by, const struct deed *did)
{
	return did->loads == 1 &&
	       !(did->code | did->stores | GREW(by, dtlb_store_misses));
}

/* As translate and fill, at once. */
LANES_INLINE void load(struct core *core, const struct change *by, const struct deed *did,
	uint64_t used_by)
{
	struct timing *t = core->timing;
	struct missed missed = {1, GREW(by, l2_load_misses), GREW(by, llc_load_misses), 0,
		0, GREW(by, hitm) | GREW(by, loads_cache_to_cache), 0};
	uint64_t walks = GREW(by, dtlb_load_walks),
		 page = (did->pages - walks) * t->of.stlb + walks * t->of.walk;
	enum level level = level_of(t, &missed);
	uint32_t latency = t->latency[owner_of(&missed)][level];

	core->count[CP_SIM_dtlb_stall_cycles] += page;
	core->count[CP_SIM_dtlb_walk_cycles] += walks * t->of.walk;
	core->count[CP_SIM_load_latency_cycles] += latency;
	t->now += page;
	await(core, (struct awaited){used_by, take_fill_buffer(core, latency), level});
	for (uint64_t entries = did->writes; entries; entries--)
		take_write_buffer(core);
}

static __attribute__((noinline)) void observe_any(struct core *core,
	const struct change *by, const struct deed *did, uint64_t instruction,
	uint32_t used)
{
	advance(core, instruction);
	if (did->code)
		fetch(core, by);
	data(core, by, did, instruction + used);
	see(core->timing->seen, by->now);
}

void timing_observe(struct core *core, const struct batch_origin *origin)
{
	struct timing *t = core->timing;
	struct change by;
	struct deed did;
	uint64_t instruction;

	if (!t)
		return;
	by = (struct change){&core->count[FIRST], t->seen};
	did = core->flex ? deed_of(t, &by) : plain_deed(&by);
	if (is_nothing(&did))
		return;
	instruction = t->before + origin->number;
	if (core->flex || !is_load(&by, &did)) {
		observe_any(core, &by, &did, instruction, origin->used);
		return;
	}
	advance(core, instruction);
	load(core, &by, &did, instruction + origin->used);
	see_load(t, by.now);
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

/* What nobody says of lines that were modified is as of others. */
static void set_latencies(struct timing *t, const struct machine *m)
{
	const struct latencies *of = &m->time;
	const uint32_t plain[NLEVELS] = {
		of->l2, of->llc, of->memory, of->one_hop, of->two_hops};
	uint32_t far = of->remote_cache ? of->remote_cache : of->one_hop;

	for (int level = 0; level < NLEVELS; level++) {
		t->latency[NOBODY][level] = plain[level];
		t->latency[NEAR_CORE][level] =
			of->cache_to_cache ? of->cache_to_cache : plain[level];
		t->latency[FAR_CORE][level] = far;
	}
}

struct timing *timing_new(const struct machine *m)
{
	struct timing *t = host_alloc(sizeof(*t));

	if (!t)
		return 0;
	t->of = m->time;
	set_latencies(t, m);
	t->drain = next_latency(m);
	t->has_second = m->l2.sets != 0;
	t->has_last = m->llc.sets != 0;
	t->allocates = m->l1d.no_allocate ? 0 : ~0ull;
	t->halves = m->l1d.halves;
	return t;
}

void timing_free(struct timing *t)
{
	if (t)
		host_free(t, sizeof(*t));
}
