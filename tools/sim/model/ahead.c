/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stddef.h>

#include "model/ahead_internal.h"
#include "model/waits.h"

#include "model/turns.h" /* behind both */

/* ---- lines ---- */

/* When memory has time for a line of a level, from then on. */
LANES_INLINE uint64_t room_of_memory(struct ahead *a, enum level level, uint64_t at)
{
	return level == LAST ? at : room_take(&a->memory_lines, at, a->of.memory_line);
}

/* When there is room for a line on its way to L1, from then on. */
LANES_INLINE uint64_t find_room(
	struct ahead *a, enum level level, enum owner owner, uint64_t line, uint64_t at)
{
	at = room_take(&a->fills, at, a->fill_share[owner][level]);
	at = room_of_l2(a, line, level == SECOND, at);
	if (level == SECOND)
		return at;
	at = room_take(&a->l2_fills, at, a->l2_fill_share[owner][level]);
	return room_of_memory(a, level, room_of_lone(a, line, at));
}

LANES_INLINE struct trip make_trip(struct ahead *a, enum level level, enum owner owner,
	uint64_t line, uint64_t start, uint64_t translated)
{
	uint64_t from = find_room(a, level, owner, line, translated);
	uint32_t latency = a->reach.latency[owner][level];

	return (struct trip){from + latency, (uint32_t)(translated - start),
		(uint32_t)(from - translated), latency, level};
}

/* A reference's ways: what it missed, when it asks, and knows where; when one of its
 * lines was fetched ahead, 0: not; and the number of its line. */
struct journey {
	struct missed missed;
	enum access kind;
	uint64_t start, translated, ahead, line;
};

/* A line that was fetched ahead, once it is there.  Who fetches ahead has enough
 * buffers. */
static struct trip meet_line(
	struct ahead *a, enum level level, uint32_t latency, const struct journey *j)
{
	uint64_t from = j->ahead, there = room_of_l2(a, j->line, 1, j->translated);
	struct trip near = {there + a->of.near, (uint32_t)(j->translated - j->start),
		(uint32_t)(there - j->translated), a->of.near, SECOND};

	if (level > SECOND)
		from = room_of_memory(a, level, room_of_stream(a, j->line, from));
	if (from + latency <= near.ready)
		return near;
	return (struct trip){from + latency, near.translation,
		(uint32_t)(from - j->ahead), latency, level};
}

LANES_INLINE struct trip travel_line(
	struct core *core, struct ahead *a, const struct journey *j, enum level level)
{
	enum owner owner = level > MEMORY ? NOBODY : owner_of(&j->missed);
	uint32_t latency = a->reach.latency[owner][level];

	if (j->kind == LOAD)
		core->count[CP_SIM_load_latency_cycles] += latency;
	return j->ahead && owner == NOBODY
		       ? meet_line(a, level, latency, j)
		       : make_trip(a, level, owner, j->line, j->start, j->translated);
}

/* Several lines of a reference; the last to come. */
static __attribute__((noinline)) struct trip travel_all(
	struct core *core, struct ahead *a, struct journey *j, struct trip last)
{
	uint64_t lines[NLEVELS];

	split_lines(&a->reach, &j->missed, lines);
	for (int i = TWO_HOPS; i >= SECOND; i--)
		for (uint64_t n = lines[i]; n; n--) {
			enum owner owner = i > MEMORY ? NOBODY : owner_of(&j->missed);

			last = last_of(last, travel_line(core, a, j, (enum level)i));
			j->missed.modified -= owner != NOBODY;
			j->missed.remote -= owner == FAR_CORE;
		}
	return last;
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

LANES_INLINE struct trip travel(
	struct core *core, struct ahead *a, struct journey *j, uint64_t address)
{
	struct trip none = {
		j->translated, (uint32_t)(j->translated - j->start), 0, 0, SECOND};
	uint64_t asked;

	if (!j->missed.l1)
		return none;
	asked = a->reach.has_second ? j->missed.l2 : j->missed.l1;
	if (asked && core->uncore->stays && address && has_left(core, a, address))
		j->missed.llc = later_of(j->missed.llc, asked);
	if (a->of.distance && address)
		j->ahead = streams_look_up(
			&a->streams, address, core->line_shift, a->of.distance, j->start);
	a->origin = !asked ? FROM_L2 : j->ahead ? OF_STREAM : LONE;
	if (j->missed.l1 > 1)
		return travel_all(core, a, j, none);
	return travel_line(core, a, j, level_of(&a->reach, &j->missed));
}

/* ---- batches ---- */

/* All batches that have begun; the last one may run yet. */
void ahead_follow(struct core *core)
{
	struct ahead *a = core->ahead;
	const struct step *end = core->next_step;
	const struct turn *turn = a->turns;
	struct position past = a->past;

	if (end == a->steps)
		return;
	find_turns(core, a, end);
	if (a->is_late)
		turn = follow_values(core, a, a->steps, turn, past);
	while (turn->step) {
		turn = take_turns(core, a, turn);
		if (a->is_late)
			turn = follow_values(
				core, a, turn[-1].step + 1, turn, past_turn(&turn[-1]));
	}
	a->last = end[-1].batch;
	a->behind = behind_step(core, end - 1);
	begin_noting(core, a);
}

/* ---- what a reference did ---- */

/* Code that is foreseen is asked for ahead, from the last branch on that was not. */
static void fetch_code(struct core *core, struct ahead *a, const struct change *by)
{
	uint64_t before[CODE_LEVELS];

	for (enum level level = SECOND; level < CODE_LEVELS; level++)
		before[level] = core->count[stack_of(level)];
	a->delay += wait_for_code(core, &a->reach, by, cycle_now(a) - a->redirected);
	for (enum level level = SECOND; level < CODE_LEVELS; level++)
		a->units.code[level] += core->count[stack_of(level)] - before[level];
}

/* A load that misses no line but its page's has a value that is late, too. */
LANES_INLINE void load_value(struct core *core, struct ahead *a, const struct misses *m,
	const struct batch_origin *origin)
{
	int32_t which = origin->load;
	uint64_t chains = chains_of_load(a, which);
	struct journey j = {m->lines, LOAD, start_of_load(a, which, chains), 0, 0,
		origin->address >> core->line_shift};
	struct trip trip;

	j.translated = translate_pages(core, a, m, j.start, origin->address);
	trip = travel(core, a, &j, origin->address);
	if (!m->lines.l1)
		trip.ready += a->of.l1;
	if (m->lines.l1)
		take_ports(core, a, which, loads_so_far(core), trip.ready);
	value_comes(a, which, when_of(trip.ready, trip.level));
	share_line(a, which, when_of(trip.ready, trip.level));
	if (chains && is_in_chain(a, which, chains))
		add_end(core, a, a->last->chain_reach, &trip);
	else
		add_wall(core, a, &trip);
}

LANES_INLINE void store_value(struct core *core, struct ahead *a, const struct misses *m,
	const struct batch_origin *origin)
{
	struct journey j = {
		m->lines, STORE, 0, 0, 0, origin->address >> core->line_shift};

	wait_for_entry(core, a);
	j.start = later_of(cycle_now(a), cycle_of(address_ready(a, origin->load)));
	j.translated = translate_pages(core, a, m, j.start, origin->address);
	if (m->lines.l1)
		j.translated = find_turn(core, a, origin->address, j.translated);
	add_entry(a, travel(core, a, &j, origin->address).ready);
}

static __attribute__((noinline)) void observe_any(
	struct core *core, struct ahead *a, const struct batch_origin *origin)
{
	uint64_t room[SEEN];
	struct change by = {counts_for_time(core, room), a->reach.seen};
	struct deed did = deed_of(&a->reach, &by);

	if (is_nothing(&did))
		return;
	ahead_follow(core);
	advance_to(core, a, position_after(core, a, origin->number));
	if (did.code)
		fetch_code(core, a, &by);
	if (did.loads | GREW(&by, dtlb_load_pages)) {
		struct misses m = misses_of_load(&by, &did);

		load_value(core, a, &m, origin);
	}
	if (did.stores | GREW(&by, dtlb_store_pages)) {
		struct misses m = misses_of_store(&by, &did);

		store_value(core, a, &m, origin);
	}
	write_back(a, origin->address >> core->line_shift,
		GREW(&by, l1d_writebacks) + GREW(&by, l1d_writes_through),
		GREW(&by, l2_writebacks), GREW(&by, llc_writebacks));
	core->count[CP_SIM_load_latency_cycles] -= take_hidden_latency(core);
	see_all(core, a);
}

/* ---- the same of what is commonest by far (timing.c) ---- */

/* They are of one kind, and what it missed is seen by that. */
static struct misses take_misses(struct reach *r, const uint64_t *is, enum access kind,
	uint64_t lines, uint64_t pages)
{
	struct misses m = {{.l1 = lines}, pages, 0};

	r->seen[AT(l1d_load_lines) + (kind == STORE)] += lines;
	r->seen[AT(dtlb_load_pages) + (kind == STORE)] += pages;
	if (pages)
		m.walks = TAKE(r, is, dtlb_load_walks, kind);
	if (lines)
		m.lines.l2 = TAKE(r, is, l2_load_lines, kind);
	if (!m.lines.l2 && r->has_second)
		return m;
	m.lines.llc = TAKE(r, is, llc_load_lines, kind);
	m.lines.modified = take_growth(&r->seen[AT(hitm)], &is[AT(hitm)]);
	if (kind == LOAD)
		m.lines.modified |= take_growth(&r->seen[AT(loads_cache_to_cache)],
			&is[AT(loads_cache_to_cache)]);
	return m;
}

#define TAKE_WRITES(r, is, counter)                                                      \
	take_growth(&(r)->seen[AT(counter)], &(is)[AT(counter)])

LANES_INLINE void observe_one(struct core *core, struct ahead *a, enum access kind,
	uint64_t lines, uint64_t pages, const struct batch_origin *origin)
{
	const uint64_t *is = &core->count[FIRST];
	struct misses m = take_misses(&a->reach, is, kind, lines, pages);

	ahead_follow(core);
	advance_to(core, a, position_after(core, a, origin->number));
	if (kind == LOAD && (lines | pages))
		load_value(core, a, &m, origin);
	else if (lines | pages)
		store_value(core, a, &m, origin);
	write_back(a, origin->address >> core->line_shift,
		TAKE_WRITES(&a->reach, is, l1d_writebacks),
		TAKE_WRITES(&a->reach, is, l2_writebacks),
		TAKE_WRITES(&a->reach, is, llc_writebacks));
}

/* Returns 0 if it is not what is commonest. */
static __attribute__((noinline)) int observe_store(
	struct core *core, struct ahead *a, const struct batch_origin *origin)
{
	struct change by = {&core->count[FIRST], a->reach.seen};
	uint64_t lines = GREW(&by, l1d_store_lines), pages = GREW(&by, dtlb_store_pages),
		 others = GREW(&by, l1i_misses) | GREW(&by, itlb_misses) |
			  GREW(&by, l1d_load_lines) | GREW(&by, dtlb_load_pages);

	if (others || lines > 1)
		return 0;
	a->not_of_load += lines + pages;
	observe_one(core, a, STORE, lines, pages, origin);
	return 1;
}

void ahead_observe(struct core *core, const struct batch_origin *origin)
{
	struct ahead *a = core->ahead;
	struct change by;
	uint64_t lines, pages;

	if (!a)
		return;
	if (!units_follow(&a->units)) {
		renew_asked(core, a, origin);
		take_hidden_latency(core);
		return;
	}
	by = (struct change){&core->count[FIRST], a->reach.seen};
	lines = GREW(&by, l1d_load_lines);
	pages = GREW(&by, dtlb_load_pages);
	if (core->flex || lines > 1)
		observe_any(core, a, origin);
	else if (not_of_load(&by) == a->not_of_load) {
		if (lines | pages | GREW(&by, l1d_writebacks))
			observe_one(core, a, LOAD, lines, pages, origin);
	} else if (!observe_store(core, a, origin))
		observe_any(core, a, origin);
}

static void look_at_steps(struct core *core, struct ahead *a)
{
	if (a->units.phase == FORESEEING)
		learn_branches(core, a);
	else if (units_follow(&a->units))
		ahead_follow(core);
}

/* At the beginning of the batch that was noted last. */
void ahead_step(struct core *core)
{
	struct ahead *a = core->ahead;
	uint64_t clock = batch_time(core), before = core->count[CP_SIM_instructions];
	struct position at;

	look_at_steps(core, a);
	if (clock < core->noting_until)
		return;
	at = position_after(core, a, before + (clock >> 32));
	if (units_follow(&a->units))
		advance_to(core, a, at);
	change_phase(core, a, at);
	set_clocks(core, &a->units, a->number + before);
}

void ahead_collect(struct core *core)
{
	struct ahead *a = core->ahead;
	struct position at;
	uint64_t issue;

	if (!a)
		return;
	look_at_steps(core, a);
	a->number += core->count[CP_SIM_instructions];
	a->past = (struct position){a->number, core->ported + a->units.taken};
	at = position_past(a, a->past);
	if (units_follow(&a->units))
		advance_to(core, a, at);
	else
		pass_between(a, at);
	issue = a->at.ticks / AHEAD_TICKS;
	units_tell(core, &a->units, &a->reach, a->number);
	core->count[CP_SIM_time_issue] += issue - a->told_issue;
	add_cycles(core);
	a->brought = brought_so_far(core, a);
	a->told_issue = issue;
	a->not_of_load = a->units.asked = 0;
	a->loads_seen -= loads_so_far(core);
	for (uint32_t i = 0; i < SEEN; i++)
		a->reach.seen[i] = 0;
	set_clocks(core, &a->units, a->number);
}

/* Nobody's: the phase goes on. */
void ahead_region(struct core *core, struct learnt *region)
{
	struct ahead *a = core->ahead;
	struct units *u;

	if (!a || !batch_told.sample.unit || region == a->units.learnt)
		return;
	u = &a->units;
	if (u->learnt->full && u->learnt != &u->own)
		u->lingers = a->number + LINGER;
	learn_what_was_full(u->learnt);
	end_part(u);
	u->learnt = region ? region : &u->own;
	if (!region)
		return;
	learn_of_region(u);
	if (u->phase != IN_FULL && region->full)
		begin_region_in_full(core, a);
	else if (u->phase == IN_FULL) {
		end_region_in_full(a, a->number);
		if (!units_follow(u))
			end_following(core, a);
	}
	set_clocks(core, u, a->number);
}

/* ---- its life ---- */

int ahead_share(struct uncore *u, const struct machine *m)
{
	if (!m->time.memory || !m->ooo.window || !m->ooo.stay || !m->llc.sets)
		return 0;
	u->stays = host_alloc(sizeof(*u->stays));
	return u->stays ? 0 : -1;
}

void ahead_unshare(struct uncore *u)
{
	if (u->stays)
		host_free(u->stays, sizeof(*u->stays));
	u->stays = 0;
}

/* The share of so many buffers that a line takes, by level and owner, in hundredths of a
 * cycle of all of them; no buffers: enough. */
static void set_shares(
	uint32_t share[NOWNERS][NLEVELS], const struct reach *r, uint32_t buffers)
{
	for (int owner = 0; buffers && owner < NOWNERS; owner++)
		for (int level = 0; level < NLEVELS; level++)
			share[owner][level] = r->latency[owner][level] * 100 / buffers;
}

struct ahead *ahead_new(struct core *core, const struct machine *m)
{
	struct ahead *a = host_alloc(sizeof(*a));

	if (!a)
		return 0;
	reach_init(&a->reach, m);
	a->of = m->ooo;
	units_init(&a->units);
	begin_noting(core, a);
	core->end_step = a->steps + AHEAD_STEPS;
	set_clocks(core, &a->units, 0);
	a->step = ((uint64_t)AHEAD_TICKS * 100 << STEP_BITS) / m->ooo.width;
	a->window_cycles = ticks_of(a, m->ooo.window) / AHEAD_TICKS;
	a->window_cycles -= a->window_cycles > 0; /* what is rounded */
	a->scheduler_cycles = ticks_of(a, SCHEDULER) / AHEAD_TICKS;
	a->load_ticks = m->ooo.loads ? AHEAD_TICKS * 100 / m->ooo.loads : 0;
	a->load_slack = a->window_cycles * AHEAD_TICKS;
	set_shares(a->fill_share, &a->reach, a->reach.of.fill_buffers);
	set_shares(a->l2_fill_share, &a->reach, a->of.l2_fill_buffers);
	set_lines(a);
	if (!a->of.near)
		a->of.near = m->time.l2;
	if (!a->of.banks)
		a->of.banks = BANKS;
	if (!a->of.llc_set_line)
		a->of.llc_set_line = a->of.load_set_line;
	if (core->uncore->stays)
		a->stays_begin = core->uncore->stays->latest;
	return a;
}

void ahead_free(struct ahead *a)
{
	if (a)
		host_free(a, sizeof(*a));
}
