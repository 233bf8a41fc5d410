/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/timing.h"
#include "model/ahead.h"
#include "model/deed.h"
#include "model/hidden.h"
#include "model/model.h"

/* More than a stretch of code can load. */
#define MAX_AWAITED 256

/* An instruction, and the cycles that it and those before it have waited: it is in the
 * cycle of their sum. */
struct clock {
	uint64_t instruction, delay;
};

/* A load's line that somebody will wait for: the delay then. */
struct awaited {
	uint64_t instruction, delay;
	enum level level;
};

/* Members that each miss uses come first, in few lines of the host's. */
struct timing {
	struct clock clock;
	uint64_t before;      /* instructions up to the last collect */
	uint64_t not_of_load; /* as in seen */
	/* The first of awaited that still waits, and how many there are. */
	uint32_t waiting, nawaited;
	uint32_t next_fill; /* most likely free */
	uint32_t oldest;    /* of the write buffer, a ring */
	uint64_t drained;   /* its newest entry */
	uint64_t told;      /* the cycle that counters know of */

	/* Cycles that no counter has. */
	uint64_t late[NLEVELS]; /* waited for lines */
	uint64_t data_pages, data_walks, load_latency;

	uint32_t drain; /* of an entry of the write buffer */
	struct reach reach;
	uint64_t fill[TIMING_BUFFERS]; /* the cycle from which each is free */
	uint64_t write[TIMING_BUFFERS];
	struct awaited awaited[MAX_AWAITED]; /* in the order of the instructions */
};

/* ---- the passing of time ---- */

LANES_INLINE uint64_t cycle_now(const struct clock *c)
{
	return c->instruction + c->delay;
}

/* Up to this instruction, with all that it and those before it wait for. */
LANES_INLINE void advance_to(struct timing *t, struct clock *c, uint64_t instruction)
{
	uint32_t i = t->waiting, n = t->nawaited;

	for (; i < n && t->awaited[i].instruction <= instruction; i++) {
		const struct awaited *a = &t->awaited[i];

		if (a->delay <= c->delay)
			continue;
		t->late[a->level] += a->delay - c->delay;
		c->delay = a->delay;
	}
	t->waiting = i < n ? i : 0;
	t->nawaited = i < n ? n : 0;
	c->instruction = instruction > c->instruction ? instruction : c->instruction;
}

/* Drops the first of those that wait, so that the list has room at its end.  A clock
 * that a call could change would have to be in memory: this returns it. */
static __attribute__((noinline)) struct clock make_place(struct timing *t, struct clock c)
{
	if (!t->waiting)
		advance_to(t, &c, t->awaited[0].instruction);
	for (uint32_t i = t->waiting; i < t->nawaited; i++)
		t->awaited[i - t->waiting] = t->awaited[i];
	t->nawaited -= t->waiting;
	t->waiting = 0;
	return c;
}

/* Behind those that earlier instructions wait for, and the same one.  A line that will
 * be there by then need not be noted: delays never shrink. */
LANES_INLINE void await_line(struct timing *t, struct clock *c, uint64_t instruction,
	uint64_t ready, enum level level)
{
	uint32_t i;

	if (ready <= instruction + c->delay)
		return;
	if (__builtin_expect(t->nawaited == MAX_AWAITED, 0))
		*c = make_place(t, *c);
	for (i = t->nawaited++;
		i > t->waiting && t->awaited[i - 1].instruction > instruction; i--)
		t->awaited[i] = t->awaited[i - 1];
	t->awaited[i] = (struct awaited){instruction, ready - instruction, level};
}

/* ---- buffers ---- */

LANES_INLINE void wait_for_buffer(
	struct core *core, struct clock *c, uint64_t free, enum cp_sim_counter stack)
{
	uint64_t cycles = free - cycle_now(c);

	core->count[CP_SIM_buffer_full_events]++;
	core->count[CP_SIM_buffer_full_cycles] += cycles;
	core->count[stack] += cycles;
	c->delay += cycles;
}

/* Any that is free; else the first that will be. */
static uint32_t find_fill_buffer(const struct timing *t)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < t->reach.of.fill_buffers; i++)
		if (t->fill[i] < t->fill[first])
			first = i;
	return first;
}

/* From now on, for so many cycles; returns until when. */
LANES_INLINE uint64_t take_fill_buffer(
	struct core *core, struct timing *t, struct clock *c, uint32_t cycles)
{
	uint32_t i = t->next_fill;

	if (!t->reach.of.fill_buffers)
		return cycle_now(c) + cycles;
	if (t->fill[i] > cycle_now(c)) {
		i = find_fill_buffer(t);
		if (t->fill[i] > cycle_now(c))
			wait_for_buffer(core, c, t->fill[i], CP_SIM_time_bandwidth);
	}
	t->next_fill = i + 1 < t->reach.of.fill_buffers ? i + 1 : 0;
	return t->fill[i] = cycle_now(c) + cycles;
}

LANES_INLINE void take_write_buffer(struct core *core, struct timing *t, struct clock *c)
{
	uint64_t *entry = &t->write[t->oldest];

	if (!t->reach.of.write_buffers)
		return;
	if (*entry > cycle_now(c))
		wait_for_buffer(core, c, *entry, CP_SIM_time_store);
	t->drained = (t->drained > cycle_now(c) ? t->drained : cycle_now(c)) + t->drain;
	*entry = t->drained;
	t->oldest = t->oldest + 1 < t->reach.of.write_buffers ? t->oldest + 1 : 0;
}

/* ---- what a reference did ---- */

static __attribute__((noinline)) void fetch_code(
	struct core *core, struct timing *t, struct clock *c, const struct change *by)
{
	c->delay += wait_for_code(core, &t->reach, by, 0);
}

/* One line for a load or a store; used: after so many instructions. */
LANES_INLINE void fill_line(struct core *core, struct timing *t, struct clock *c,
	enum access kind, enum level level, uint32_t latency, uint64_t used_by)
{
	uint64_t ready = take_fill_buffer(core, t, c, latency);

	if (kind != LOAD)
		return;
	t->load_latency += latency;
	await_line(
		t, c, used_by > c->instruction ? used_by : c->instruction, ready, level);
}

/* The farthest first; what came from another core is the farthest of what did not come
 * from another socket's memory. */
static __attribute__((noinline)) void fill_several(struct core *core, struct timing *t,
	struct clock *c, enum access kind, struct missed m, uint64_t used_by)
{
	uint64_t lines[NLEVELS];

	split_lines(&t->reach, &m, lines);
	for (int level = TWO_HOPS; level >= SECOND; level--)
		for (uint64_t i = 0; i < lines[level]; i++) {
			enum owner owner = level > MEMORY ? NOBODY : owner_of(&m);

			fill_line(core, t, c, kind, (enum level)level,
				t->reach.latency[owner][level], used_by);
			m.modified -= owner != NOBODY;
			m.remote -= owner == FAR_CORE;
		}
}

LANES_INLINE void fill_all(struct core *core, struct timing *t, struct clock *c,
	enum access kind, struct missed m, uint64_t used_by)
{
	enum level level = level_of(&t->reach, &m);

	if (__builtin_expect(m.l1 == 1, 1))
		fill_line(core, t, c, kind, level, t->reach.latency[owner_of(&m)][level],
			used_by);
	else
		fill_several(core, t, c, kind, m, used_by);
}

LANES_INLINE void translate_pages(
	struct timing *t, struct clock *c, uint64_t pages, uint64_t walks)
{
	uint64_t cycles = cycles_of_pages(&t->reach, pages, walks);

	t->data_pages += cycles;
	t->data_walks += walks;
	c->delay += cycles;
}

static void refer_to_data(struct core *core, struct timing *t, struct clock *c,
	const struct change *by, const struct deed *did, uint64_t used_by)
{
	if (did->pages)
		translate_pages(t, c, did->pages,
			GREW(by, dtlb_load_walks) + GREW(by, dtlb_store_walks));
	if (did->loads)
		fill_all(core, t, c, LOAD,
			(struct missed){did->loads, GREW(by, l2_load_lines),
				GREW(by, llc_load_lines), GREW(by, loads_one_hop),
				GREW(by, loads_two_hop),
				GREW(by, hitm) | GREW(by, loads_cache_to_cache),
				GREW(by, loads_remote_cache)},
			used_by);
	if (did->stores)
		fill_all(core, t, c, STORE,
			(struct missed){did->stores, GREW(by, l2_store_lines),
				GREW(by, llc_store_lines),
				GREW(by, one_hop_lines) - GREW(by, loads_one_hop),
				GREW(by, two_hop_lines) - GREW(by, loads_two_hop),
				GREW(by, hitm) | GREW(by, remote_hitm),
				GREW(by, remote_hitm) - GREW(by, loads_remote_cache)},
			used_by);
	for (uint64_t entries = did->writes; entries; entries--)
		take_write_buffer(core, t, c);
}

typedef uint64_t pair __attribute__((vector_size(16), may_alias, aligned(8)));

LANES_INLINE void see_counts(struct timing *t, const struct change *by)
{
	uint32_t i = 0;

	t->not_of_load = not_of_load(by);
#pragma GCC unroll 16
	for (; i + 2 <= SEEN; i += 2)
		*(pair *)&t->reach.seen[i] = *(const pair *)&by->now[i];
	for (; i < SEEN; i++)
		t->reach.seen[i] = by->now[i];
}

static __attribute__((noinline)) void observe_any(
	struct core *core, uint64_t instruction, uint32_t used)
{
	struct timing *t = core->timing;
	uint64_t room[SEEN];
	struct change by = {counts_for_time(core, room), t->reach.seen};
	struct deed did = deed_of(&t->reach, &by);
	struct clock c = t->clock;

	if (is_nothing(&did))
		return;
	advance_to(t, &c, instruction);
	if (did.code)
		fetch_code(core, t, &c, &by);
	refer_to_data(core, t, &c, &by, &did, instruction + used);
	t->load_latency -= take_hidden_latency(core);
	t->clock = c;
	see_counts(t, &by);
}

/* ---- the same of what is commonest by far ----
 *
 * A load or a store on a plain machine that missed one line, its page, or both, and did
 * nothing else.  To look at all that is counted would cost as much as the rest. */

/* How long a line from behind L2 takes, and from which level it comes. */
LANES_INLINE uint32_t latency_beyond(
	struct timing *t, const uint64_t *is, enum access kind, enum level *level)
{
	uint64_t beyond = TAKE(&t->reach, is, llc_load_lines, kind),
		 modified = take_growth(&t->reach.seen[AT(hitm)], &is[AT(hitm)]);

	if (kind == LOAD)
		modified |= take_growth(&t->reach.seen[AT(loads_cache_to_cache)],
			&is[AT(loads_cache_to_cache)]);
	*level = t->reach.has_last && !beyond ? LAST : MEMORY;
	return t->reach.latency[modified ? NEAR_CORE : NOBODY][*level];
}

LANES_INLINE void fill_one(struct core *core, struct timing *t, struct clock *c,
	enum access kind, uint64_t used_by)
{
	const uint64_t *is = &core->count[FIRST];
	uint64_t beyond = TAKE(&t->reach, is, l2_load_lines, kind);
	enum level level = SECOND;
	uint32_t latency = t->reach.of.l2;

	if (beyond || !t->reach.has_second)
		latency = latency_beyond(t, is, kind, &level);
	fill_line(core, t, c, kind, level, latency, used_by);
}

LANES_INLINE void observe_one(struct core *core, struct timing *t, enum access kind,
	uint64_t lines, uint64_t pages, uint64_t writes,
	const struct batch_origin *origin)
{
	const uint64_t *is = &core->count[FIRST];
	uint64_t instruction = t->before + origin->number;
	struct clock c = t->clock;

	advance_to(t, &c, instruction);
	if (pages)
		translate_pages(t, &c, pages, TAKE(&t->reach, is, dtlb_load_walks, kind));
	if (lines)
		fill_one(core, t, &c, kind, instruction + origin->used);
	t->reach.seen[AT(l1d_load_lines) + (kind == STORE)] += lines;
	t->reach.seen[AT(dtlb_load_pages) + (kind == STORE)] += pages;
	t->reach.seen[AT(l1d_writebacks)] += writes;
	for (; writes; writes--)
		take_write_buffer(core, t, &c);
	t->clock = c;
}

/* Nothing waits for the line of a store. */
static __attribute__((noinline)) void observe_plain(
	struct core *core, const struct batch_origin *origin)
{
	struct timing *t = core->timing;
	struct change by = {&core->count[FIRST], t->reach.seen};
	uint64_t lines = GREW(&by, l1d_store_lines), pages = GREW(&by, dtlb_store_pages),
		 others = GREW(&by, l1i_misses) | GREW(&by, itlb_misses) |
			  GREW(&by, l1d_load_lines) | GREW(&by, dtlb_load_pages);

	if (others || lines > 1) {
		observe_any(core, t->before + origin->number, origin->used);
		return;
	}
	observe_one(core, t, STORE, lines, pages, GREW(&by, l1d_writebacks), origin);
	t->not_of_load += lines + pages;
}

void timing_observe(struct core *core, const struct batch_origin *origin)
{
	struct timing *t = core->timing;
	struct change by;
	uint64_t lines, pages, writes;

	if (!t) {
		ahead_observe(core, origin);
		return;
	}
	if (core->flex) {
		observe_any(core, t->before + origin->number, origin->used);
		return;
	}
	by = (struct change){&core->count[FIRST], t->reach.seen};
	lines = GREW(&by, l1d_load_lines);
	pages = GREW(&by, dtlb_load_pages);
	writes = GREW(&by, l1d_writebacks);
	if (not_of_load(&by) != t->not_of_load || lines > 1)
		observe_plain(core, origin);
	else if (lines | pages | writes)
		observe_one(core, t, LOAD, lines, pages, writes, origin);
}

void timing_rounds(struct core *core, uint64_t rounds)
{
	if (!core->timing)
		return;
	core->timing->clock.delay += rounds;
	core->count[CP_SIM_time_issue] += rounds;
}

/* Moves a sum to the core's counter. */
static void tell_sum(struct core *core, enum cp_sim_counter counter, uint64_t *sum)
{
	core->count[counter] += *sum;
	*sum = 0;
}

static void tell_all(struct core *core, struct timing *t)
{
	for (enum level level = SECOND; level < NLEVELS; level++) {
		if (level >= LAST)
			core->count[CP_SIM_value_stall_beyond_l2] += t->late[level];
		if (level >= MEMORY)
			core->count[CP_SIM_value_stall_memory] += t->late[level];
		core->count[stack_of(level)] += t->late[level];
		tell_sum(core, CP_SIM_value_stall_cycles, &t->late[level]);
	}
	t->data_walks *= t->reach.of.walk;
	tell_sum(core, CP_SIM_dtlb_walk_cycles, &t->data_walks);
	core->count[CP_SIM_time_tlb] += t->data_pages;
	tell_sum(core, CP_SIM_dtlb_stall_cycles, &t->data_pages);
	tell_sum(core, CP_SIM_load_latency_cycles, &t->load_latency);
}

void timing_collect(struct core *core)
{
	struct timing *t = core->timing;

	if (!t)
		return;
	t->before += core->count[CP_SIM_instructions];
	advance_to(t, &t->clock, t->before);
	core->count[CP_SIM_cycles] += cycle_now(&t->clock) - t->told;
	t->told = cycle_now(&t->clock);
	core->count[CP_SIM_time_issue] += core->count[CP_SIM_instructions];
	tell_all(core, t);
	t->not_of_load = 0;
	for (uint32_t i = 0; i < SEEN; i++)
		t->reach.seen[i] = 0;
}

/* ---- its life ---- */

/* The latency of what L1D writes to. */
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
	reach_init(&t->reach, m);
	t->drain = next_latency(m);
	return t;
}

void timing_free(struct timing *t)
{
	if (t)
		host_free(t, sizeof(*t));
}
