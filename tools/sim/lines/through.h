/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Values that go through memory from one superblock to another: what a store leaves
 * before it is ready is late for a load of the same address.
 *
 * The addresses of batches' places are noted now and then (NOTE_EACH), and of batches
 * that have met a value that was late, or left one, as long as that happens again.  So it
 * costs next to nothing where values do not go that way.
 */
#ifndef CACHEPEEK_SIM_THROUGH_H
#define CACHEPEEK_SIM_THROUGH_H

#define MEETS_ANEW 63 /* batches behind a meeting */

/* A load finds what was stored there. */
static void meet_word(struct core *core, struct ahead *a, const struct flow_touch *t,
	uint64_t address, uint64_t meeting)
{
	const struct word *w = words_at(&a->words, address);
	uint64_t by_memory = w->by_memory | t->by_memory ? a->of.l1 + CARRIED_CYCLES : 0;
	when ready = when_behind(w->ready, (uint32_t)by_memory);
	uint64_t reach = at_most(w->reach * (a->at.number - w->number), a->of.window);
	struct trip trip = {.ready = cycle_of(ready), .level = level_in(ready)};

	if (w->address != address || trip.ready <= cycle_now(a) + a->of.l1)
		return;
	value_comes(a, t->load, when_of(trip.ready, OF_CHAIN));
	core->meets[meeting] = core->meets[w->by] = MEETS_ANEW;
	add_end(core, a, (uint32_t)reach, &trip);
}

/* A batch with places begins: its loads. */
static void meet_words(struct core *core, struct ahead *a, const struct turn *turn)
{
	const struct flow *f = turn->step->batch->flow;
	const struct flow_touch *t = flow_touches(f);
	struct touched *left = &a->storing;

	advance_to(core, a, position_past(a, turn->past));
	*left = *turn->touched;
	left->flow = f;
	left->issued = cycle_now(a);
	left->number = a->at.number;
	if (core->meets[left->meeting])
		core->meets[left->meeting]--;
	for (uint32_t n = f->ntouches; n; n--, t++)
		if (t->load < FLOW_LOADS)
			meet_word(core, a, t,
				left->at[t->place] + (uint64_t)(int64_t)t->at,
				left->meeting);
}

/* A store's data is ready then, if it is late. */
static void leave_word(struct ahead *a, const struct flow_touch *t, when late)
{
	const struct touched *left = &a->storing;
	uint64_t address = left->at[t->place] + (uint64_t)(int64_t)t->at;
	when ready = when_of(left->issued + t->add, OF_CHAIN);

	*words_at(&a->words, address) = (struct word){address, later_of(late, ready),
		left->number, t->reach, (uint16_t)left->meeting, t->by_memory};
}

/* It is over: its stores.  late: values may be. */
static void leave_words(struct ahead *a, int late)
{
	const struct flow *f = a->storing.flow;
	const struct flow_touch *t = flow_touches(f);

	for (uint32_t n = f->ntouches; n; n--, t++)
		if (t->load == FLOW_LOADS)
			leave_word(
				a, t, late ? ready_when(a, f, &f->value[t->value]) : 0);
	a->storing.flow = 0;
}

#endif
