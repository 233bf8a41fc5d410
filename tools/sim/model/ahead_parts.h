/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The state of a core that executes out of order (ahead.h), and how its times are
 * written.
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

#endif
