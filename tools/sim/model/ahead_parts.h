/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The state of a core that executes out of order (ahead.h), how its times are written,
 * and when values are ready: those of registers, and of a superblock's loads, by its flow
 * (flow.h).
 */
#ifndef CACHEPEEK_SIM_AHEAD_PARTS_H
#define CACHEPEEK_SIM_AHEAD_PARTS_H

#include "model/ahead.h"
#include "model/deed.h"
#include "model/facts.h"
#include "model/guess.h"
#include "model/host.h"
#include "model/room.h"

#define WALLS 1024 /* powers of two */
#define ENTRIES TIMING_BUFFERS
#define STEP_BITS 14

/* Where the program has got to: instructions before it, and ticks that they take if
 * nothing is late. */
struct position {
	uint64_t number, ticks;
};

/* When a value is ready, and from which level the line came that it hangs on: one number
 * that can be compared. */
typedef uint64_t when;
#define LEVEL_BITS 3

LANES_INLINE when when_of(uint64_t cycle, enum level level)
{
	return cycle << LEVEL_BITS | level;
}

LANES_INLINE uint64_t cycle_of(when w)
{
	return w >> LEVEL_BITS;
}

LANES_INLINE enum level level_in(when w)
{
	return (enum level)(w & ((1 << LEVEL_BITS) - 1));
}

LANES_INLINE uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The time that a line takes: cycles of translation, cycles without room, and those of
 * the level.  It is there at `ready`. */
struct trip {
	uint64_t ready;
	uint32_t translation, crowd, latency;
	enum level level;
};

LANES_INLINE struct trip last_of(struct trip a, struct trip b)
{
	return a.ready > b.ready ? a : b;
}

/* The instruction that is not issued before a load has its value. */
struct wall {
	uint64_t number;
	struct trip trip;
};

struct ahead {
	/* The flow of the batch that runs, or was run last; bit 0: it ends in a
	 * branch. */
	uintptr_t flow;
	uint64_t is_late; /* any */

	uint64_t number;    /* up to the last collect */
	struct position at; /* advanced to */
	uint64_t delay;     /* by then */
	uint64_t told, told_issue;
	uint64_t lines_ready;             /* of all loads so far */
	uint64_t missing_stores, drained; /* so far; when the last of them has left */

	/* Registers that may be late, now and when the superblock began, and its loads
	 * that are, a bit each, and when they are ready.  Times of others are old.
	 * What a register was late by when the superblock began is kept once it gets
	 * another value (kept); until then it is what it is late by now. */
	uint64_t late_now, late_begin, late_loads, kept;
	when now[FLOW_REGISTERS], begin[FLOW_REGISTERS], load[FLOW_LOADS];
	uint64_t begun, late_until; /* cycles: of the superblock; no register is then */

	uint32_t first_wall, nwalls;
	uint64_t step; /* ticks of an instruction, so many bits behind the point: */
	struct ooo of;
	struct reach reach;
	struct wall wall[WALLS];
	uint64_t left[ENTRIES]; /* when the last stores that missed left the buffer */
	struct room fills, l2_fills, walkers, l2_lines, llc_lines, memory_lines;
	struct guesses guesses;
	struct streams streams;
};

/* ---- values ---- */

/* A register as the superblock found it; 0: it was ready. */
LANES_INLINE when begin_of(struct ahead *a, uint32_t i)
{
	uint64_t bit = 1ull << i;
	when w = a->kept & bit ? a->begin[i] : a->now[i];

	if (!(a->late_begin & bit))
		return 0;
	if (cycle_of(w) > a->begun)
		return w;
	a->late_begin &= ~bit;
	if (!(a->kept & bit))
		a->late_now &= ~bit;
	return 0;
}

LANES_INLINE when load_of(const struct ahead *a, uint32_t i)
{
	return a->late_loads >> i & 1 ? a->load[i] : 0;
}

static when ready_when(
	struct ahead *a, const struct flow *f, const struct flow_value *value)
{
	const struct flow_source *s = flow_sources(f) + value->first;
	when latest = 0;

	if (!((value->registers & a->late_begin) | (value->loads & a->late_loads)))
		return 0;
	for (uint32_t i = 0; i < value->count; i++, s++) {
		when w = s->from < FLOW_REGISTERS ? begin_of(a, s->from)
						  : load_of(a, s->from - FLOW_REGISTERS);

		if (w)
			latest = later_of(latest, w + ((when)s->add << LEVEL_BITS));
	}
	return latest;
}

static const struct flow *flow_of(const struct ahead *a)
{
	return (const struct flow *)(a->flow & ~(uintptr_t)1);
}

/* The address of that load; those of batches before this one are over.  A batch's are
 * behind each other. */
static when address_ready(struct ahead *a, int32_t load)
{
	const struct flow *f = flow_of(a);
	uint32_t i;

	if (load < 0 || !f || !f->nloads || load < f->value[0].to)
		return 0;
	i = (uint32_t)load - f->value[0].to;
	return i < f->nloads ? ready_when(a, f, &f->value[i]) : 0;
}

static void value_comes(struct ahead *a, int32_t load, when w)
{
	if (load < 0)
		return;
	if (a->late_loads >> load & 1)
		w = later_of(w, a->load[load]);
	a->load[load] = w;
	a->late_loads |= 1ull << load;
	a->is_late = 1;
}

static int is_same_place(const struct flow *f, const struct flow_value *one,
	const struct flow_value *other)
{
	const struct flow_source *a = flow_sources(f) + one->first,
				 *b = flow_sources(f) + other->first;
	uint32_t i = 0;

	if (!one->count || one->count != other->count)
		return 0;
	while (i < one->count && a[i].from == b[i].from && a[i].add == b[i].add)
		i++;
	return i == one->count;
}

/* The batch's later loads by the same pointer hit the line, but it is on its way yet:
 * that they are not further apart than a line is taken for granted. */
static void share_line(struct ahead *a, int32_t load, when w)
{
	const struct flow *f = flow_of(a);
	const struct flow_value *own = NULL;

	for (uint32_t i = 0; load >= 0 && f && i < f->nloads; i++) {
		const struct flow_value *v = &f->value[i];

		if (v->to == load)
			own = v;
		else if (own && is_same_place(f, own, v))
			value_comes(a, v->to, w);
	}
}

static void put_register(struct ahead *a, uint32_t to, when w)
{
	uint64_t bit = 1ull << to;

	if (a->late_begin & ~a->kept & bit) {
		a->begin[to] = a->now[to];
		a->kept |= bit;
	}
	a->now[to] = w;
	a->late_now |= bit;
	a->late_until = later_of(a->late_until, cycle_of(w));
}

static __attribute__((noinline)) void pass_on(struct ahead *a)
{
	const struct flow *f = flow_of(a);

	if (!f)
		return;
	a->late_now &= ~f->writes;
	if (!((f->reads & a->late_begin) | (f->loads & a->late_loads)))
		return;
	for (uint32_t i = 0; i < f->nputs; i++) {
		const struct flow_value *v = &f->value[f->nloads + i];
		when w = ready_when(a, f, v);

		if (w)
			put_register(a, v->to, w);
	}
}

#endif
