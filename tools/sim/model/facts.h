/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The facts that the front of several machines (machines/front.h) has for its members:
 * when a unit was referenced last.
 */
#ifndef CACHEPEEK_SIM_FACTS_H
#define CACHEPEEK_SIM_FACTS_H

#include "model/batch.h"

#define FRONT_MEMBERS 16

struct front_entry {
	uint64_t line;  /* full number of a unit, or NO_LINE */
	uint32_t stamp; /* of its last reference */
	/* Members to be told of a reference: index 0 of a load or a fetch, 1 of a
	 * store. */
	uint16_t need[2];
};

struct front {
	uint64_t clock, last_line;          /* as of a core */
	uint32_t loads, stores, rmw, ports; /* as of a core */
	uint64_t clock_seen;
	uint32_t idle_ticks;
	uint32_t line_shift, nmembers;
	uint32_t resuming;   /* the members' last lines differ */
	uint32_t all;        /* members */
	uint32_t code_aware; /* those that are told of all code */
	uint64_t epoch;      /* above the stamps */
	/* Some prefetchers ask who makes a reference: the address of its instruction, 0:
	 * nobody says, and its own. */
	uint32_t asks_who;
	uint64_t instruction, address;
	struct core *member[FRONT_MEMBERS];

	struct front_entry data[DATA_FILTER];
	struct front_entry code[CODE_FILTER];
	/* The stamp that every member has heard of. */
	uint32_t data_known[DATA_FILTER], code_known[CODE_FILTER];
	/* Members that need not be told of another load, to which stores are no more
	 * than passed on. */
	uint16_t passed_on[DATA_FILTER];
	struct far_lines far_lines;
};

extern struct front *front; /* where the running thread's accesses go */

/* The clock by which the core's instructions are counted. */
LANES_INLINE uint64_t batch_time(const struct core *core)
{
	return core->flex ? front->clock : core->clock;
}

/* The low bits of a use's stamp tell what a prefetcher brings after it apart. */
#define FRONT_STAMP_SHIFT 8

LANES_INLINE uint64_t front_stamp(const struct front *f, uint32_t stamp)
{
	return f->epoch + ((uint64_t)stamp << FRONT_STAMP_SHIFT);
}

/* Units first to first + count - 1 are in the L1, or their page is in the TLB, of
 * this core no more. */
void front_lost_data(struct core *core, uint64_t first, uint64_t count);
void front_lost_code(struct core *core, uint64_t first, uint64_t count);

/* The same of the unit that is at this slot of a filter (flex_cache.h), if any. */
LANES_INLINE void front_lost_slot(struct front_entry *filter, uint32_t slot, uint32_t bit)
{
	if (!slot)
		return;
	filter[slot - 1].need[0] |= (uint16_t)bit;
	filter[slot - 1].need[1] |= (uint16_t)bit;
}

/* The newest fact of these units, 0: there is none. */
uint64_t front_newest(const struct core *core, int code, uint64_t first, uint64_t count);

#endif
