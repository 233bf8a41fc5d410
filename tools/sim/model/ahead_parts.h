/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The state of a core that executes out of order (ahead.h), how its times are written,
 * when values are ready: those of registers, and of a superblock's loads, by its flow
 * (flow.h); and how far the core has got, and what delays it.
 */
#ifndef CACHEPEEK_SIM_AHEAD_PARTS_H
#define CACHEPEEK_SIM_AHEAD_PARTS_H

#include "lines/stays.h"
#include "lines/walked.h"
#include "model/ahead.h"
#include "model/deed.h"
#include "model/hidden.h"
#include "model/facts.h"
#include "model/guess.h"
#include "model/model.h"
#include "lines/held.h"
#include "lines/room.h"
#include "model/units.h" /* behind ahead.h, whose ticks it has */

#define WALLS 1024 /* powers of two */
#define ENTRIES TIMING_BUFFERS
#define STEP_BITS 14

/* Lines with even numbers leave L2, and the last level, by another way than odd ones, and
 * L2 has banks, among which lines go in turn: four where the machine says nothing else.
 * So it is on Intel's Golden Cove, by the clock: of lines in random order the last level
 * gives one in 5.8 cycles, and one in 10 if all are even, and whichever other bit they
 * share does not matter; L2 gives one in 1.5, 2.2 if all are even, and 3.1 of one bank.
 * AMD's Zen 5 has a bank for each set of L1D: of 1, 2 and 4 sets L2 gives a line
 * in 6.8, 3.8 and 2.5 cycles, and the last level in 18.4, 9.3 and 4.8. */
#define HALVES 2
#define BANKS 4
#define MOST_BANKS 64

/* A core asks for the lines of stores that wait.  If these are more lines of a set than
 * it has ways, some are driven out again before their store's turn.  By the clock of a
 * Zen 5, 104 of whose stores wait, a store to one of 16, 24, 32, 40, 48 and 96 lines of a
 * set in turn takes 6, 17, 23, 30, 34 and 34 cycles; to lines of 2, 4, 8 and 16 sets in
 * turn 28, 20, 11 and 1.7.  Of 8 lines before it, one at least is of such a store's set.
 */
#define STORED 104
#define SET_LINES 48 /* which set_line is of */
#define LEAST_OF_SET 8

/* Where the last line came from that L1D missed: what leaves for it takes less if L2 is
 * not all that is busy. */
enum { FROM_L2, OF_STREAM, LONE, ORIGINS };

/* Modified lines that leave caches take a share of each half of L2.  A line that leaves
 * L1D takes so many quarters of what a stored line takes more than one that is loaded: by
 * the clock a stored line of L2 and one that is loaded take 5.4 cycles, and a stored one
 * and six that are loaded 9.5.  One that leaves L2 takes a third of what a line of no
 * stream takes of its own half, if that is what comes: lines from all over come in 6.1
 * cycles each, and in 11.0 if they are stored to, even ones in 13 and in 17; but those of
 * a stream in 6.2 and 6.9. */
#define L1D_QUARTERS                                                                     \
	{                                                                                \
		3, 2, 1                                                                  \
	}
#define L2_THIRDS                                                                        \
	{                                                                                \
		0, 0, 1                                                                  \
	}

/* ---- the core ---- */

/* Where the program has got to: instructions before it, and ticks that they take if
 * nothing is late. */
struct position {
	uint64_t number, ticks;
};

/* When a value is ready, how much of that operations took since the line came that it
 * hangs on, as far as that fits, and from which level that line came: one number that can
 * be compared. */
typedef uint64_t when;
#define LEVEL_BITS 3
#define OWN_BITS 13
#define WHEN_BITS (LEVEL_BITS + OWN_BITS)
#define OWN_MOST ((1u << OWN_BITS) - 1)

typedef uint64_t counters __attribute__((vector_size(16), may_alias, aligned(8)));

LANES_INLINE when when_of(uint64_t cycle, enum level level)
{
	return cycle << WHEN_BITS | level;
}

LANES_INLINE uint64_t cycle_of(when w)
{
	return w >> WHEN_BITS;
}

LANES_INLINE uint32_t own_of(when w)
{
	return (uint32_t)(w >> LEVEL_BITS) & OWN_MOST;
}

/* When the value is ready that operations make of it, which take so long. */
LANES_INLINE when when_behind(when w, uint32_t cycles)
{
	uint32_t room = OWN_MOST - own_of(w), own = cycles < room ? cycles : room;

	return w + ((when)cycles << WHEN_BITS) + ((when)own << LEVEL_BITS);
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

/* A trip of no line: the end of a chain. */
#define OF_CHAIN ((enum level)NLEVELS)

/* The instruction that is not issued before a load, or a chain, has its value. */
struct wall {
	uint64_t number;
	struct trip trip;
};

struct walls {
	uint32_t first, n;
	struct wall of[WALLS];
};

/* A step whose time has to be known, and where it begins: it makes a chain longer or has
 * the divider, or is behind a branch that went otherwise than foreseen. */
struct turn {
	const struct step *step;
	struct position past;
	uint64_t anew; /* as of a batch, since the turn before */
	uint32_t is_branch;
};

/* Where what follows a batch begins; and by how many ticks that one is longer if a branch
 * is taken elsewhere, and if it is not. */
struct behind {
	uint64_t address;
	uint32_t if_taken, if_left;
};

LANES_INLINE struct behind behind_step(const struct core *core, const struct step *step)
{
	const struct batch *b = step->batch;

	return (struct behind){
		(step->line << core->line_shift) + (uint64_t)(int64_t)b->behind,
		b->if_taken, b->if_left};
}

/* The ticks of the way that was taken behind it. */
LANES_INLINE uint64_t ticks_of_taken(
	const struct core *core, const struct behind *b, const struct step *next)
{
	uint64_t from = (uint64_t)(int64_t)next->batch->from;

	from += next->line << core->line_shift;
	return from == b->address ? b->if_left : b->if_taken;
}

struct ahead {
	/* Batches since somebody last wanted to know the time, of which nothing needs to
	 * be known until then: up to the core's next_step. */
	struct step steps[AHEAD_STEPS];
	struct position past; /* of all before those; of ticks those of ports */

	const struct batch *last; /* before those; NULL: none */
	struct behind behind;     /* that one */
	uint64_t is_late;         /* any */

	uint64_t number;    /* up to the last collect */
	struct position at; /* advanced to */
	uint64_t delay;     /* by then */
	uint64_t told_issue;
	uint64_t lines_ready;             /* of all loads so far */
	uint64_t missing_stores, drained; /* so far; when the last of them has left */
	uint64_t walked;                  /* the latest end of a walk for data */
	/* Ticks until which the ports of loads are taken; loads by then, and when that
	 * was seen. */
	uint64_t load_ports, loads_seen, loads_seen_at;
	uint64_t loads_once;             /* of the latest: have taken their ports once */
	uint64_t load_ticks, load_slack; /* of one; how late they may be */
	uint64_t redirected;             /* when the right way behind a branch began */

	/* Registers that may be late, now and when the superblock began, and its loads
	 * that are, a bit each, and when they are ready.  Times of others are old.
	 * What a register was late by when the superblock began is kept once it gets
	 * another value (kept); until then it is what it is late by now. */
	uint64_t late_now, late_begin, late_loads, kept;
	when now[FLOW_REGISTERS], begin[FLOW_REGISTERS], load[FLOW_LOADS];
	uint64_t begun, late_until; /* cycles: of the superblock; no register is then */
	uint64_t loads_until;       /* of all so far, the latest that is ready */

	/* Chains: registers that are made of what they were, a bit each, and when they
	 * are ready, in ticks; the last of those before it got longer.  Registers that
	 * have got something else since. */
	uint64_t chains, chain[FLOW_REGISTERS], chain_before, anew;
	uint32_t chain_goes_on; /* that one: it was one before */
	uint64_t divided;       /* ticks: when the divider has done all so far */
	uint64_t chains_end;    /* in cycles: of all so far */

	struct walls lines, ends; /* of loads that missed, and of chains */
	/* The least that instructions of a window, and of the scheduler, take. */
	uint64_t window_cycles, scheduler_cycles;
	uint64_t step; /* ticks of an instruction, so many bits behind the point: */
	struct ooo of;
	struct reach reach;
	uint64_t left[ENTRIES]; /* when the last stores that missed left the buffer */
	uint32_t fill_share[NOWNERS][NLEVELS], l2_fill_share[NOWNERS][NLEVELS];
	struct room fills, l2_fills, walkers, memory_lines, store_lines;
	struct room l2_lines[HALVES], l2_banks[MOST_BANKS];
	/* Hundredths of a cycle of a half of L2: beside what a line takes that L2 has,
	 * for one of a stream that it has not, and for one of none; and for modified
	 * lines that leave L1D and L2, by where the one that comes is from. */
	uint32_t stream_line, lone_line, l1d_written[ORIGINS], l2_written[ORIGINS];
	uint32_t origin;
	uint64_t stored[STORED]; /* the last lines that stores missed */
	uint32_t next_stored;
	uint64_t not_of_load; /* as in seen */
	struct held held;
	struct guesses guesses;
	struct turn turns[2 * AHEAD_STEPS + 1]; /* among the steps; the last: no step */
	struct streams streams;
	uint32_t stays_begin; /* what time it was when this core began */
	struct units units;
	/* Up to the last collect; and by when misses were last followed; that cycle. */
	struct brought brought, followed;
	uint64_t followed_until;
	struct entries entries;
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
			latest = later_of(latest, when_behind(w, s->add));
	}
	return latest;
}

/* Cycles with a walk under way: those of several at once are there once. */
LANES_INLINE void count_walk(
	struct core *core, struct ahead *a, uint64_t from, uint32_t cycles)
{
	uint64_t to = from + cycles;

	if (to <= a->walked)
		return;
	core->count[CP_SIM_dtlb_walk_cycles] +=
		to - (from > a->walked ? from : a->walked);
	a->walked = to;
}

static const struct flow *flow_of(const struct ahead *a)
{
	return a->last ? a->last->flow : NULL;
}

/* The address of that load; those of batches before this one are over.  A batch's are
 * behind each other. */
static const struct flow_value *value_of_load(const struct flow *f, int32_t load)
{
	uint32_t i;

	if (load < 0 || !f || !f->nloads || load < f->value[0].to)
		return NULL;
	i = (uint32_t)load - f->value[0].to;
	return i < f->nloads ? &f->value[i] : NULL;
}

/* ahead.c alone has references to ask for: the test of the lines has none. */
static __attribute__((unused)) when address_ready(struct ahead *a, int32_t load)
{
	const struct flow *f = flow_of(a);
	const struct flow_value *value = value_of_load(f, load);

	return value ? ready_when(a, f, value) : 0;
}

static void value_comes(struct ahead *a, int32_t load, when w)
{
	if (load < 0)
		return;
	if (a->late_loads >> load & 1)
		w = later_of(w, a->load[load]);
	a->load[load] = w;
	a->loads_until = later_of(a->loads_until, cycle_of(w));
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
static __attribute__((unused)) void share_line(struct ahead *a, int32_t load, when w)
{
	const struct flow *f = flow_of(a);
	const struct flow_value *own = value_of_load(f, load);

	if (!own || !own->again)
		return;
	for (const struct flow_value *v = own + 1; v < f->value + f->nloads; v++)
		if (is_same_place(f, own, v))
			value_comes(a, v->to, w);
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

/* Makes registers late that hang on what is: tells which those are. */
static uint64_t follow_ways(struct ahead *a, const struct flow *f, uint64_t registers,
	uint64_t loads, when *fresh)
{
	const union flow_word *word = flow_ways(f);
	uint64_t reached = 0;

	while (registers | loads) {
		uint32_t from = word->way.from, n = word->way.count;
		uint64_t bit = 1ull << from % FLOW_REGISTERS,
			 *late = from < FLOW_REGISTERS ? &registers : &loads;
		when w;

		word += 1 + n;
		if (!(*late & bit))
			continue;
		*late &= ~bit;
		w = from < FLOW_REGISTERS ? begin_of(a, from)
					  : a->load[from - FLOW_REGISTERS];
		if (!w)
			continue;
		for (const union flow_word *put = word - n; put < word; put++) {
			when then = when_behind(w, put->put.add);
			uint32_t to = put->put.to;

			fresh[to] = reached >> to & 1 ? later_of(fresh[to], then) : then;
			reached |= 1ull << to;
		}
	}
	return reached;
}

static __attribute__((noinline)) void put_late(
	struct ahead *a, const struct flow *f, uint64_t registers, uint64_t loads)
{
	when fresh[FLOW_REGISTERS];
	uint64_t reached = follow_ways(a, f, registers, loads, fresh);

	a->late_now &= ~f->writes;
	for (; reached; reached &= reached - 1) {
		uint32_t to = (uint32_t)__builtin_ctzll(reached);

		put_register(a, to, fresh[to]);
	}
}

/* A batch is over: its registers have their values. */
LANES_INLINE void pass_on(struct ahead *a, const struct flow *f)
{
	uint64_t registers, loads;

	if (!f)
		return;
	registers = f->reads & a->late_begin;
	loads = f->loads & a->late_loads;
	if (registers | loads)
		put_late(a, f, registers, loads);
	else
		a->late_now &= ~f->writes;
}

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
		.ticks = ticks_of(a, number) + core->ported +
			 (core->flex ? front->ports : core->ports) + a->units.taken,
	};
}

/* Where batches begin, by the sums of those before. */
LANES_INLINE struct position position_past(const struct ahead *a, struct position past)
{
	return (struct position){past.number, ticks_of(a, past.number) + past.ticks};
}

LANES_INLINE uint64_t cycle_of_issue(const struct ahead *a, uint64_t ticks)
{
	return ticks / AHEAD_TICKS + a->delay;
}

LANES_INLINE uint64_t cycle_now(const struct ahead *a)
{
	return cycle_of_issue(a, a->at.ticks);
}

LANES_INLINE uint64_t ticks_now(const struct ahead *a)
{
	return a->at.ticks + a->delay * AHEAD_TICKS;
}

/* Begins to look at what was noted. */
LANES_INLINE void begin_noting(struct core *core, struct ahead *a)
{
	core->next_step = a->steps;
}

/* The last level is asked: has the line left that nobody asked it for during the stay? Of
 * two that a reference crosses, one may be L2's. */
LANES_INLINE int has_left(struct core *core, const struct ahead *a, uint64_t address)
{
	uint64_t line = core->l2.sets ? core->l2_missed : address >> core->line_shift;
	uint32_t now = a->stays_begin + (uint32_t)(cycle_now(a) >> STAY_UNIT_LOG),
		 then = stays_renew(core->uncore->stays, line, now);

	return stays_is_over(line, then, now, a->of.stay);
}

/* Lines that L1D, and L2, have got so far, as walks see it. */
LANES_INLINE struct brought brought_so_far(const struct core *core, const struct ahead *a)
{
	return (struct brought){
		.l1 = a->brought.l1 +
		      (uint32_t)(count_for_time(core, CP_SIM_l1d_load_lines) +
				 count_for_time(core, CP_SIM_l1d_store_lines)),
		.l2 = a->brought.l2 +
		      (uint32_t)(count_for_time(core, CP_SIM_l2_load_lines) +
				 count_for_time(core, CP_SIM_l2_store_lines)),
	};
}

/* Sees what its counters say now. */
static __attribute__((unused)) void see_all(const struct core *core, struct ahead *a)
{
	uint64_t room[SEEN];
	struct change by = {counts_for_time(core, room), a->reach.seen};
	uint32_t i = 0;

	a->not_of_load = not_of_load(&by);
	for (; i + 2 <= SEEN; i += 2)
		*(counters *)&a->reach.seen[i] = *(const counters *)&by.now[i];
	for (; i < SEEN; i++)
		a->reach.seen[i] = by.now[i];
}

/* How many lines of its set the stores before it missed, back to this line itself. */
LANES_INLINE uint32_t stored_of_set(const struct ahead *a, uint64_t line, uint64_t sets)
{
	uint32_t found = 0;

	for (uint32_t back = 1; back <= STORED && back <= a->next_stored; back++) {
		uint64_t other = a->stored[(a->next_stored - back) % STORED];

		found += !((other ^ line) & (sets - 1));
		if (other == line || (back == LEAST_OF_SET && !found))
			break;
	}
	return found < SET_LINES ? found : SET_LINES;
}

/* Lines that stores miss come one behind the other, and leave L1D so; of one set, if they
 * are more than its ways, the longer the more there are. */
LANES_INLINE uint64_t find_turn(
	const struct core *core, struct ahead *a, uint64_t address, uint64_t at)
{
	uint64_t line = address >> core->line_shift;
	uint32_t takes = a->of.store_line, found;

	if (a->of.set_line && core->l1d.sets) {
		found = stored_of_set(a, line, core->l1d.sets);
		if (found > core->l1d.ways && found * a->of.set_line / SET_LINES > takes)
			takes = found * a->of.set_line / SET_LINES;
		a->stored[a->next_stored++ % STORED] = line;
	}
	return room_take(&a->store_lines, at, takes);
}

/* ---- what gives lines ---- */

/* The half that a line comes by: each has half of what L2 gives, and of what the last
 * level gives, whose lines keep that half busy as they come: lines of either level wait
 * for those of both, but for lines of the other half. */
LANES_INLINE uint32_t half_of(uint64_t line)
{
	return line % HALVES;
}

LANES_INLINE struct room *bank_of(struct ahead *a, uint64_t line)
{
	return &a->l2_banks[(uint32_t)line % a->of.banks];
}

/* When L2 has time for a line that leaves it for L1D, from then on, if it has the line,
 * or has to get it first, for which its bank is busy longer. */
LANES_INLINE uint64_t room_of_l2(
	struct ahead *a, uint64_t line, int is_there, uint64_t at)
{
	at = room_take(&a->l2_lines[half_of(line)], at, a->of.l2_line * HALVES);
	return room_take(bank_of(a, line), at,
		is_there ? a->of.load_set_line : a->of.llc_set_line);
}

/* The rest of the time that L2 takes for a line that it has to get first; of a stream. */
LANES_INLINE uint64_t room_of_stream(struct ahead *a, uint64_t line, uint64_t at)
{
	return room_take(&a->l2_lines[half_of(line)], at, a->stream_line);
}

/* And of none. */
LANES_INLINE uint64_t room_of_lone(struct ahead *a, uint64_t line, uint64_t at)
{
	return room_take(&a->l2_lines[half_of(line)], at, a->lone_line);
}

/* All cycles are one of the stack's. */
static __attribute__((unused)) void add_cycles(struct core *core)
{
	for (int i = CP_SIM_STACK; i < CP_SIM_STACK_END; i++)
		core->count[CP_SIM_cycles] += core->count[i];
}

/* ---- lines that leave ---- */

LANES_INLINE uint32_t difference(uint32_t more, uint32_t less)
{
	return more > less ? more - less : 0;
}

/* Sets what lines take of a half of L2. */
LANES_INLINE void set_lines(struct ahead *a)
{
	static const uint32_t quarters[ORIGINS] = L1D_QUARTERS,
			      thirds[ORIGINS] = L2_THIRDS;
	uint32_t lone = a->of.lone_line ? a->of.lone_line : a->of.llc_line * HALVES,
		 stored = difference(a->of.store_line, a->of.l2_line);

	a->stream_line = difference(a->of.llc_line, a->of.l2_line) * HALVES;
	a->lone_line = difference(lone, a->of.l2_line * HALVES);
	for (int i = 0; i < ORIGINS; i++) {
		a->l1d_written[i] = stored ? stored * quarters[i] / 4 : a->of.l2_line;
		a->l2_written[i] = lone * thirds[i] / 3;
	}
}

/* Both halves of L2 are busy with a line that leaves it, or comes from L1D. */
LANES_INLINE void keep_l2_busy(struct ahead *a, uint64_t at, uint32_t hundredths)
{
	for (uint32_t i = 0; i < HALVES; i++)
		room_take(&a->l2_lines[i], at, hundredths);
}

#endif
