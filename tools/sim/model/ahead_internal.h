/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Loads that missed, and chains, that make instructions wait which need none of their
 * values: as many as may be are behind them.  Time is in ticks.
 */
#ifndef CACHEPEEK_SIM_AHEAD_INTERNAL_H
#define CACHEPEEK_SIM_AHEAD_INTERNAL_H

#include "model/ahead_parts.h"
#include "model/huge.h"

#include "lines/backlog.h" /* behind both */

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

static void wait_for_chain(struct core *core, struct ahead *a, uint64_t cycles)
{
	a->delay += cycles;
	core->count[CP_SIM_time_issue] += cycles;
}

/* Until a value is there, or as long as what waits for it has no entry: up to when its
 * line came for that, and from then on for what operations make of it. */
static void wait_for_value(struct core *core, struct ahead *a, when w, uint64_t cycles)
{
	uint64_t came = cycle_of(w) - own_of(w), now = cycle_now(a), line = cycles;

	if (level_in(w) == OF_CHAIN)
		line = 0;
	else if (came < now + cycles)
		line = came > now ? came - now : 0;
	if (line)
		wait_for_line(core, a, level_in(w), line);
	if (cycles > line)
		wait_for_chain(core, a, cycles - line);
}

/* Splits a wait: cycles that more room would have saved, cycles that a known page
 * would have saved, too, and the rest, of which an earlier trip may be a part. */
static void wait_for_trip(
	struct core *core, struct ahead *a, const struct trip *trip, uint64_t cycles)
{
	uint64_t crowd = at_most(cycles, trip->crowd),
		 pages = at_most(cycles - crowd, trip->translation);

	if (trip->level == OF_CHAIN) {
		wait_for_chain(core, a, cycles);
		return;
	}
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

static void pass_wall(
	struct core *core, struct ahead *a, struct walls *all, const struct position *to)
{
	const struct wall *w = &all->of[all->first];
	uint64_t at = cycle_of_issue(a, ticks_at(a, to, w->number));

	if (w->trip.ready > at)
		wait_for_trip(core, a, &w->trip, w->trip.ready - at);
	all->first = (all->first + 1) % WALLS;
	all->n--;
}

/* The number of the first wall there; if there is none, a later one than all. */
LANES_INLINE uint64_t next_wall(const struct walls *all)
{
	return all->n ? all->of[all->first].number : ~0ull;
}

static __attribute__((noinline)) void pass_walls(
	struct core *core, struct ahead *a, uint64_t number, uint64_t ticks)
{
	const struct position to = {number, ticks};

	for (;;) {
		uint64_t line = next_wall(&a->lines), end = next_wall(&a->ends);

		if (line > number && end > number)
			return;
		pass_wall(core, a, line <= end ? &a->lines : &a->ends, &to);
	}
}

/* Numbers are passed one by one: as a struct they would be stored in two pieces, and wait
 * to be read as one. */
LANES_INLINE void advance_to(struct core *core, struct ahead *a, struct position to)
{
	if (to.number < a->at.number)
		return;
	if (next_wall(&a->lines) <= to.number || next_wall(&a->ends) <= to.number)
		pass_walls(core, a, to.number, to.ticks);
	a->at.number = to.number;
	a->at.ticks = to.ticks;
}

/* Walls are passed in their order. */
LANES_INLINE void put_wall(struct core *core, struct ahead *a, struct walls *all,
	uint64_t number, const struct trip *trip)
{
	uint32_t last = (all->first + all->n - 1) % WALLS;

	if (!all->n)
		all->first = 0;
	else if (number < all->of[last].number)
		number = all->of[last].number;
	if (all->n == WALLS)
		pass_wall(core, a, all, &a->at);
	all->of[(all->first + all->n++) % WALLS] = (struct wall){number, *trip};
}

/* None waits for a line that is there before the window's instructions are issued. */
LANES_INLINE void add_wall(struct core *core, struct ahead *a, const struct trip *trip)
{
	if (trip->ready <= a->lines_ready)
		return;
	a->lines_ready = trip->ready;
	if (trip->ready > cycle_now(a) + a->window_cycles)
		put_wall(core, a, &a->lines, a->at.number + a->of.window, trip);
}

/* The same for a chain, which the instructions behind it wait for. */
static void add_end(
	struct core *core, struct ahead *a, uint32_t reach, const struct trip *trip)
{
	if (trip->ready <= a->chains_end)
		return;
	a->chains_end = trip->ready;
	if (trip->ready > (ticks_now(a) + ticks_of(a, reach)) / AHEAD_TICKS)
		put_wall(core, a, &a->ends, a->at.number + reach, trip);
}

/* ---- page walks ---- */

/* The line of the page tables that has the address's entry. */
static uint64_t entry_line_of(const struct core *core, uint64_t address)
{
	uint32_t page = huge.seen && huge_is_known(address >> HUGE_SHIFT)
				? HUGE_SHIFT
				: core->line_shift + core->page_shift;

	return address >> (page + ENTRIES_LOG);
}

/* A walk takes what it does if L1D has its entry, and as much longer as what has it takes
 * longer. */
static uint32_t cycles_of_walk(const struct core *core, struct ahead *a, uint64_t address)
{
	struct brought since = entries_renew(
		&a->entries, entry_line_of(core, address), brought_so_far(core, a));
	uint32_t walk = a->reach.of.walk, far = 0;

	if (core->l2.sets && since.l2 > core->l2.sets * core->l2.ways)
		far = a->reach.latency[NOBODY][LAST];
	else if (since.l1 > core->l1d.sets * core->l1d.ways)
		far = a->reach.latency[NOBODY][SECOND];
	return far > a->of.l1 ? walk + far - a->of.l1 : walk;
}

/* So many pages that the first TLB missed, some of them walked for. */
LANES_INLINE uint64_t translate_pages(struct core *core, struct ahead *a,
	const struct misses *m, uint64_t start, uint64_t address)
{
	uint64_t at = start + (m->pages - m->walks) * a->reach.of.stlb;

	for (uint64_t walks = m->walks; walks; walks--) {
		uint32_t cycles = cycles_of_walk(core, a, address);

		if (a->of.walkers)
			at = room_take(&a->walkers, at, cycles * 100 / a->of.walkers);
		count_walk(core, a, at, cycles);
		at += cycles;
	}
	return at;
}

/* ---- ports of loads ---- */

static uint64_t loads_so_far(const struct core *core)
{
	return core->count[CP_SIM_l1d_loads] + (core->flex ? front->loads : core->loads);
}

/* So many of the latest loads may be of lines that are on their way: of 16 words and less
 * each of eight lines at a time. */
#define LOADS_ONCE 64

/* The line itself takes as much as 2.4 loads, if that is more: by the clock of Intel's
 * Golden Cove, of lines of L2 in random order that one load each is of, beside loads that
 * hit. */
#define LINE_TENTHS 24

/* A load of a line that is on its way takes its port again when the line is there: which
 * so many of the latest do, of those that have not yet. */
static uint64_t loads_again(const struct ahead *a, int32_t which, uint64_t coming)
{
	const struct flow_value *v = value_of_load(flow_of(a), which);
	const struct batch *b = a->last;
	uint64_t round, n, some;

	if (!v)
		return at_most(a->loads_once, 1);
	round = ticks_of(a, b->clock >> 32) + b->ports;
	n = at_most(a->loads_once, v->fit);
	some = (1 + (uint64_t)v->again) * (round + coming * AHEAD_TICKS);
	return n * round > some ? some / round : n;
}

/* A load has missed a line, which is there at `ready`; it is behind so many loads. */
LANES_INLINE void take_ports(
	struct core *core, struct ahead *a, int32_t which, uint64_t all, uint64_t ready)
{
	uint64_t loads = all - a->loads_seen, now = ticks_now(a),
		 until = later_of(a->load_ports, a->loads_seen_at) +
			 loads * a->load_ticks,
		 again;

	if (!a->load_ticks)
		return;
	a->loads_once = at_most(a->loads_once + loads, LOADS_ONCE);
	again = loads_again(a, which, ready > cycle_now(a) ? ready - cycle_now(a) : 0);
	a->loads_once -= again;
	until += later_of(again * 10, LINE_TENTHS) * a->load_ticks / 10;
	if (until > now + a->load_slack)
		wait_for_room(core, a, CP_SIM_time_bandwidth,
			(until - now - a->load_slack) / AHEAD_TICKS);
	a->load_ports = until;
	a->loads_seen = all;
	a->loads_seen_at = now;
}

/* ---- chains ---- */

/* A chain goes on where it has got to, or begins now. */
LANES_INLINE void lengthen_chain(
	struct core *core, struct ahead *a, const struct batch *b)
{
	uint32_t of = b->chain_of;
	uint64_t bit = 1ull << of, now = ticks_now(a);
	struct trip end = {.level = OF_CHAIN};

	a->chain_goes_on = (a->chains & bit) != 0;
	a->chain_before = a->chain_goes_on ? later_of(a->chain[of], now) : now;
	a->chain[of] = a->chain_before + (uint64_t)b->chain_cycles * AHEAD_TICKS;
	a->chains |= bit;
	end.ready = a->chain[of] / AHEAD_TICKS;
	add_end(core, a, b->chain_reach, &end);
}

/* There is one divider, and what has been given to it, and is not divided yet, is of the
 * window behind. */
static void use_divider(struct core *core, struct ahead *a, uint32_t cycles)
{
	uint64_t now = ticks_now(a);

	a->divided = later_of(a->divided, now) + (uint64_t)cycles * AHEAD_TICKS;
	if (a->divided > now + a->load_slack)
		wait_for_chain(core, a, (a->divided - now - a->load_slack) / AHEAD_TICKS);
}

/* When the chains are ready that a value hangs on, in ticks; 0: there are none. */
LANES_INLINE uint64_t chains_ready(const struct ahead *a, uint64_t registers)
{
	uint64_t latest = 0;

	for (registers &= a->chains; registers; registers &= registers - 1)
		latest = later_of(latest, a->chain[__builtin_ctzll(registers)]);
	return latest;
}

/* The branch that the batch ends in waits for the chains that it hangs on. */
static void wait_for_chains(struct core *core, struct ahead *a, const struct batch *b)
{
	const struct flow *f = b ? b->flow : NULL;
	uint64_t ready;

	if (!f || f->end != FLOW_BRANCHES)
		return;
	ready = chains_ready(a, f->value[f->nloads].registers) / AHEAD_TICKS;
	if (ready > cycle_now(a))
		wait_for_chain(core, a, ready - cycle_now(a));
}

/* The chains that the address of that load hangs on. */
static uint64_t chains_of_load(const struct ahead *a, int32_t load)
{
	const struct flow_value *value =
		a->chains ? value_of_load(flow_of(a), load) : NULL;

	return value ? value->registers & a->chains & ~a->anew : 0;
}

/* The chain that the batch makes longer. */
static uint64_t own_chain(const struct ahead *a)
{
	return a->last && a->last->chain_cycles ? 1ull << a->last->chain_of : 0;
}

/* The load's address hangs on the chain, which goes on by what it brings.  What a chain
 * begins with hangs on nothing: an index that was found otherwise, say. */
static int is_in_chain(const struct ahead *a, int32_t load, uint64_t chains)
{
	return a->chain_goes_on && chains & own_chain(a) &&
	       a->last->chain_loads >> load & 1;
}

/* When chains are ready, in cycles: as they were before the batch. */
static uint64_t address_by_chains(const struct ahead *a, uint64_t chains)
{
	uint64_t own = own_chain(a), ready = chains_ready(a, chains & ~own);

	if (chains & own)
		ready = later_of(ready, a->chain_before);
	return ready / AHEAD_TICKS;
}

/* When a load asks, whose address hangs on those chains. */
static uint64_t start_of_load(struct ahead *a, int32_t which, uint64_t chains)
{
	uint64_t late = chains ? address_by_chains(a, chains) : 0;

	return later_of(later_of(cycle_now(a), cycle_of(address_ready(a, which))), late);
}

/* ---- lines that leave ---- */

/* Lines that leave caches modified, and are of the same sets as the line that comes: into
 * L2 they take that line's bank, too.  What leaves L2 goes to the last level modified or
 * not, and is in what that gives. */
LANES_INLINE void write_back(
	struct ahead *a, uint64_t line, uint64_t l1d, uint64_t l2, uint64_t llc)
{
	uint64_t now = cycle_now(a);

	for (; l1d; l1d--) {
		keep_l2_busy(a, now, a->l1d_written[a->origin]);
		room_take(bank_of(a, line), now, a->of.load_set_line);
	}
	for (; l2; l2--)
		keep_l2_busy(a, now, a->l2_written[a->origin]);
	for (; llc; llc--)
		room_take(&a->memory_lines, now, a->of.memory_line);
}

/* ---- between units (model/units.h) ---- */

/* Time goes on as in the units so far. */
static void pass_between(struct ahead *a, struct position to)
{
	struct units *u = &a->units;
	uint64_t passed = to.number - u->began;

	if (u->modelled)
		a->delay = u->delay_then + passed * (u->delays * 256 / u->modelled) / 256;
	a->at = to;
}

/* Lines that the last level was asked for are known to it all the time. */
static void renew_asked(
	struct core *core, struct ahead *a, const struct batch_origin *origin)
{
	uint32_t of = a->reach.has_second ? CP_SIM_l2_load_lines : CP_SIM_l1d_load_lines;
	uint64_t asked = count_for_time(core, of) + count_for_time(core, of + 1);

	if (!core->uncore->stays || asked == a->units.asked)
		return;
	a->units.asked = asked;
	pass_between(a, position_after(core, a, origin->number));
	if (origin->address)
		has_left(core, a, origin->address);
}

/* Before units branches alone are looked at.  Which steps are behind one the host could
 * not foresee, so those are sorted out without a branch: what comes, and behind which
 * kind. */
static void learn_branches(struct core *core, struct ahead *a)
{
	const struct step *end = core->next_step;
	struct history history = a->guesses.history;
	struct branched by = a->last ? branched_after(a->last) : (struct branched){0, 0};
	uint64_t comes[AHEAD_STEPS], *last = comes, missed = 0;

	if (end == a->steps)
		return;
	for (const struct step *step = a->steps; step < end; step++) {
		*last = guess_of(step->batch, step->line) | (uint64_t)by.jumps << 32;
		last += by.branches;
		by = branched_after(step->batch);
	}
	for (const uint64_t *next = comes; next < last; next++)
		missed += (uint32_t)guesses_miss(
			&a->guesses, &history, (uint32_t)(*next >> 32), (uint32_t)*next);
	a->guesses.history = history;
	a->last = end[-1].batch;
	a->behind = behind_step(core, end - 1);
	a->units.unforeseen.number += missed;
	begin_noting(core, a);
}

/* ---- phases ---- */

/* Branches are looked at, behind what was not. */
static void begin_foreseeing(const struct core *core, struct ahead *a, struct position at,
	const struct step *first)
{
	pass_between(a, at);
	a->last = first->batch;
	a->behind = behind_step(core, first);
	begin_window(&a->units, at.number);
}

/* They are not any more. */
static void end_following(const struct core *core, struct ahead *a)
{
	a->followed = brought_so_far(core, a);
	a->followed_until = cycle_now(a);
}

/* Misses are followed behind what was not: with nothing late.  Lines of page tables are
 * as old as if nothing had been between, for walks there were not looked at. */
static void begin_following(struct core *core, struct ahead *a)
{
	struct brought now = brought_so_far(core, a);

	a->brought.l2 -= now.l2 - a->followed.l2;
	backlog_pass(a, cycle_now(a) - a->followed_until);
	a->loads_seen = loads_so_far(core);
	see_all(core, a);
	a->lines.n = a->ends.n = 0;
	a->is_late = a->late_now = a->late_begin = a->late_loads = a->kept = 0;
	a->lines_ready = a->chains_end = a->loads_until = 0;
	a->chains = a->anew = 0;
	a->held.groups = a->held.entries = 0;
}

static void begin_warming(struct core *core, struct ahead *a, struct position at)
{
	const struct batch *b = a->last;

	pass_between(a, at);
	begin_following(core, a);
	a->past = (struct position){at.number + (b->clock >> 32),
		at.ticks - ticks_of(a, at.number) + b->ports};
	a->units.phase = WARMING;
	a->units.next = at.number + batch_told.sample.warm;
}

/* A region is to be modelled in full, at a collect.  Where misses were not followed, what
 * was late by then is not known: as much as a line from memory, say, each time. */
static void begin_region_in_full(struct core *core, struct ahead *a)
{
	struct units *u = &a->units;
	uint64_t off = a->reach.latency[NOBODY][MEMORY];
	struct surprise of_all = {0}, of_misses = {0};

	if (!units_follow(u)) {
		begin_following(core, a);
		a->last = NULL;
		add_variance(&core->count[CP_SIM_time_variance], &of_all, off, 1);
		add_variance(&core->count[CP_SIM_miss_time_variance], &of_misses, off, 1);
	}
	begin_full(u, a->number, a->delay);
	u->next = at_most(end_of_full(u, a->number), a->number + LEARN_FULL);
}

/* The part that is modelled in full is over, for now, unless the region has more of it to
 * come. */
static void end_region_in_full(struct ahead *a, uint64_t number)
{
	struct units *u = &a->units;
	uint64_t end = end_of_full(u, number);

	learn_what_was_full(u->learnt);
	u->next = at_most(end, number + LEARN_FULL);
	if (end <= number)
		end_full(u, number, a->delay);
}

/* The next phase of the sample. */
static void change_sample(struct core *core, struct ahead *a, struct position at)
{
	struct units *u = &a->units;

	switch (u->phase) {
	case BETWEEN_UNITS:
		begin_foreseeing(core, a, at, core->next_step - 1);
		break;
	case FORESEEING:
		begin_warming(core, a, at);
		return;
	case WARMING:
		begin_unit(u);
		break;
	default:
		end_unit(u, at.number, a->delay);
		settle_gap(core, u);
		break;
	}
	u->began = at.number;
	u->delay_then = a->delay;
}

/* The phase is over, at the beginning of the batch that was noted last. */
static void change_phase(struct core *core, struct ahead *a, struct position at)
{
	int followed = units_follow(&a->units);

	weigh_counts(core, &a->units, &a->reach, at.number);
	if (a->units.phase == IN_FULL)
		end_region_in_full(a, at.number);
	else
		change_sample(core, a, at);
	if (followed && !units_follow(&a->units))
		end_following(core, a);
	begin_noting(core, a);
}

/* Batches are noted from and until those clocks.  before: instructions of the core before
 * its clock's. */
static void set_clocks(struct core *core, const struct units *u, uint64_t before)
{
	uint64_t next = u->next == UINT64_MAX ? UINT64_MAX
			: u->next > before    ? (u->next - before) << 32
					      : 0;

	core->noting_from = u->phase == BETWEEN_UNITS ? next : 0;
	core->noting_until = u->phase == BETWEEN_UNITS ? 0 : next;
	core->untold = !units_follow(u) && !core->uncore->stays && batch_told.is_for_time;
}

#endif
