/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The entry of generated code: one function for a few references, which tests them
 * against the filters all at once, stamps and counts them.  A call and constants, because
 * the host's instruction cache is what code expanded in line runs out of.
 *
 * If every reference is admitted, their stamps are all that has to be written,
 * the last for each place, and no order is lost.  Otherwise they are made place
 * by place, in the order in which the program comes to them, and if that could
 * make a difference, one by one.
 */
#ifndef CACHEPEEK_SIM_BATCH_H
#define CACHEPEEK_SIM_BATCH_H

#include "model/model.h"

/* A modify is the load and the store of one instruction.  Floats: only where
 * their loads bypass L1D.  Those behind are in no batch:
 * stores past the caches, and prefetches into L1D. */
enum batch_kind {
	BATCH_CODE,
	BATCH_READ,
	BATCH_WRITE,
	BATCH_MODIFY,
	BATCH_FLOAT,
	BATCH_STREAM,
	BATCH_PREFETCH
};

#define BATCH_PLACES 4
#define BATCH_ITEMS 32

struct flow;

/* A reference. */
struct batch_item {
	int32_t offset; /* from its place; of code: from the first line, in lines */
	uint8_t tick;   /* after the clock when the batch starts */
	uint8_t size, kind, place;
};

/* Where a reference comes from. */
struct batch_origin {
	uint64_t instruction; /* that made it: its address */
	uint64_t address;     /* of code: 0 */
	/* How many instructions the core had executed before that one since its
	 * counters were collected, and how many later what was loaded is used. */
	uint64_t number;
	uint32_t used;
	int32_t load; /* see batch_note */
};

typedef void batch_observe(struct core *core, const struct batch_origin *origin);
typedef void batch_announce(struct core *core, uint64_t instruction, uint64_t address);

/* How instructions are sampled on machines that execute out of order: those at the
 * beginning of each region whose time is modelled, and then in each period a unit's,
 * behind some whose branches are, and others that make the core warm (model/units.h).
 * unit 0: all are.  A period is a number of units. */
struct time_sample {
	uint32_t full, period, branches, warm, unit;
};

/* These are told of each reference that the filters did not admit: after it was made, and
 * before, on plain machines; and of batches, many at once.  NULL: nobody asks. */
extern struct batch_told {
	batch_observe *observe;
	batch_announce *announce;
	/* Called when a core has no room for another step, or wants none. */
	void (*follow)(struct core *core);
	struct time_sample sample; /* before there is a core */
	uint32_t is_for_time;      /* the observer is, and for nothing else */
	uint32_t asks_who;         /* prefetchers are told of instructions (facts.h) */
} batch_told;

/* Is there anyone who is told? */
LANES_INLINE int batch_has_notes(void)
{
	return batch_told.observe || batch_told.announce || batch_told.asks_who;
}

/* A reference: where its instruction begins, in bytes from the batch's first line; how
 * many of the batch's are before it (-1: the last one of the batch before); after how
 * many its value is used; where in its place its data is; and which of its superblock's
 * loads it is (flow.h; -1: of none that is followed). */
struct batch_note {
	int16_t offset, number, used, at, load;
};

/* The parts that are the same in each run of the same code.  A place is an address and
 * so many bytes that no reference to it lies outside.  The filters need one line of the
 * host's for up to two places. */
struct batch {
	uint64_t clock; /* what it adds: ticks, and in the high half instructions */
	uint8_t items;
	uint8_t has_floats : 1; /* some of its items are */
	uint8_t branches : 1;   /* it ends in a branch that is followed (ahead.h) */
	uint8_t chain_of : 6;   /* the register whose chain it makes longer */
	uint8_t second_line_tick;
	uint8_t more_lines : 6;             /* than one */
	uint8_t jumps : 1;                  /* its branch may go anywhere */
	uint8_t order;                      /* of the places' first references */
	uint8_t chain_cycles;               /* by so many cycles; 0: none */
	uint16_t key;                       /* differs if the code does (guess.h) */
	uint32_t loads, stores, rmw, ports; /* what it adds to those of the core */
	struct batch_place {
		uint64_t mask;      /* what of a filter's entry must be its line */
		uint8_t last;       /* byte */
		uint8_t writes;     /* at some time; mask: without CLEAN if not */
		uint8_t first_kind; /* LOAD or STORE */
		uint8_t first_tick;
		uint32_t tick; /* of its last reference; they are in this order */
	} place[BATCH_PLACES];
	const struct flow *flow; /* flow.h; NULL: none */
	uint64_t anew; /* registers that get nothing of themselves, a bit each */
	/* Loads that the chain hangs on, a bit each; instructions that may be issued
	 * behind its end; and cycles for which it has the divider. */
	uint64_t chain_loads;
	uint16_t chain_reach, divides;
	/* Where it is entered, and where what is behind it begins, from its first line;
	 * and by how many ticks it is longer if something else is executed next, and if
	 * that is.  Behind a jump that its superblock follows, it is entered from where
	 * the jump ends. */
	int32_t from, behind;
	uint16_t if_taken, if_left;
	/* Cycles from when its branch is issued until it is known, if nothing is late. */
	uint32_t resolves;
	struct batch_item item[BATCH_ITEMS];
	struct batch_note room[BATCH_ITEMS + BATCH_PLACES]; /* for batch_notes() */
};

/* The place whose first reference is the n-th. */
LANES_INLINE uint32_t batch_order(const struct batch *b, uint32_t n)
{
	return b->order >> 2 * n & 3;
}

LANES_INLINE void batch_order_place(struct batch *b, uint32_t n, uint32_t place)
{
	b->order |= (uint8_t)(place << 2 * n);
}

/* Behind the items, one of each, and then of the first reference to each place; only
 * if anyone is told. */
LANES_INLINE struct batch_note *batch_notes(const struct batch *b)
{
	return (struct batch_note *)(b->item + b->items);
}

LANES_INLINE int batch_is_told(const struct core *core)
{
	return __builtin_expect(batch_told.observe != 0, 0) && !core->untold;
}

LANES_INLINE uint64_t batch_instruction(
	const struct core *core, const struct batch_note *note, uint64_t line)
{
	return (line << core->line_shift) + (uint64_t)(int64_t)note->offset;
}

/* Tells the observer of the reference with that note.  line: the batch's first; before:
 * instructions that were executed before the batch. */
LANES_INLINE void batch_tell(struct core *core, const struct batch_note *note,
	uint64_t line, uint64_t address, uint64_t before)
{
	batch_told.observe(
		core, &(struct batch_origin){
			      .instruction = batch_instruction(core, note, line),
			      .address = address,
			      .number = core->count[CP_SIM_instructions] + before +
					(uint64_t)(int64_t)note->number,
			      .used = (uint32_t)note->used,
			      .load = note->load,
		      });
}

/* A batch that has begun, and its first line. */
struct step {
	const struct batch *batch;
	uint64_t line;
};

/* clock: the core's, or its front's.  Tells whether there is no room for another, or none
 * is wanted. */
LANES_INLINE int batch_note_step(
	struct core *core, uint64_t clock, const struct batch *b, uint64_t line)
{
	struct step *step;

	if (clock < core->noting_from)
		return 0;
	step = core->next_step;
	*step++ = (struct step){b, line};
	core->next_step = step;
	return __builtin_expect(
		(step == core->end_step) | (clock >= core->noting_until), 0);
}

typedef uint32_t tallies __attribute__((vector_size(16), may_alias));

/* The clock at which a batch starts, and what is left of it at its end. */
LANES_INLINE uint64_t batch_clock(const struct core *core, uint64_t line)
{
	return core->clock + (core->last_line != line);
}

LANES_INLINE void batch_finish(
	struct core *core, const struct batch *b, uint64_t clock, uint64_t last_line)
{
	core->clock = clock + b->clock;
	core->last_line = last_line;
	*(tallies *)&core->loads += *(const tallies *)&b->loads;
}

/* The batch's first code line, which may be the one that the last ended with,
 * and the addresses of its places. */
typedef void batch_function(const struct batch *b, uint64_t line, uint64_t a0,
	uint64_t a1, uint64_t a2, uint64_t a3);

/* For struct paths: where there is nothing better. */
void batch_only(struct core *core, const struct batch *b, uint64_t line, uint64_t at,
	uint64_t clock);

/* Tells the observer of a place that the filter had not. */
void batch_tell_place(
	struct core *core, const struct batch *b, uint32_t n, uint64_t line, uint64_t at);

/* The end of a batch of one line with one place, that one. */
LANES_INLINE void batch_finish_alone(struct core *core, const struct batch *b,
	uint64_t line, uint64_t at, uint64_t clock)
{
	if (batch_is_told(core))
		batch_tell_place(core, b, 0, line, at);
	batch_finish(core, b, clock, line);
}

/* Tells a place's first reference, and whether any writes. */
void batch_place_first(struct batch_place *p, enum batch_kind kind, uint32_t tick);
void batch_place_writes(struct batch_place *p, int writes);

/* The function for batches of so many places and one or two code lines.  They
 * take no more arguments than there are places.  It notes each batch if batch_told says
 * who follows them. */
batch_function *batch_function_for(uint32_t line_shift, uint32_t places, uint32_t lines);

extern struct core *running; /* where the running thread's accesses go */

/* One reference of any size, at once. */
void batch_direct(uint64_t addr, uint32_t size, enum access kind);

/* For whoever has a RUN(name, places, lines, shift), which defines such a function: all
 * of them, and the table to find them in, [lines - 1][places]. */
#define BATCH_RUNS(name, shift)                                                          \
	RUN(name##_01, 0, 1, shift)                                                      \
	RUN(name##_11, 1, 1, shift)                                                      \
	RUN(name##_21, 2, 1, shift)                                                      \
	RUN(name##_31, 3, 1, shift)                                                      \
	RUN(name##_41, 4, 1, shift)                                                      \
	RUN(name##_02, 0, 2, shift)                                                      \
	RUN(name##_12, 1, 2, shift)                                                      \
	RUN(name##_22, 2, 2, shift)                                                      \
	RUN(name##_32, 3, 2, shift)                                                      \
	RUN(name##_42, 4, 2, shift)
#define BATCH_NAMES(name)                                                                \
	{                                                                                \
		{name##_01, name##_11, name##_21, name##_31, name##_41},                 \
			{name##_02, name##_12, name##_22, name##_32, name##_42},         \
	}

#endif
