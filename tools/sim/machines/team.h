/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Several machines at once: plain ones, each of which has its own filter (l1.c), and the
 * front of the others.
 */
#ifndef CACHEPEEK_SIM_TEAM_H
#define CACHEPEEK_SIM_TEAM_H

#include "model/batch.h"
#include "model/facts.h"
#include "model/orders.h"

/* The cores of plain machines that the running thread's accesses go to, beside
 * the front. */
extern struct team {
	struct core *member[FRONT_MEMBERS];
	uint32_t size;
	/* The functions that model references by one core, and by one with a front: the
	 * same for all. */
	batch_function *of_core[2][BATCH_PLACES + 1], *of_front[2][BATCH_PLACES + 1];
} team;

/* As those of batch.h. */
batch_function *team_function_for(uint32_t line_shift, uint32_t places, uint32_t lines);
void team_direct(uint64_t addr, uint32_t size, enum access kind);
void team_modify(void);
void team_stream(uint64_t addr, uint32_t size, int is_masked);
void team_order(uint64_t addr, enum cache_order order);

#endif
