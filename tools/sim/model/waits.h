/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions that wait for late values have entries of the scheduler; those behind them
 * are issued as long as there are any.  Behind ahead_internal.h, whose core this is
 * about.
 */
#ifndef CACHEPEEK_SIM_MODEL_WAITS_H
#define CACHEPEEK_SIM_MODEL_WAITS_H

/* When the last of what those instructions wait for is ready. */
LANES_INLINE when ready_waiting(struct ahead *a, const struct flow_wait *wait)
{
	uint64_t registers = wait->registers & a->late_begin,
		 loads = wait->loads & a->late_loads;
	when latest = 0;

	for (; registers; registers &= registers - 1)
		latest = later_of(
			latest, begin_of(a, (uint32_t)__builtin_ctzll(registers)));
	for (; loads; loads &= loads - 1)
		latest = later_of(latest, a->load[__builtin_ctzll(loads)]);
	return latest;
}

/* Instructions that wait for less than all its entries take to be issued leave some free.
 */
LANES_INLINE int may_fill_scheduler(
	const struct ahead *a, const struct flow_waits *all, struct position past)
{
	uint64_t latest = later_of(a->loads_until, a->late_until);

	return ((all->registers & a->late_begin) | (all->loads & a->late_loads)) &&
	       latest + all->longest >
		       a->scheduler_cycles +
			       cycle_of_issue(a, position_past(a, past).ticks);
}

/* Instructions of a batch that is over wait in the scheduler, or for it. */
static __attribute__((noinline)) void hold_entries(struct core *core, struct ahead *a,
	const struct flow_waits *all, struct position past)
{
	uint64_t now;

	advance_to(core, a, position_past(a, past));
	now = cycle_now(a);
	for (const struct flow_wait *wait = all->of; wait < all->of + all->n; wait++) {
		uint64_t got;
		when ready = ready_waiting(a, wait);

		if (cycle_of(ready) <= now)
			continue;
		got = held_take(&a->held, SCHEDULER, now,
			(uint32_t)at_most(wait->instructions, SCHEDULER),
			cycle_of(ready) + wait->longer);
		if (got > now)
			wait_for_value(core, a, ready, got - now);
		now = got;
	}
}

#endif
