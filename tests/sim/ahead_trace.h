/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Traces of a core that executes out of order: instructions, each of them a batch.
 */
#ifndef CACHEPEEK_TESTS_SIM_AHEAD_TRACE_H
#define CACHEPEEK_TESTS_SIM_AHEAD_TRACE_H

#include "model/ahead.h"

/* Two cores of small.h. */
extern const struct machine small;

/* Between begin() and end(); what collect() has taken from it. */
extern struct core *core;
extern uint64_t got[CP_SIM_NCOUNTERS];

void begin(const struct machine *m);
void end(void);
void collect(void);

/* ---- instructions ---- */

#define REGISTERS 8
#define NONE REGISTERS
#define SB_LOADS 4 /* of a superblock */

enum what { OPERATION, A_LOAD, A_STORE, A_BRANCH };

/* from, other: what it needs; level: 0 to 2 of a miss, 3: a hit. */
struct instruction {
	enum what what;
	int from, other, to, latency, level, walk;
	int begins; /* a superblock */
	int chain;  /* of the register that it writes: by so many cycles longer */
	int reach;  /* of instructions behind the chain; 0: the window */
	int beside; /* the chain does not hang on what is loaded */
};

/* Does the register get nothing of what it was? */
int is_anew(const struct instruction *i);

/* Nothing has been seen after a branch before. */
void execute(const struct instruction *i);

/* At that line of code; if it is a branch, so long after it is issued it is known. */
void execute_at(const struct instruction *i, uint64_t line, uint32_t resolves);

/* Makes the miss of that load or store, as if caches had done it. */
void miss(const struct instruction *i);

/* A line of code that was not fetched yet. */
uint64_t next_line(void);

/* Loads of the superblock so far. */
int superblock_loads(void);

#endif
