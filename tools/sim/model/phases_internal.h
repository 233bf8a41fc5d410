/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where time is modelled in samples: what the core does between units, and how one phase
 * of the sample (model/units.h) becomes the next.
 */
#ifndef CACHEPEEK_SIM_PHASES_INTERNAL_H
#define CACHEPEEK_SIM_PHASES_INTERNAL_H

#include "model/ahead_internal.h"

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

/* Before units branches alone are looked at.  Which steps are behind one the host could
 * not foresee, so those are sorted out without a branch. */
static void learn_branches(struct core *core, struct ahead *a)
{
	const struct step *end = core->next_step, *behind[AHEAD_STEPS];
	struct history history = a->guesses.history;
	struct branched by = a->last ? branched_after(a->last) : (struct branched){0, 0};
	uint32_t jumps[AHEAD_STEPS], n = 0;
	uint64_t missed = 0;

	if (end == a->steps)
		return;
	for (const struct step *step = a->steps; step < end; step++) {
		behind[n] = step;
		jumps[n] = by.jumps;
		n += by.branches;
		by = branched_after(step->batch);
	}
	for (uint32_t i = 0; i < n; i++)
		missed += (uint32_t)guesses_miss(&a->guesses, &history,
			(struct branched){1, jumps[i]}, behind[i]->batch,
			behind[i]->line);
	a->guesses.history = history;
	a->last = end[-1].batch;
	a->behind = behind_step(core, end - 1);
	a->units.unforeseen.number += missed;
	core->next_step = a->steps;
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
}

/* Misses are followed behind what was not: with nothing late.  Lines of page tables are
 * as old as if nothing had been between, for walks there were not looked at. */
static void begin_following(struct core *core, struct ahead *a)
{
	struct brought now = brought_so_far(core, a);

	(void)now;
	a->brought.l2 -= now.l2 - a->followed.l2;
	see_all(core, a);
	a->lines.n = a->ends.n = 0;
	a->is_late = a->late_now = a->late_begin = a->late_loads = a->kept = 0;
	a->lines_ready = a->chains_end = 0;
	a->chains = a->anew = 0;
	a->forks.n = a->forks.is_whole = 0;
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
	struct surprise here = {0, 0};

	if (!units_follow(u)) {
		begin_following(core, a);
		a->last = NULL;
		add_variance(&core->count[CP_SIM_time_variance], &here, off, 1);
		add_variance(&core->count[CP_SIM_miss_time_variance], &here, off, 1);
	}
	begin_full(u, a->number, a->delay);
	u->next = end_of_full(u, a->number);
}

/* What is modelled in full is over, for now, unless the region has more of it to come. */
static void end_region_in_full(struct ahead *a, uint64_t number)
{
	struct units *u = &a->units;

	u->next = end_of_full(u, number);
	if (u->next <= number)
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
	core->untold = !units_follow(u) && !core->uncore->stays && batch_told.is_for_time;
}

#endif
