/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Time of a sample: caches, TLBs and all that is counted there are simulated in full, but
 * batches are noted, and misses followed, in units only.  Each period of instructions has
 * one, somewhere in it; before it comes a stretch that only brings the core into the
 * state that it would have had.  What a unit's instructions wait for stands for the
 * period's; what they take if nothing is late is known of all.  The beginning of a core
 * is modelled in full, since it is like nothing else.
 *
 * The counts are sums of units, each of which was drawn by itself with the same chance.
 * The variance of such a sum is that of its units' squares.  Who collects within a unit,
 * for a region that ends there, say, gets of its square what his part and all before it
 * in the unit make: so variances of regions add up to the whole's, and none is too small:
 * that of a region is what it would have if it ran in as few units as it fits into.
 */
#ifndef CACHEPEEK_SIM_AHEAD_INTERNAL_H
#define CACHEPEEK_SIM_AHEAD_INTERNAL_H

#include "model/ahead_parts.h"

/* ---- the plan ---- */

/* Somewhere in the period, behind its warm-up. */
static uint64_t draw_unit(struct units *u)
{
	uint64_t room = batch_told.sample.period - batch_told.sample.warm -
			batch_told.sample.unit + 1;

	u->random ^= u->random << 13;
	u->random ^= u->random >> 7;
	u->random ^= u->random << 17;
	return u->period + (u->random >> 16) % room;
}

static void set_next_unit(struct units *u)
{
	u->phase = BETWEEN_UNITS;
	u->next = draw_unit(u);
}

static void units_init(struct units *u)
{
	u->random = 88172645463325252ull;
	u->phase = IN_FULL;
	u->next = batch_told.sample.unit ? batch_told.sample.full : UINT64_MAX;
}

/* ---- counts ---- */

/* How much of time's counters are there of each cycle that was waited. */
static uint32_t weight_of(const struct units *u)
{
	return u->phase == IN_FULL   ? 1
	       : u->phase == IN_UNIT ? batch_told.sample.period / batch_told.sample.unit
				     : 0;
}

static int is_of_delays(int counter)
{
	return counter != CP_SIM_cycles && counter != CP_SIM_time_issue &&
	       counter < CP_SIM_TIME_SAMPLE;
}

/* Of the part of a unit that waited so many cycles: 256ths, of squares of cycles. */
static void add_variance(struct core *core, struct units *u, uint64_t waited)
{
	uint64_t weight = weight_of(u),
		 more = waited * (2 * u->waited + waited) * weight * (weight - 1) +
			u->variance_left;

	core->count[CP_SIM_time_variance] += more >> TIME_VARIANCE_BITS;
	u->variance_left = more & ((1 << TIME_VARIANCE_BITS) - 1);
	u->waited += waited;
}

/* Ends a stretch of one phase, or a part of it: what was waited there counts as often as
 * it stands for. */
static void weigh_counts(struct core *core, struct ahead *a, uint64_t number)
{
	struct units *u = &a->units;
	uint64_t waited = 0, *count = core->count;
	uint32_t weight = weight_of(u);

	for (int i = CP_SIM_TIMED; i < CP_SIM_TIMED_END; i++) {
		uint64_t grown = count[i] - u->mark[i - CP_SIM_TIMED];

		if (!is_of_delays(i))
			continue;
		waited += i >= CP_SIM_STACK ? grown : 0;
		count[i] += grown * weight - grown;
		u->mark[i - CP_SIM_TIMED] = count[i];
	}
	if (u->phase == IN_UNIT)
		add_variance(core, u, waited);
	count[weight ? CP_SIM_timed_instructions : CP_SIM_untimed_instructions] +=
		number - u->weighed;
	u->weighed = number;
}

/* Before somebody takes the counts. */
static void tell_counts(struct core *core, struct ahead *a)
{
	struct units *u = &a->units;

	if (u->phase == IN_FULL) {
		core->count[CP_SIM_timed_instructions] += a->number - u->weighed;
		u->weighed = a->number;
		return;
	}
	weigh_counts(core, a, a->number);
	for (int i = 0; i < CP_SIM_TIMED_END - CP_SIM_TIMED; i++)
		u->mark[i] = 0;
}

/* All cycles are one of the stack's. */
static void add_cycles(struct core *core)
{
	for (int i = CP_SIM_STACK; i < CP_SIM_STACK_END; i++)
		core->count[CP_SIM_cycles] += core->count[i];
}

/* ---- between units ---- */

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
	uint64_t asked = core->count[of] + core->count[of + 1];

	if (!core->uncore->stays || asked == a->units.asked)
		return;
	a->units.asked = asked;
	pass_between(a, position_after(core, a, origin->number));
	if (origin->address)
		has_left(core, a, origin->address);
}

/* ---- phases ---- */

/* A thread of its own state begins behind what was not followed: with nothing late. */
static void begin_warming(
	struct core *core, struct ahead *a, struct position at, const struct step *first)
{
	const struct batch *b = first->batch;

	pass_between(a, at);
	see_all(core, a);
	a->nwalls = 0;
	a->is_late = a->late_now = a->late_begin = a->late_loads = a->kept = 0;
	a->lines_ready = 0;
	a->last = b;
	a->past = (struct position){at.number + (b->clock >> 32),
		at.ticks - ticks_of(a, at.number) + b->chain};
	a->units.phase = WARMING;
	a->units.next = at.number + batch_told.sample.warm;
}

static void end_unit(struct ahead *a, struct position at)
{
	struct units *u = &a->units;

	if (u->phase == IN_FULL)
		u->period = at.number;
	else
		u->period += batch_told.sample.period;
	u->delays += a->delay - u->delay_then;
	u->modelled += at.number - u->began;
	set_next_unit(u);
}

static void begin_unit(struct units *u)
{
	u->phase = IN_UNIT;
	u->next += batch_told.sample.unit;
	u->waited = 0;
}

/* The phase is over, at the beginning of the batch that was noted last. */
static void change_phase(struct core *core, struct ahead *a, struct position at)
{
	struct units *u = &a->units;

	weigh_counts(core, a, at.number);
	switch (u->phase) {
	case BETWEEN_UNITS:
		begin_warming(core, a, at, core->next_step - 1);
		break;
	case WARMING:
		begin_unit(u);
		break;
	default:
		end_unit(a, at);
		break;
	}
	if (u->phase != WARMING) {
		u->began = at.number;
		u->delay_then = a->delay;
	}
	core->next_step = a->steps;
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
	core->untold = u->phase == BETWEEN_UNITS && !core->uncore->stays &&
		       batch_told.is_for_time;
}

#endif
