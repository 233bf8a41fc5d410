/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Time of a sample: caches, TLBs and all that is counted there are simulated in full, but
 * misses are followed in units only.  Each period of instructions has one, somewhere in
 * it; before it comes a stretch that only brings the core into the state that it would
 * have had, and before that one in which branches alone are looked at.
 *
 * The first instructions of each region are modelled in full (struct learnt), since what
 * a region takes is expected of others of the same one, and short ones are never in a
 * unit. So are some behind such a region: if it comes again soon, it finds the core as it
 * should be.  The sample does not see them: it goes on behind them as if they had not
 * been.
 *
 * What instructions take if nothing is late is known of all.  All else is expected to
 * take as long as its causes did lately (struct mean): misses of a kind, say, which are
 * counted in full; and what a unit takes more or less than that, its whole period does.
 * Branches that are not foreseen are known of a stretch and its unit only, a window.  In
 * between, as many are expected as there were lately in so many instructions; and those
 * that a window has more or less, it has for what is between it and the one before, too.
 *
 * The counts are sums of what was expected, without which no difference would be one,
 * and of the differences of units, and of windows, each of which was drawn by itself with
 * the same chance: the variance of such a sum is that of their squares.  Causes between
 * units of which the last unit had next to none add the square of what they are expected
 * to take, for nobody has seen whether they do.  A region that ends within a unit has of
 * its square what its part and all before it in the unit make, each as if all had the
 * same sign: so variances of regions add up to the whole's, and none is too small.
 * Whoever collects within a region, where a slice of its thread ends, changes nothing:
 * what was more than expected before makes up for what is less behind.
 */
#ifndef CACHEPEEK_SIM_UNITS_H
#define CACHEPEEK_SIM_UNITS_H

#include "model/deed.h"
#include "model/hidden.h"
#include "model/model.h"
#include "units/learnt.h"

/* The phases of a core's sample.  Instructions are modelled IN_FULL or IN_UNIT for their
 * time, all of them or a unit; WARMING so that a unit begins with a core that is warm;
 * FORESEEING for predictions of branches; BETWEEN_UNITS for nothing. */
enum unit_phase { IN_FULL, IN_UNIT, WARMING, FORESEEING, BETWEEN_UNITS };

#define IS_OF_MISSES(part) ((part) >= PART(l2))

#define TIME_VARIANCE_BITS 8
#define GAP_BITS 12
#define DELAYS_KEPT 65536 /* instructions */
#define LINGER 65536      /* instructions behind a region that is modelled in full */
#define LEARN_FULL 262144 /* instructions in full, between what is learnt of them */

/* How many there are of each cause since the last collect, and cycles that are known: of
 * parts those that others of their causes took. */
struct causes {
	uint64_t of[TIME_CAUSES], known[TIME_CAUSES];
};

/* How far a unit so far is from what was expected of it; and of that the region. */
struct surprise {
	uint64_t cycles, part;
	uint64_t variance_left; /* what is not yet a 256th */
};

/* Branches that are not foreseen. */
struct unforeseen {
	uint64_t number, mark; /* that were looked at; up to what is weighed */
	uint64_t gap, window;  /* instructions before it, and of it */
	uint64_t left;         /* of what it has for those: GAP_BITS */
	uint64_t off;          /* in the region: more than expected, or less */
	struct surprise surprise;
};

/* The instructions before a unit, where no unit had seen some of their causes yet: those
 * causes, and how far they were taken to be off; how far all was, if it is one region's,
 * which that is. */
struct gap {
	const struct learnt *of; /* NULL: of several */
	uint64_t causes[TIME_CAUSES], cycles[TIME_CAUSES];
	uint64_t all, misses;
};

/* Where a core is in its sample. */
struct units {
	enum unit_phase phase;
	uint64_t next;    /* number of instructions at which the phase ends */
	uint64_t warms;   /* the same, of that before WARMING */
	uint64_t period;  /* where the period of the next unit begins */
	uint64_t random;  /* state */
	uint64_t unit;    /* its number, or that of the next one */
	uint64_t weighed; /* instructions, up to where counts are weighed */
	uint64_t mark[CP_SIM_TIMED_END - CP_SIM_TIMED]; /* those counts */
	uint64_t code[CODE_LEVELS]; /* cycles that code was waited for */
	/* Up to where counts are weighed: causes, and cycles that are known. */
	struct causes seen;
	struct learnt *learnt, own; /* of the region; where nobody tells of regions */
	struct unforeseen unforeseen;
	struct surprise all, misses;
	struct gap gap;
	uint64_t off[TIME_CAUSES]; /* the region in this unit: more than expected, or less
				    */
	uint64_t began, delay_then; /* of the phase, but for WARMING */
	uint64_t delays, modelled;  /* of what was modelled lately; its instructions */
	uint64_t asked;             /* lines, between units */
	/* Ticks of branches that were taken, where that was looked at; up to where counts
	 * are weighed. */
	uint64_t taken, weighed_taken;
	/* While a region is modelled in full: where the sample goes on behind it, and
	 * since when; IN_FULL: there was none yet.  Until when others are, too. */
	enum unit_phase rest;
	uint64_t rest_next, rested, delay_rested, lingers;
};

/* Misses are followed. */
LANES_INLINE int units_follow(const struct units *u)
{
	return u->phase <= WARMING;
}

/* ---- the plan ---- */

/* Somewhere in the period, behind its warm-up. */
static inline uint64_t draw_unit(struct units *u)
{
	uint64_t room = batch_told.sample.period - batch_told.sample.warm -
			batch_told.sample.unit + 1;

	u->random ^= u->random << 13;
	u->random ^= u->random >> 7;
	u->random ^= u->random << 17;
	return u->period + (u->random >> 16) % room;
}

/* Branches are looked at from there on. */
static inline void begin_window(struct units *u, uint64_t at)
{
	struct unforeseen *f = &u->unforeseen;

	f->gap = at - u->began;
	f->window = u->warms + batch_told.sample.warm + batch_told.sample.unit - at;
	f->surprise.cycles = f->surprise.part = f->off = 0;
	u->phase = FORESEEING;
	u->next = u->warms;
}

/* Behind a unit; began: now. */
static inline void set_next_unit(struct units *u)
{
	uint64_t learns;

	u->warms = draw_unit(u);
	learns = u->warms - at_most(u->warms, batch_told.sample.branches);
	u->phase = BETWEEN_UNITS;
	u->next = learns;
	if (learns <= u->began)
		begin_window(u, u->began);
}

static inline void units_init(struct units *u)
{
	u->random = 88172645463325252ull;
	u->phase = u->rest = IN_FULL;
	u->learnt = &u->own;
	learnt_begin(u->learnt, batch_told.sample.full);
	u->next = batch_told.sample.unit ? at_most(batch_told.sample.full, LEARN_FULL)
					 : UINT64_MAX;
}

/* ---- causes ---- */

static inline void add_lines(
	const struct reach *r, struct missed missed, uint64_t to[NLEVELS])
{
	uint64_t lines[NLEVELS];

	split_lines(r, &missed, lines);
	for (int level = 0; level < NLEVELS; level++)
		to[level] += lines[level];
}

/* Lines that keep buffers and levels busy, as long as their level takes. */
static inline uint64_t cycles_of_lines(
	const struct reach *r, const uint64_t lines[NLEVELS])
{
	uint64_t cycles = 0;

	for (int level = 0; level < NLEVELS; level++)
		cycles += lines[level] * r->latency[NOBODY][level];
	return cycles;
}

/* Lines that others' caches had are memory's, by a longer way. */
static inline void find_causes_of_code(const struct units *u, const struct reach *r,
	const struct change *by, struct causes *c)
{
	uint64_t lines[NLEVELS] = {0}, *of = c->of + TIME_PARTS;

	add_lines(r, missed_by_fetch(by), lines);
	c->known[PART(tlb)] =
		cycles_of_pages(r, GREW(by, itlb_misses), GREW(by, itlb_walks));
	of[SECOND] = lines[SECOND];
	of[LAST] = lines[LAST];
	of[MEMORY] = lines[MEMORY] + lines[ONE_HOP] + lines[TWO_HOPS];
	for (enum level level = SECOND; level < CODE_LEVELS; level++)
		c->known[stack_of(level) - CP_SIM_STACK] = c->known[TIME_PARTS + level] =
			u->code[level];
}

/* Chains are as many as instructions, whose number is the core's, as is that of branches.
 */
static inline void find_causes(const struct core *core, const struct units *u,
	const struct reach *r, uint64_t number, struct causes *c)
{
	static const uint64_t nothing[SEEN];
	uint64_t room[SEEN];
	struct change by = {counts_for_time(core, room), nothing};
	struct deed did = deed_of(r, &by);
	uint64_t loads[NLEVELS] = {0}, stores[NLEVELS] = {0};

	add_lines(r, misses_of_load(&by, &did).lines, loads);
	add_lines(r, misses_of_store(&by, &did).lines, stores);
	c->of[PART(issue)] = number;
	c->of[PART(branch)] = u->unforeseen.number;
	c->of[PART(l2)] = loads[SECOND];
	c->of[PART(llc)] = loads[LAST];
	c->of[PART(memory)] = loads[MEMORY] + loads[ONE_HOP] + loads[TWO_HOPS];
	c->of[PART(tlb)] = cycles_of_pages(
		r, did.pages, GREW(&by, dtlb_load_walks) + GREW(&by, dtlb_store_walks));
	c->of[PART(store)] = cycles_of_lines(r, stores);
	c->of[PART(bandwidth)] = c->of[PART(store)] + cycles_of_lines(r, loads);
	find_causes_of_code(u, r, &by, c);
}

/* ---- counts ---- */

/* How much of time's counters are there of each cycle that was waited. */
static inline uint32_t weight_of(const struct units *u)
{
	return u->phase == IN_FULL   ? 1
	       : u->phase == IN_UNIT ? batch_told.sample.period / batch_told.sample.unit
				     : 0;
}

static inline uint64_t size_of(uint64_t difference)
{
	return difference >> 63 ? -difference : difference;
}

/* Adds the variance of a part of a unit, or of what is between, that may be so many
 * cycles from what was expected, with what was told of it before, which may be more:
 * 256ths, of squares of cycles. */
static inline void add_variance(
	uint64_t *count, struct surprise *s, uint64_t part, uint64_t factor)
{
	uint64_t cycles = part - s->part,
		 more = cycles * (2 * s->cycles + cycles) * factor + s->variance_left;

	*count += (uint64_t)((int64_t)more >> TIME_VARIANCE_BITS);
	s->variance_left = more & ((1 << TIME_VARIANCE_BITS) - 1);
	s->cycles += cycles;
	s->part = part;
}

/* The rest of the unit is another region's. */
static inline void end_part(struct units *u)
{
	for (int i = 0; i < TIME_CAUSES; i++)
		u->off[i] = 0;
	u->all.part = u->misses.part = 0;
	u->unforeseen.off = u->unforeseen.surprise.part = 0;
}

/* A window that has more than was expected, or less, stands for the gap before it, too.
 */
static inline uint64_t stand_for_gap(struct unforeseen *f, uint64_t difference)
{
	int64_t more =
		(int64_t)(difference * ((f->gap << GAP_BITS) / f->window) + f->left);

	f->left = (uint64_t)more & ((1 << GAP_BITS) - 1);
	return (uint64_t)(more >> GAP_BITS);
}

/* Branches that were looked at since it was weighed, in a window or in full, of which so
 * many were expected: how many there are beside them. */
static inline uint64_t branches_of_window(struct core *core, struct units *u,
	uint64_t instructions, uint64_t found, uint64_t expected)
{
	struct unforeseen *f = &u->unforeseen;
	struct rate *rate = &u->learnt->rate;
	uint64_t off;

	rate->found += found;
	rate->passed += instructions;
	if (u->phase == IN_FULL || !f->gap)
		return 0;
	f->off += found - expected;
	off = size_of(f->off) * u->learnt->mean[PART(branch)].each >> MEAN_BITS;
	add_variance(&core->count[CP_SIM_time_variance], &f->surprise,
		off * (2 * f->gap + f->window) / (2 * f->window), 1);
	return stand_for_gap(f, found - expected);
}

/* Branches beside those that were looked at, since it was weighed; of windows, how far
 * they may be off adds up: more * (more + 1) squares, if they have so many times more. */
static inline uint64_t branches_beyond(
	struct core *core, struct units *u, uint64_t instructions)
{
	struct unforeseen *f = &u->unforeseen;
	uint64_t expected = 0, found;

	if (u->phase != IN_FULL)
		expected = expected_branches(&u->learnt->rate, instructions);
	if (u->phase == BETWEEN_UNITS)
		return expected;
	found = f->number - f->mark;
	f->mark = f->number;
	return branches_of_window(core, u, instructions, found, expected);
}

/* The most that one takes, as far as that is expected: a line all the way from its level,
 * once more if it waits for room; a walk some times what it takes alone, as its tables
 * may be far.  0: there is no limit, as ends of chains, and branches, are not counted one
 * by one. */
static inline uint64_t most_of_cause(const struct reach *r, int cause)
{
	switch (cause) {
	case PART(issue):
	case PART(branch):
		return 0;
	case PART(l2):
	case PART(llc):
	case PART(memory):
		return r->latency[NOBODY][SECOND + (cause - PART(l2))];
	case PART(tlb):
		return 4;
	default:
		return cause < TIME_PARTS ? 1 : r->latency[NOBODY][cause - TIME_PARTS];
	}
}

/* Causes that no unit has seen yet take from nothing to the most, which is two
 * deviations. Of lines that keep buffers busy there are as many at once as buffers. */
static inline uint64_t unseen_cycles(
	struct mean *m, const struct reach *r, int cause, uint64_t causes, uint64_t most)
{
	uint32_t buffers = r->of.fill_buffers, at_once = 1;

	if ((cause == PART(bandwidth) || cause == PART(store)) && buffers)
		at_once = buffers;
	return whole_cycles(m, causes * most, 2 * at_once);
}

/* Cycles of a cause since it was weighed: where they are not modelled, what is expected
 * counts, and in units the difference counts as often as it stands for, so that a sum may
 * be below 0 for a while (request.h).  Returns how far it may be off. */
static inline uint64_t weigh_cause(struct units *u, const struct reach *r, int cause,
	uint64_t *count, uint64_t causes, uint64_t cycles)
{
	struct mean *m = &u->learnt->mean[cause];
	uint64_t off, most = most_of_cause(r, cause);

	if (u->phase == IN_FULL) {
		m->full_cycles += cycles;
		m->full_causes += causes;
		return 0;
	}
	limit_mean(m, most);
	if (u->phase == IN_UNIT) {
		m->unit_cycles += cycles;
		m->unit_causes += causes;
		off = cycles - expected_cycles(m, causes);
		*count += off * (weight_of(u) - 1);
		return off;
	}
	*count += expected_cycles(m, causes) - cycles;
	if (m->causes)
		return uncovered(m, causes);
	off = unseen_cycles(m, r, cause, causes, most);
	u->gap.causes[cause] += causes;
	u->gap.cycles[cause] += off;
	return off;
}

/* Part of which cause. */
static inline int part_of_cause(int cause)
{
	return cause < TIME_PARTS
		       ? cause
		       : (int)(stack_of((enum level)(cause - TIME_PARTS)) - CP_SIM_STACK);
}

/* Cycles of branches that were taken, since it was weighed. */
static inline uint64_t cycles_of_taken(struct units *u)
{
	uint64_t cycles = (u->taken - u->weighed_taken) / AHEAD_TICKS;

	u->weighed_taken += cycles * AHEAD_TICKS;
	return cycles;
}

/* Cycles that each cause took since it was weighed.  Those of branches that were taken
 * are among what instructions take if nothing is late, so they are counted where they
 * are looked at; where they are not, as many are expected. */
static inline void find_cycles(const struct core *core, struct units *u,
	const struct causes *c, uint64_t cycles[TIME_CAUSES])
{
	for (int part = 0; part < TIME_PARTS; part++)
		cycles[part] = core->count[CP_SIM_STACK + part] -
			       u->mark[CP_SIM_STACK + part - CP_SIM_TIMED] -
			       (c->known[part] - u->seen.known[part]);
	for (int level = 0; level < CODE_LEVELS; level++)
		cycles[TIME_PARTS + level] =
			u->code[level] - u->seen.known[TIME_PARTS + level];
	cycles[PART(issue)] += cycles_of_taken(u);
}

static inline void weigh_stack(
	struct core *core, struct units *u, const struct reach *r, uint64_t number)
{
	uint64_t weight = weight_of(u),
		 factor = u->phase == IN_UNIT ? weight * (weight - 1) : 1, all = 0,
		 misses = 0, cycles[TIME_CAUSES],
		 beyond = branches_beyond(core, u, number - u->weighed);
	struct causes causes = {{0}, {0}};

	find_causes(core, u, r, number, &causes);
	find_cycles(core, u, &causes, cycles);
	for (int i = 0; i < TIME_CAUSES; i++) {
		int part = part_of_cause(i);
		uint64_t *count = &core->count[CP_SIM_STACK + part], off;

		u->off[i] += weigh_cause(
			u, r, i, count, causes.of[i] - u->seen.of[i], cycles[i]);
		off = size_of(u->off[i]);
		if (i == PART(branch))
			*count += expected_cycles(&u->learnt->mean[i], beyond);
		all += off;
		misses += IS_OF_MISSES(part) ? off : 0;
	}
	u->seen = causes;
	for (int part = 0; part < TIME_PARTS; part++)
		u->mark[CP_SIM_STACK + part - CP_SIM_TIMED] =
			core->count[CP_SIM_STACK + part];
	add_variance(&core->count[CP_SIM_time_variance], &u->all, all, factor);
	add_variance(&core->count[CP_SIM_miss_time_variance], &u->misses, misses, factor);
}

/* So many more are weighed. */
static inline void pass_instructions(struct units *u, uint64_t instructions)
{
	struct learnt *l = u->learnt;

	if (u->phase == IN_FULL)
		l->full -= at_most(l->full, instructions);
	else if (u->phase != BETWEEN_UNITS)
		learnt_pass(l, u->unit, instructions);
}

/* Ends a stretch of one phase, or a part of it: what was waited there counts as often as
 * it stands for. */
static inline void weigh_counts(
	struct core *core, struct units *u, const struct reach *r, uint64_t number)
{
	uint64_t *count = core->count;
	uint32_t weight = weight_of(u);

	for (int i = CP_SIM_TIMED; i < CP_SIM_STACK; i++) {
		uint64_t grown = count[i] - u->mark[i - CP_SIM_TIMED];

		if (i == CP_SIM_cycles)
			continue;
		count[i] += grown * weight - grown;
		u->mark[i - CP_SIM_TIMED] = count[i];
	}
	weigh_stack(core, u, r, number);
	count[weight ? CP_SIM_timed_instructions : CP_SIM_untimed_instructions] +=
		number - u->weighed;
	pass_instructions(u, number - u->weighed);
	u->weighed = number;
}

/* Before somebody takes the counts, and begins them anew. */
static inline void units_tell(
	struct core *core, struct units *u, const struct reach *r, uint64_t number)
{
	if (!batch_told.sample.unit) {
		core->count[CP_SIM_timed_instructions] += number - u->weighed;
		u->weighed = number;
		return;
	}
	weigh_counts(core, u, r, number);
	for (int i = 0; i < CP_SIM_TIMED_END - CP_SIM_TIMED; i++)
		u->mark[i] = 0;
	for (int level = 0; level < CODE_LEVELS; level++)
		u->code[level] = 0;
	for (int i = 0; i < TIME_CAUSES; i++) {
		u->seen.of[i] = IS_OF_MISSES(i) ? 0 : u->seen.of[i];
		u->seen.known[i] = 0;
	}
}

/* ---- phases ---- */

static inline void begin_surprises(struct units *u)
{
	u->all = (struct surprise){.variance_left = u->all.variance_left};
	u->misses = (struct surprise){.variance_left = u->misses.variance_left};
	for (int i = 0; i < TIME_CAUSES; i++)
		u->off[i] = 0;
}

/* How far what is before the unit may be off is known until that is over. */
static inline void keep_gap(struct units *u)
{
	struct gap *g = &u->gap;

	g->of = u->all.cycles == u->all.part ? u->learnt : NULL;
	g->all = u->all.cycles;
	g->misses = u->misses.cycles;
}

/* So much less than was counted of that. */
static inline void take_variance(uint64_t *count, uint64_t was, uint64_t less)
{
	*count -= less * (2 * was - less) >> TIME_VARIANCE_BITS;
}

/* The unit is learnt of: it may have seen what none had before it, which is not off by
 * more than that took. */
static inline void settle_gap(struct core *core, struct units *u)
{
	struct gap *g = &u->gap;
	uint64_t less = 0, misses = 0;

	for (int i = 0; g->of == u->learnt && i < TIME_CAUSES; i++) {
		const struct mean *m = &u->learnt->mean[i];
		uint64_t seen = at_most(g->causes[i], m->covered), was, is;

		if (!seen)
			continue;
		was = g->cycles[i] * seen / g->causes[i];
		is = at_most(was, seen * m->each >> MEAN_BITS);
		less += was - is;
		misses += IS_OF_MISSES(part_of_cause(i)) ? was - is : 0;
	}
	take_variance(&core->count[CP_SIM_time_variance], g->all, less);
	take_variance(&core->count[CP_SIM_miss_time_variance], g->misses, misses);
	*g = (struct gap){0};
}

static inline void begin_unit(struct units *u)
{
	keep_gap(u);
	u->phase = IN_UNIT;
	u->next += batch_told.sample.unit;
	begin_surprises(u);
}

static inline void learn_of_region(struct units *u)
{
	learn_windows(
		u->learnt, u->unit, batch_told.sample.period / batch_told.sample.unit);
}

/* Begins what is between units at that number of instructions, with that delay. */
static inline void begin_between(struct units *u, uint64_t at, uint64_t delay)
{
	begin_surprises(u);
	u->began = at;
	u->delay_then = delay;
	set_next_unit(u);
}

/* So many instructions more were modelled, with those delays. */
static inline void add_modelled(struct units *u, uint64_t instructions, uint64_t delays)
{
	u->delays += delays;
	u->modelled += instructions;
	if (u->modelled > DELAYS_KEPT) {
		u->delays = u->delays * DELAYS_KEPT / u->modelled;
		u->modelled = DELAYS_KEPT;
	}
}

/* delay: of the core so far. */
static inline void end_unit(struct units *u, uint64_t at, uint64_t delay)
{
	u->period += batch_told.sample.period;
	add_modelled(u, at - u->began, delay - u->delay_then);
	u->unit++;
	learn_of_region(u);
	begin_between(u, at, delay);
}

/* Until when all is modelled in full, as things are. */
static inline uint64_t end_of_full(const struct units *u, uint64_t at)
{
	uint64_t end = at + u->learnt->full;

	return end > u->lingers ? end : u->lingers;
}

/* The core follows misses; the sample rests. */
static inline void begin_full(struct units *u, uint64_t at, uint64_t delay)
{
	u->rest = u->phase;
	u->rest_next = u->next;
	u->rested = at;
	u->delay_rested = delay;
	u->phase = IN_FULL;
}

/* The sample begins, or goes on where it was. */
static inline void end_full(struct units *u, uint64_t at, uint64_t delay)
{
	uint64_t more = at - u->rested;

	add_modelled(u, more, delay - u->delay_rested);
	if (u->rest == IN_FULL) {
		u->period = at;
		begin_between(u, at, delay);
		return;
	}
	u->phase = u->rest;
	u->next = u->rest_next + more;
	u->warms += more;
	u->period += more;
	u->began += more;
	u->delay_then += delay - u->delay_rested;
}

#endif
