/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The batches that have begun since somebody last looked: those whose time has to be
 * known, and all of them while any value is late.  A part of ahead.c, behind waits.h.
 */
#ifndef CACHEPEEK_SIM_TURNS_H
#define CACHEPEEK_SIM_TURNS_H

/* A branch went otherwise than foreseen, and is known then. */
LANES_INLINE void mispredict_branch(
	struct core *core, struct ahead *a, when known, const struct turn *turn)
{
	const struct batch *b = turn->step == a->steps ? a->last : turn->step[-1].batch;
	uint64_t resolved = cycle_now(a) + b->resolves, cycles = a->of.mispredict;

	if (a->chains)
		wait_for_chains(core, a, b);
	if (cycle_of(known) > cycle_now(a))
		wait_for_value(core, a, known, cycle_of(known) - cycle_now(a));
	if (resolved > cycle_now(a))
		cycles += resolved - cycle_now(a);
	a->delay += cycles;
	core->count[CP_SIM_time_branch] += cycles;
	a->redirected = cycle_now(a);
}

LANES_INLINE void take_turn(
	struct core *core, struct ahead *a, const struct turn *turn, when known)
{
	const struct batch *b = turn->step->batch;

	advance_to(core, a, position_past(a, turn->past));
	a->chains &= ~turn->anew;
	if (turn->is_branch) {
		mispredict_branch(core, a, known, turn);
		return;
	}
	if (b->divides)
		use_divider(core, a, b->divides);
	if (b->chain_cycles)
		lengthen_chain(core, a, b);
}

/* Takes the turns of a step, behind a superblock of that flow; returns the next ones. */
static __attribute__((noinline)) const struct turn *take_turns_late(
	struct core *core, struct ahead *a, const struct flow *f, const struct turn *turn)
{
	const struct step *step = turn->step;

	for (; turn->step == step; turn++)
		take_turn(core, a, turn,
			turn->is_branch ? ready_when(a, f, &f->value[f->nloads]) : 0);
	return turn;
}

/* A superblock begins: with registers as they are.  Those that are ready by now are found
 * when they are looked at.  Tells whether any may be late. */
LANES_INLINE uint64_t take_over(struct core *core, struct ahead *a, struct position past)
{
	advance_to(core, a, position_past(a, past));
	a->begun = cycle_now(a);
	if (a->late_until <= a->begun)
		a->late_now = 0;
	a->late_begin = a->late_now;
	a->late_loads = a->kept = 0;
	return a->late_now;
}

/* The steps whose time has to be known, which hangs on no time. */
LANES_INLINE void find_turns(
	const struct core *core, struct ahead *a, const struct step *end)
{
	struct history history = a->guesses.history;
	struct position past = a->past;
	struct turn *turn = a->turns;
	struct branched by = a->last ? branched_after(a->last) : (struct branched){0, 0};
	uint64_t anew = a->anew, taken = 0;
	struct behind behind = a->behind;

	for (const struct step *step = a->steps; step < end; step++) {
		const struct batch *b = step->batch;
		uint64_t longer = ticks_of_taken(core, &behind, step);

		behind = behind_step(core, step);
		past.ticks += longer;
		taken += longer;
		if (by.branches && guesses_miss(&a->guesses, &history, by.jumps,
					   guess_of(b, step->line))) {
			*turn++ = (struct turn){step, past, anew, 1};
			anew = 0;
			a->units.unforeseen.number++;
		}
		if (b->chain_cycles | b->divides) {
			*turn++ = (struct turn){step, past, anew, 0};
			anew = 0;
		}
		by = branched_after(b);
		anew |= b->anew;
		past.number += b->clock >> 32;
		past.ticks += b->ports;
	}
	turn->step = NULL;
	a->guesses.history = history;
	a->past = past;
	a->anew = anew;
	a->units.taken += taken;
}

/* Steps while any value is late, from that one on; the first turn behind them. */
static __attribute__((noinline)) const struct turn *follow_values(struct core *core,
	struct ahead *a, const struct step *step, const struct turn *turn,
	struct position past)
{
	const struct batch *over = step == a->steps ? a->last : step[-1].batch;
	const struct flow *f = over ? over->flow : NULL;
	struct behind behind = step == a->steps ? a->behind : behind_step(core, step - 1);

	for (; a->is_late && step < core->next_step; step++) {
		const struct batch *b = step->batch;

		past.ticks += ticks_of_taken(core, &behind, step);
		behind = behind_step(core, step);
		if (f && f->waits && may_fill_scheduler(a, f->waits, past))
			hold_entries(core, a, f->waits, past);
		pass_on(a, f);
		if (turn->step == step)
			turn = take_turns_late(core, a, f, turn);
		f = b->flow;
		if (f && f->begins)
			a->is_late = take_over(core, a, past);
		past.number += b->clock >> 32;
		past.ticks += b->ports;
	}
	return turn;
}

/* Turns while no value is late. */
static const struct turn *take_turns(
	struct core *core, struct ahead *a, const struct turn *turn)
{
	for (; turn->step && !a->is_late; turn++) {
		take_turn(core, a, turn, 0);
	}
	return turn;
}

/* Where what is behind the turn's batch begins. */
static struct position past_turn(const struct turn *turn)
{
	const struct batch *b = turn->step->batch;

	return (struct position){
		turn->past.number + (b->clock >> 32), turn->past.ticks + b->ports};
}

#endif
