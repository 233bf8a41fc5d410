/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>

#include "model/ahead_parts.h"

/* ---- where and when ---- */

/* Ticks of so many instructions. */
LANES_INLINE uint64_t ticks_of(const struct ahead *a, uint64_t instructions)
{
	return instructions * a->step >> STEP_BITS;
}

LANES_INLINE struct position position_after(
	const struct core *core, const struct ahead *a, uint64_t instructions)
{
	uint64_t number = a->number + instructions;

	return (struct position){
		.number = number,
		.ticks = ticks_of(a, number) + core->chained +
			 (core->flex ? front->chain : core->chain),
	};
}

LANES_INLINE struct position position_now(const struct core *core, const struct ahead *a)
{
	uint64_t clock = core->flex ? front->clock : core->clock;

	return position_after(core, a, core->count[CP_SIM_instructions] + (clock >> 32));
}

LANES_INLINE uint64_t cycle_of_issue(const struct ahead *a, uint64_t ticks)
{
	return ticks / AHEAD_TICKS + a->delay;
}

LANES_INLINE uint64_t cycle_now(const struct ahead *a)
{
	return cycle_of_issue(a, a->at.ticks);
}

/* ---- delays ---- */

static void wait_for_line(
	struct core *core, struct ahead *a, enum level level, uint64_t cycles)
{
	a->delay += cycles;
	core->count[stack_of(level)] += cycles;
	core->count[CP_SIM_value_stall_cycles] += cycles;
	if (level >= LAST)
		core->count[CP_SIM_value_stall_beyond_l2] += cycles;
	if (level >= MEMORY)
		core->count[CP_SIM_value_stall_memory] += cycles;
}

static void wait_for_room(
	struct core *core, struct ahead *a, enum cp_sim_counter stack, uint64_t cycles)
{
	if (!cycles)
		return;
	a->delay += cycles;
	core->count[stack] += cycles;
	core->count[CP_SIM_buffer_full_cycles] += cycles;
	core->count[CP_SIM_buffer_full_events]++;
}

/* Splits a wait: cycles that more room would have saved, cycles that a known page
 * would have saved, too, and the rest, of which an earlier trip may be a part. */
static void wait_for_trip(
	struct core *core, struct ahead *a, const struct trip *trip, uint64_t cycles)
{
	uint64_t crowd = at_most(cycles, trip->crowd),
		 pages = at_most(cycles - crowd, trip->translation);

	wait_for_line(core, a, trip->level, cycles - crowd - pages);
	wait_for_room(core, a, CP_SIM_time_bandwidth, crowd);
	a->delay += pages;
	core->count[CP_SIM_time_tlb] += pages;
	core->count[CP_SIM_dtlb_stall_cycles] += pages;
}

/* Ticks at the wall, which is on the way to that position; those of now for one that has
 * to make room for another (add_wall). */
static uint64_t ticks_at(
	const struct ahead *a, const struct position *to, uint64_t number)
{
	uint64_t all = to->number - a->at.number;

	if (number <= a->at.number || !all)
		return a->at.ticks;
	return a->at.ticks + (number - a->at.number) * (to->ticks - a->at.ticks) / all;
}

static void pass_wall(struct core *core, struct ahead *a, const struct position *to)
{
	const struct wall *w = &a->wall[a->first_wall];
	uint64_t at = cycle_of_issue(a, ticks_at(a, to, w->number));

	if (w->trip.ready > at)
		wait_for_trip(core, a, &w->trip, w->trip.ready - at);
	a->first_wall = (a->first_wall + 1) % WALLS;
	a->nwalls--;
}

static __attribute__((noinline)) void pass_walls(
	struct core *core, struct ahead *a, uint64_t number, uint64_t ticks)
{
	const struct position to = {number, ticks};

	while (a->nwalls && a->wall[a->first_wall].number <= number)
		pass_wall(core, a, &to);
}

/* Numbers are passed one by one: as a struct they would be stored in two pieces, and wait
 * to be read as one. */
LANES_INLINE void advance_to(struct core *core, struct ahead *a, struct position to)
{
	if (to.number < a->at.number)
		return;
	if (a->nwalls && a->wall[a->first_wall].number <= to.number)
		pass_walls(core, a, to.number, to.ticks);
	a->at.number = to.number;
	a->at.ticks = to.ticks;
}

/* ---- lines ---- */

/* When a level, and memory, have time for a line, from then on. */
static uint64_t find_room_behind(struct ahead *a, enum level level, uint64_t at)
{
	if (level == SECOND)
		return at;
	at = room_take(&a->llc_lines, at, a->of.llc_line);
	return level == LAST ? at : room_take(&a->memory_lines, at, a->of.memory_line);
}

/* When there is room for a line on its way to L1, from then on. */
static uint64_t find_room(
	struct ahead *a, enum level level, uint32_t latency, uint64_t at)
{
	if (a->reach.of.fill_buffers)
		at = room_take(&a->fills, at, latency * 100 / a->reach.of.fill_buffers);
	at = room_take(&a->l2_lines, at, a->of.l2_line);
	if (level > SECOND && a->of.l2_fill_buffers)
		at = room_take(&a->l2_fills, at, latency * 100 / a->of.l2_fill_buffers);
	return find_room_behind(a, level, at);
}

static struct trip make_trip(struct ahead *a, enum level level, uint32_t latency,
	uint64_t start, uint64_t translated)
{
	uint64_t from = find_room(a, level, latency, translated);

	return (struct trip){from + latency, (uint32_t)(translated - start),
		(uint32_t)(from - translated), latency, level};
}

static uint64_t translate_pages(struct core *core, struct ahead *a,
	const struct deed *did, const struct change *by, uint64_t start)
{
	uint64_t walks = GREW(by, dtlb_load_walks) + GREW(by, dtlb_store_walks);
	uint64_t at = start + (did->pages - walks) * a->reach.of.stlb;

	core->count[CP_SIM_dtlb_walk_cycles] += walks * a->reach.of.walk;
	for (; walks; walks--) {
		if (a->of.walkers)
			at = room_take(
				&a->walkers, at, a->reach.of.walk * 100 / a->of.walkers);
		at += a->reach.of.walk;
	}
	return at;
}

/* A reference's ways: what it missed, when it asks, and knows where; when one of its
 * lines was fetched ahead, 0: not. */
struct journey {
	struct missed missed;
	enum access kind;
	uint64_t start, translated, ahead;
};

/* A line that was fetched ahead: from L2, once it is there.  Who fetches ahead has enough
 * buffers. */
static struct trip meet_line(
	struct ahead *a, enum level level, uint32_t latency, const struct journey *j)
{
	struct trip near = make_trip(
		a, SECOND, a->reach.latency[NOBODY][SECOND], j->start, j->translated);
	uint64_t from = find_room_behind(a, level, j->ahead);

	if (from + latency <= near.ready)
		return near;
	return (struct trip){from + latency, near.translation,
		(uint32_t)(from - j->ahead), latency, level};
}

/* All lines of a reference; the last to come. */
static struct trip travel_all(struct core *core, struct ahead *a, struct journey *j)
{
	struct trip last = {
		j->translated, (uint32_t)(j->translated - j->start), 0, 0, SECOND};
	uint64_t lines[NLEVELS];

	split_lines(&a->reach, &j->missed, lines);
	for (int i = TWO_HOPS; i >= SECOND; i--)
		for (uint64_t n = lines[i]; n; n--) {
			enum level level = (enum level)i;
			enum owner owner = level > MEMORY ? NOBODY : owner_of(&j->missed);
			uint32_t latency = a->reach.latency[owner][level];
			int known = j->ahead && owner == NOBODY && level > SECOND;

			last = last_of(last, known ? meet_line(a, level, latency, j)
						   : make_trip(a, level, latency,
							     j->start, j->translated));
			if (j->kind == LOAD)
				core->count[CP_SIM_load_latency_cycles] += latency;
			j->missed.modified -= owner != NOBODY;
			j->missed.remote -= owner == FAR_CORE;
		}
	return last;
}

static void add_wall(struct core *core, struct ahead *a, const struct trip *trip)
{
	if (trip->ready <= a->lines_ready)
		return;
	a->lines_ready = trip->ready;
	if (a->nwalls == WALLS)
		pass_wall(core, a, &a->at);
	a->wall[(a->first_wall + a->nwalls++) % WALLS] =
		(struct wall){a->at.number + a->of.window, *trip};
}

/* The store waits while as many as there are entries have not left. */
static void wait_for_entry(struct core *core, struct ahead *a)
{
	uint32_t entries = a->reach.of.write_buffers;
	uint64_t left;

	if (!entries || a->missing_stores < entries)
		return;
	left = a->left[(a->missing_stores - entries) % ENTRIES];
	if (left > cycle_now(a))
		wait_for_room(core, a, CP_SIM_time_store, left - cycle_now(a));
}

static void add_entry(struct ahead *a, uint64_t there)
{
	a->drained = later_of(a->drained, there);
	a->left[a->missing_stores++ % ENTRIES] = a->drained;
}

static struct trip travel(
	struct core *core, struct ahead *a, struct journey *j, uint64_t address)
{
	if (a->of.distance && address && j->missed.l1)
		j->ahead = streams_look_up(
			&a->streams, address, core->line_shift, a->of.distance, j->start);
	return travel_all(core, a, j);
}

/* ---- what a reference did ---- */

static void fetch_code(struct core *core, struct ahead *a, const struct change *by)
{
	a->delay += wait_for_code(core, &a->reach, by);
}

static struct missed missed_by_load(const struct change *by, const struct deed *did)
{
	return (struct missed){did->loads, GREW(by, l2_load_lines),
		GREW(by, llc_load_lines), GREW(by, loads_one_hop),
		GREW(by, loads_two_hop), GREW(by, hitm) | GREW(by, loads_cache_to_cache),
		GREW(by, loads_remote_cache)};
}

static struct missed missed_by_store(const struct change *by, const struct deed *did)
{
	return (struct missed){did->stores, GREW(by, l2_store_lines),
		GREW(by, llc_store_lines),
		GREW(by, one_hop_lines) - GREW(by, loads_one_hop),
		GREW(by, two_hop_lines) - GREW(by, loads_two_hop),
		GREW(by, hitm) | GREW(by, remote_hitm),
		GREW(by, remote_hitm) - GREW(by, loads_remote_cache)};
}

/* A load that misses no line but its page's has a value that is late, too. */
static void load_value(struct core *core, struct ahead *a, const struct change *by,
	const struct deed *did, const struct batch_origin *origin)
{
	int32_t which = origin->load;
	uint64_t start = later_of(cycle_now(a), cycle_of(address_ready(a, which)));
	struct journey j = {missed_by_load(by, did), LOAD, start,
		translate_pages(core, a, did, by, start), 0};
	struct trip trip = travel(core, a, &j, origin->address);

	if (!did->loads)
		trip.ready += a->of.l1;
	value_comes(a, which, when_of(trip.ready, trip.level));
	share_line(a, which, when_of(trip.ready, trip.level));
	add_wall(core, a, &trip);
}

static void store_value(struct core *core, struct ahead *a, const struct change *by,
	const struct deed *did, const struct batch_origin *origin)
{
	struct journey j = {missed_by_store(by, did), STORE, 0, 0, 0};

	wait_for_entry(core, a);
	j.start = later_of(cycle_now(a), cycle_of(address_ready(a, origin->load)));
	j.translated = did->loads ? j.start : translate_pages(core, a, did, by, j.start);
	add_entry(a, travel(core, a, &j, origin->address).ready);
}

/* Lines that leave caches take the same ways. */
static void write_back(struct ahead *a, const struct change *by)
{
	for (uint64_t n = GREW(by, l1d_writebacks) + GREW(by, l1d_writes_through); n; n--)
		room_take(&a->l2_lines, cycle_now(a), a->of.l2_line);
	for (uint64_t n = GREW(by, l2_writebacks); n; n--)
		room_take(&a->llc_lines, cycle_now(a), a->of.llc_line);
	for (uint64_t n = GREW(by, llc_writebacks); n; n--)
		room_take(&a->memory_lines, cycle_now(a), a->of.memory_line);
}

typedef uint64_t counters __attribute__((vector_size(16), may_alias, aligned(8)));

static void copy_seen(struct reach *r, const struct change *by)
{
	uint32_t i = 0;

	for (; i + 2 <= SEEN; i += 2)
		*(counters *)&r->seen[i] = *(const counters *)&by->now[i];
	for (; i < SEEN; i++)
		r->seen[i] = by->now[i];
}

void ahead_observe(struct core *core, const struct batch_origin *origin)
{
	struct ahead *a = core->ahead;
	struct change by;
	struct deed did;

	if (!a)
		return;
	by = (struct change){&core->count[FIRST], a->reach.seen};
	did = deed_of(&a->reach, &by);
	if (is_nothing(&did))
		return;
	advance_to(core, a, position_after(core, a, origin->number));
	if (did.code)
		fetch_code(core, a, &by);
	if (did.loads | GREW(&by, dtlb_load_pages))
		load_value(core, a, &by, &did, origin);
	if (did.stores | GREW(&by, dtlb_store_pages))
		store_value(core, a, &by, &did, origin);
	write_back(a, &by);
	copy_seen(&a->reach, &by);
}

void ahead_collect(struct core *core)
{
	struct ahead *a = core->ahead;
	uint64_t issue;

	if (!a)
		return;
	a->number += core->count[CP_SIM_instructions];
	advance_to(core, a,
		(struct position){a->number, ticks_of(a, a->number) + core->chained});
	issue = a->at.ticks / AHEAD_TICKS;
	core->count[CP_SIM_cycles] += cycle_now(a) - a->told;
	core->count[CP_SIM_time_issue] += issue - a->told_issue;
	a->told = cycle_now(a);
	a->told_issue = issue;
	for (uint32_t i = 0; i < SEEN; i++)
		a->reach.seen[i] = 0;
}

/* ---- batches ---- */

/* Ends the superblock that was left by a branch that went otherwise than predicted. */
static __attribute__((noinline)) void mispredict_branch(
	struct core *core, struct ahead *a)
{
	const struct flow *f = flow_of(a);
	when known = ready_when(a, f, &f->value[f->nloads + f->nputs]);

	advance_to(core, a, position_now(core, a));
	if (cycle_of(known) > cycle_now(a))
		wait_for_line(core, a, level_in(known), cycle_of(known) - cycle_now(a));
	a->delay += a->of.mispredict;
	core->count[CP_SIM_time_branch] += a->of.mispredict;
}

/* A superblock begins: with registers as they are.  Those that are ready by now are found
 * when they are looked at. */
static __attribute__((noinline)) void take_over(struct core *core, struct ahead *a)
{
	advance_to(core, a, position_now(core, a));
	a->begun = cycle_now(a);
	if (a->late_until <= a->begun)
		a->late_now = 0;
	a->late_begin = a->is_late = a->late_now;
	a->late_loads = a->kept = 0;
}

void ahead_begin(struct core *core, const struct batch *b, uint64_t line)
{
	struct ahead *a = core->ahead;
	const struct flow *f;

	if (a->flow & 1 && guesses_miss(&a->guesses, b, line))
		mispredict_branch(core, a);
	a->flow = b->flow;
	if (__builtin_expect(!a->is_late, 1))
		return;
	f = flow_of(a);
	if (f && f->begins)
		take_over(core, a);
}

void ahead_end(struct core *core)
{
	if (__builtin_expect(core->ahead->is_late, 0))
		pass_on(core->ahead);
}

/* The functions that model references by one core, and by one with a front: the same for
 * all. */
static struct {
	uint32_t wanted; /* of machines that execute out of order */
	batch_function *of_core[2][BATCH_PLACES + 1], *of_front[2][BATCH_PLACES + 1];
} models;

void ahead_want(uint32_t wanted)
{
	models.wanted |= wanted;
}

uint32_t ahead_wanted(void)
{
	return models.wanted;
}

#define RUN(name, places, lines, shift)                                                  \
	static void name(const struct batch *b, uint64_t line, uint64_t a0, uint64_t a1, \
		uint64_t a2, uint64_t a3)                                                \
	{                                                                                \
		struct core *core = running;                                             \
                                                                                         \
		if (core->ahead)                                                         \
			ahead_begin(core, b, line);                                      \
		models.of_core[lines - 1][places](b, line, a0, a1, a2, a3);              \
		if (core->ahead)                                                         \
			ahead_end(core);                                                 \
	}

BATCH_RUNS(run_core, 0)

#undef RUN
#define RUN(name, places, lines, shift)                                                  \
	static void name(const struct batch *b, uint64_t line, uint64_t a0, uint64_t a1, \
		uint64_t a2, uint64_t a3)                                                \
	{                                                                                \
		for (uint32_t i = 0; i < front->nmembers; i++)                           \
			if (front->member[i]->ahead)                                     \
				ahead_begin(front->member[i], b, line);                  \
		models.of_front[lines - 1][places](b, line, a0, a1, a2, a3);             \
		for (uint32_t i = 0; i < front->nmembers; i++)                           \
			if (front->member[i]->ahead)                                     \
				ahead_end(front->member[i]);                             \
	}

BATCH_RUNS(run_front, 0)

batch_function *ahead_of_core(batch_function *model, uint32_t places, uint32_t lines)
{
	static batch_function *const function[2][BATCH_PLACES + 1] =
		BATCH_NAMES(run_core);

	if (!models.wanted)
		return model;
	models.of_core[lines - 1][places] = model;
	return function[lines - 1][places];
}

batch_function *ahead_of_front(batch_function *model, uint32_t places, uint32_t lines)
{
	static batch_function *const function[2][BATCH_PLACES + 1] =
		BATCH_NAMES(run_front);

	if (!models.wanted)
		return model;
	models.of_front[lines - 1][places] = model;
	return function[lines - 1][places];
}

/* ---- its life ---- */

struct ahead *ahead_new(const struct machine *m)
{
	struct ahead *a = host_alloc(sizeof(*a));

	if (!a)
		return 0;
	reach_init(&a->reach, m);
	a->of = m->ooo;
	a->step = ((uint64_t)AHEAD_TICKS * 100 << STEP_BITS) / m->ooo.width;
	return a;
}

void ahead_free(struct ahead *a)
{
	if (a)
		host_free(a, sizeof(*a));
}
