/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A machine that is simulated: its cores, and what the process has counted on it.
 */
#ifndef CACHEPEEK_SIM_SIMULATED_H
#define CACHEPEEK_SIM_SIMULATED_H

#include "tool.h"

struct seat {
	struct core *core; /* NULL: nobody was here yet */
	UInt threads;
};

struct simulated {
	const struct machine *machine;
	UInt index;  /* of all of them */
	UInt number; /* of those behind the front */
	struct uncore uncore;
	struct seat *seats; /* machine->cores of them */
	ULong count[CP_SIM_NALL];
	ULong *mirror, *sample_mirror;
};

/* Starts the machine of that index in tool_options.machines. */
void simulated_start(struct simulated *s, UInt index);

/* Where another thread runs: its core is there. */
struct seat *simulated_seat(struct simulated *s);

/* Writes the counts to its mirrors. */
void simulated_show(struct simulated *s);

struct core *simulated_core(const struct machine *m, struct uncore *u);
void simulated_no_memory(const HChar *what) __attribute__((noreturn));

#endif
