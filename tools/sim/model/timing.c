/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/timing.h"
#include "model/host.h"

/* More than a stretch of code can load. */
#define MAX_AWAITED 256

/* The counters that tell what a reference did. */
#define FIRST CP_SIM_l1i_misses
#define SEEN (CP_SIM_l1d_half_writebacks + 1 - FIRST)
#define AT(counter) (CP_SIM_##counter - FIRST)

/* Where lines come from, the nearest first. */
enum level { SECOND, LAST, MEMORY, ONE_HOP, TWO_HOPS, NLEVELS };

/* The core that had a line modified: none, one of this socket, one of another. */
enum owner { NOBODY, NEAR_CORE, FAR_CORE, NOWNERS };

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
	/* Of awaited; those before `waiting` have. */
	uint32_t waiting, nawaited;
	uint32_t next_fill; /* most likely free */
	uint32_t oldest;    /* of the write buffer, a ring */
	uint64_t drained;   /* its newest entry */
	uint64_t told;      /* the cycle that counters know of */

	/* Cycles that no counter has. */
	uint64_t late[NLEVELS]; /* waited for lines */
	uint64_t data_pages, data_walks, load_latency;

	struct latencies of;
	uint32_t drain; /* of an entry of the write buffer */
	uint32_t has_second, has_last, halves;
	uint64_t allocates; /* all ones, or 0 */

	uint64_t seen[SEEN]; /* of the core, at the last reference */
	uint32_t latency[NOWNERS][NLEVELS];
	uint64_t fill[TIMING_BUFFERS]; /* the cycle from which each is free */
	uint64_t write[TIMING_BUFFERS];
	struct awaited awaited[MAX_AWAITED]; /* in the order of the instructions */
};

/* ---- the passing of time ---- */

LANES_INLINE uint64_t now(const struct clock *c)
{
	return c->instruction + c->delay;
}

/* Up to this instruction, with all that it and those before it wait for. */
LANES_INLINE void advance(struct timing *t, struct clock *c, uint64_t instruction)
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

/* Of those that wait for the end of the list, the first ones have to go earlier.  A
 * clock that a call could change would have to be in memory: this returns it. */
static __attribute__((noinline)) struct clock make_place(struct timing *t, struct clock c)
{
	if (!t->waiting)
		advance(t, &c, t->awaited[0].instruction);
	for (uint32_t i = t->waiting; i < t->nawaited; i++)
		t->awaited[i - t->waiting] = t->awaited[i];
	t->nawaited -= t->waiting;
	t->waiting = 0;
	return c;
}

/* Behind those that earlier instructions wait for, and the same one.  A line that will
 * be there by then need not be noted: delays never shrink. */
LANES_INLINE void await(struct timing *t, struct clock *c, uint64_t instruction,
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
	uint64_t cycles = free - now(c);

	core->count[CP_SIM_buffer_full_events]++;
	core->count[CP_SIM_buffer_full_cycles] += cycles;
	core->count[stack] += cycles;
	c->delay += cycles;
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
LANES_INLINE uint64_t take_fill_buffer(
	struct core *core, struct timing *t, struct clock *c, uint32_t cycles)
{
	uint32_t i = t->next_fill;

	if (!t->of.fill_buffers)
		return now(c) + cycles;
	if (t->fill[i] > now(c)) {
		i = find_fill_buffer(t);
		if (t->fill[i] > now(c))
			wait_for_buffer(core, c, t->fill[i], CP_SIM_time_bandwidth);
	}
	t->next_fill = i + 1 < t->of.fill_buffers ? i + 1 : 0;
	return t->fill[i] = now(c) + cycles;
}

LANES_INLINE void take_write_buffer(struct core *core, struct timing *t, struct clock *c)
{
	uint64_t *entry = &t->write[t->oldest];

	if (!t->of.write_buffers)
		return;
	if (*entry > now(c))
		wait_for_buffer(core, c, *entry, CP_SIM_time_store);
	t->drained = (t->drained > now(c) ? t->drained : now(c)) + t->drain;
	*entry = t->drained;
	t->oldest = t->oldest + 1 < t->of.write_buffers ? t->oldest + 1 : 0;
}

/* ---- what a reference did ---- */

/* The core's counters now and at the last reference. */
struct change {
	const uint64_t *now, *seen;
};

/* Volatile: two counters in one vector would wait for the stores of both. */
#define NOW(by, counter) (((const volatile uint64_t *)(by)->now)[AT(counter)])
#define GREW(by, counter) (NOW(by, counter) - (by)->seen[AT(counter)])

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

static enum cp_sim_counter stack_of(enum level level)
{
	return level == SECOND ? CP_SIM_time_l2
	       : level == LAST ? CP_SIM_time_llc
			       : CP_SIM_time_memory;
}

/* Pages, some of them walked for. */
LANES_INLINE uint64_t translation(const struct timing *t, uint64_t misses, uint64_t walks)
{
	return (misses - walks) * t->of.stlb + walks * t->of.walk;
}

static __attribute__((noinline)) void fetch(
	struct core *core, struct timing *t, struct clock *c, const struct change *by)
{
	uint64_t lines[NLEVELS], walks = GREW(by, itlb_walks),
				 cycles = translation(t, GREW(by, itlb_misses), walks);

	split(t,
		&(struct missed){GREW(by, l1i_misses), GREW(by, l2_ifetch_misses),
			GREW(by, llc_ifetch_misses),
			GREW(by, one_hop_lines) - GREW(by, loads_one_hop),
			GREW(by, two_hop_lines) - GREW(by, loads_two_hop), 0, 0},
		lines);
	core->count[CP_SIM_time_tlb] += cycles;
	for (enum level level = SECOND; level < NLEVELS; level++) {
		uint64_t late = lines[level] * t->latency[NOBODY][level];

		core->count[stack_of(level)] += late;
		cycles += late;
	}
	core->count[CP_SIM_itlb_walk_cycles] += walks * t->of.walk;
	core->count[CP_SIM_ifetch_stall_cycles] += cycles;
	c->delay += cycles;
}

/* One line for a load or a store; used: after so many instructions. */
LANES_INLINE void fill(struct core *core, struct timing *t, struct clock *c,
	enum access kind, enum level level, uint32_t latency, uint64_t used_by)
{
	uint64_t ready = take_fill_buffer(core, t, c, latency);

	if (kind != LOAD)
		return;
	t->load_latency += latency;
	await(t, c, used_by > c->instruction ? used_by : c->instruction, ready, level);
}

LANES_INLINE enum owner owner_of(const struct missed *m)
{
	return !m->modified ? NOBODY : m->remote ? FAR_CORE : NEAR_CORE;
}

/* The farthest first; what came from another core is the farthest of what did not come
 * from another socket's memory. */
static __attribute__((noinline)) void fill_several(struct core *core, struct timing *t,
	struct clock *c, enum access kind, struct missed m, uint64_t used_by)
{
	uint64_t lines[NLEVELS];

	split(t, &m, lines);
	for (int level = TWO_HOPS; level >= SECOND; level--)
		for (uint64_t i = 0; i < lines[level]; i++) {
			enum owner owner = level > MEMORY ? NOBODY : owner_of(&m);

			fill(core, t, c, kind, (enum level)level,
				t->latency[owner][level], used_by);
			m.modified -= owner != NOBODY;
			m.remote -= owner == FAR_CORE;
		}
}

LANES_INLINE void fill_all(struct core *core, struct timing *t, struct clock *c,
	enum access kind, struct missed m, uint64_t used_by)
{
	enum level level = level_of(t, &m);

	if (__builtin_expect(m.l1 == 1, 1))
		fill(core, t, c, kind, level, t->latency[owner_of(&m)][level], used_by);
	else
		fill_several(core, t, c, kind, m, used_by);
}

/* The counters that tell most of what a reference did. */
struct deed {
	uint64_t code, pages, loads, stores, writes;
};

LANES_INLINE struct deed deed_of(const struct timing *t, const struct change *by)
{
	return (struct deed){
		.code = GREW(by, l1i_misses) + GREW(by, itlb_misses),
		.pages = GREW(by, dtlb_load_pages) + GREW(by, dtlb_store_pages),
		.loads = GREW(by, l1d_load_lines) + GREW(by, l1d_bypasses),
		.stores = GREW(by, l1d_store_lines) & t->allocates,
		.writes = (t->halves ? GREW(by, l1d_half_writebacks)
				     : GREW(by, l1d_writebacks)) +
			  GREW(by, l1d_writes_through),
	};
}

LANES_INLINE int is_nothing(const struct deed *did)
{
	return !(did->code | did->pages | did->loads | did->stores | did->writes);
}

LANES_INLINE void translate(
	struct timing *t, struct clock *c, uint64_t pages, uint64_t walks)
{
	uint64_t cycles = translation(t, pages, walks);

	t->data_pages += cycles;
	t->data_walks += walks;
	c->delay += cycles;
}

static void data(struct core *core, struct timing *t, struct clock *c,
	const struct change *by, const struct deed *did, uint64_t used_by)
{
	if (did->pages)
		translate(t, c, did->pages,
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

/* What a load on a plain machine has not to do with: if the sum has not grown, none
 * of them has. */
LANES_INLINE uint64_t not_of_load(const struct change *by)
{
	return NOW(by, l1i_misses) + NOW(by, itlb_misses) + NOW(by, l1d_store_lines) +
	       NOW(by, dtlb_store_pages);
}

typedef uint64_t pair __attribute__((vector_size(16), may_alias, aligned(8)));

LANES_INLINE void see(struct timing *t, const struct change *by)
{
	uint32_t i = 0;

	t->not_of_load = not_of_load(by);
#pragma GCC unroll 16
	for (; i + 2 <= SEEN; i += 2)
		*(pair *)&t->seen[i] = *(const pair *)&by->now[i];
	for (; i < SEEN; i++)
		t->seen[i] = by->now[i];
}

static __attribute__((noinline)) void observe_any(
	struct core *core, uint64_t instruction, uint32_t used)
{
	struct timing *t = core->timing;
	struct change by = {&core->count[FIRST], t->seen};
	struct deed did = deed_of(t, &by);
	struct clock c = t->clock;

	if (is_nothing(&did))
		return;
	advance(t, &c, instruction);
	if (did.code)
		fetch(core, t, &c, &by);
	data(core, t, &c, &by, &did, instruction + used);
	t->clock = c;
	see(t, &by);
}

/* ---- the same of what is commonest by far ----
 *
 * A load or a store on a plain machine that missed one line, its page, or both, and did
 * nothing else.  To look at all that is counted would cost as much as the rest. */

/* By how much one of the counters of either has grown, which is seen by that. */
#define TAKE(t, is, counter, kind)                                                       \
	take(&(t)->seen[AT(counter) + ((kind) == STORE)],                                \
		&(is)[AT(counter) + ((kind) == STORE)])

LANES_INLINE uint64_t take(uint64_t *seen, const uint64_t *count)
{
	uint64_t is = *(const volatile uint64_t *)count, grown = is - *seen;

	*seen = is;
	return grown;
}

/* How long a line from behind L2 takes, and from which level it comes. */
LANES_INLINE uint32_t latency_beyond(
	struct timing *t, const uint64_t *is, enum access kind, enum level *level)
{
	uint64_t beyond = TAKE(t, is, llc_load_lines, kind),
		 modified = take(&t->seen[AT(hitm)], &is[AT(hitm)]);

	if (kind == LOAD)
		modified |= take(&t->seen[AT(loads_cache_to_cache)],
			&is[AT(loads_cache_to_cache)]);
	*level = t->has_last && !beyond ? LAST : MEMORY;
	return t->latency[modified ? NEAR_CORE : NOBODY][*level];
}

LANES_INLINE void fill_one(struct core *core, struct timing *t, struct clock *c,
	enum access kind, uint64_t used_by)
{
	const uint64_t *is = &core->count[FIRST];
	uint64_t beyond = TAKE(t, is, l2_load_lines, kind);
	enum level level = SECOND;
	uint32_t latency = t->of.l2;

	if (beyond || !t->has_second)
		latency = latency_beyond(t, is, kind, &level);
	fill(core, t, c, kind, level, latency, used_by);
}

LANES_INLINE void observe_one(struct core *core, struct timing *t, enum access kind,
	uint64_t lines, uint64_t pages, uint64_t writes,
	const struct batch_origin *origin)
{
	const uint64_t *is = &core->count[FIRST];
	uint64_t instruction = t->before + origin->number;
	struct clock c = t->clock;

	advance(t, &c, instruction);
	if (pages)
		translate(t, &c, pages, TAKE(t, is, dtlb_load_walks, kind));
	if (lines)
		fill_one(core, t, &c, kind, instruction + origin->used);
	t->seen[AT(l1d_load_lines) + (kind == STORE)] += lines;
	t->seen[AT(dtlb_load_pages) + (kind == STORE)] += pages;
	t->seen[AT(l1d_writebacks)] += writes;
	for (; writes; writes--)
		take_write_buffer(core, t, &c);
	t->clock = c;
}

/* Nothing waits for the line of a store. */
static __attribute__((noinline)) void observe_plain(
	struct core *core, const struct batch_origin *origin)
{
	struct timing *t = core->timing;
	struct change by = {&core->count[FIRST], t->seen};
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

	if (!t)
		return;
	if (core->flex) {
		observe_any(core, t->before + origin->number, origin->used);
		return;
	}
	by = (struct change){&core->count[FIRST], t->seen};
	lines = GREW(&by, l1d_load_lines);
	pages = GREW(&by, dtlb_load_pages);
	writes = GREW(&by, l1d_writebacks);
	if (not_of_load(&by) != t->not_of_load || lines > 1)
		observe_plain(core, origin);
	else if (lines | pages | writes)
		observe_one(core, t, LOAD, lines, pages, writes, origin);
}

/* Moves a sum to the core's counter. */
static void tell(struct core *core, enum cp_sim_counter counter, uint64_t *sum)
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
		tell(core, CP_SIM_value_stall_cycles, &t->late[level]);
	}
	t->data_walks *= t->of.walk;
	tell(core, CP_SIM_dtlb_walk_cycles, &t->data_walks);
	core->count[CP_SIM_time_tlb] += t->data_pages;
	tell(core, CP_SIM_dtlb_stall_cycles, &t->data_pages);
	tell(core, CP_SIM_load_latency_cycles, &t->load_latency);
}

void timing_collect(struct core *core)
{
	struct timing *t = core->timing;

	if (!t)
		return;
	t->before += core->count[CP_SIM_instructions];
	advance(t, &t->clock, t->before);
	core->count[CP_SIM_cycles] += now(&t->clock) - t->told;
	t->told = now(&t->clock);
	core->count[CP_SIM_time_issue] += core->count[CP_SIM_instructions];
	tell_all(core, t);
	t->not_of_load = 0;
	for (uint32_t i = 0; i < SEEN; i++)
		t->seen[i] = 0;
}

/* ---- its life ---- */

/* The latency of what L1D writes to. */
static uint32_t next_latency(const struct machine *m)
{
	if (m->l2.sets)
		return m->time.l2;
	return m->llc.sets ? m->time.llc : m->time.memory;
}

/* A latency that is not given for modified lines is that of others. */
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
