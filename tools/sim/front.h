/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The front of several machines, or of one that is not plain: one filter for all
 * of their first levels, between generated code and flex.c.
 *
 * An entry of the filter is a fact about the program: this unit was referenced
 * last at that time.  Beside it stands which machines need to be told of another
 * reference: those where it would change more than the age of the line in L1 and
 * of the page in the TLB.  The others learn of it when their L1 or TLB chooses a
 * victim, and asks for the facts of the lines that look oldest; or when the fact
 * leaves the filter.  So what a machine counts does not depend on the others, and
 * a hit costs the same however many there are.
 *
 * There is one front: a thread that runs on other cores than the last one finds the
 * filter empty.
 */
#ifndef CACHEPEEK_SIM_FRONT_H
#define CACHEPEEK_SIM_FRONT_H

#include "batch.h"

#define FRONT_MEMBERS 16

struct front_entry {
	uint64_t line;  /* full number of a unit, or NO_LINE */
	uint32_t stamp; /* of its last reference */
	/* Members to be told of a reference: index 0 of a load or a fetch, 1 of a
	 * store. */
	uint16_t need[2];
};

struct front {
	uint64_t clock, last_line;               /* as of a core */
	uint32_t loads, stores, rmw, idle_ticks; /* as of a core */
	uint64_t clock_seen;
	uint32_t line_shift, nmembers;
	uint32_t resuming;   /* the members' last lines differ */
	uint32_t all;        /* members */
	uint32_t code_aware; /* those that are told of all code */
	uint64_t epoch;      /* above the stamps */
	struct core *member[FRONT_MEMBERS];

	struct front_entry data[DATA_FILTER];
	struct front_entry code[CODE_FILTER];
	/* The stamp that every member has heard of. */
	uint32_t data_known[DATA_FILTER], code_known[CODE_FILTER];
	/* Members that need not be told of another load, to which stores are no more
	 * than passed on. */
	uint16_t passed_on[DATA_FILTER];
	struct regions regions;
};

extern struct front *front; /* where the running thread's accesses go */

/* The front must be zeroed memory. */
void front_init(struct front *f, const struct machine *machines, uint32_t nmachines);

/* The thread that runs next does so on these cores, one of each machine; none:
 * what it does is not to be seen. */
void front_use(struct front *f, struct core *const *members, uint32_t nmembers);

/* Moves what generated code has noted to the counts of the members. */
void front_collect(struct front *f);

/* As batch_function_for and batch_direct. */
batch_function *front_function_for(uint32_t line_shift, uint32_t places, uint32_t lines);
void front_direct(uint64_t addr, uint32_t size, enum access kind);
void front_modify(void);

/* ---- for the members ---- */

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
