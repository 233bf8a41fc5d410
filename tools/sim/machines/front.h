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

#include "model/facts.h"
#include "model/orders.h"

/* The front must be zeroed memory. */
void front_init(struct front *f, const struct machine *machines, uint32_t nmachines);

/* The thread that runs next does so on these cores, one of each machine; none:
 * what it does is not to be seen. */
void front_use(struct front *f, struct core *const *members, uint32_t nmembers);

/* Moves what generated code has noted to the counts of the members. */
void front_collect(struct front *f);

/* As batch_function_for, batch_direct, core_stream and core_order. */
batch_function *front_function_for(uint32_t line_shift, uint32_t places, uint32_t lines);
void front_direct(uint64_t addr, uint32_t size, enum access kind);
void front_modify(void);
void front_stream(uint64_t addr, uint32_t size, int is_masked);
void front_order(uint64_t addr, enum cache_order order);

#endif
