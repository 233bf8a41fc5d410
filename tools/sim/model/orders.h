/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What instructions order the caches to do with a line.
 *
 * An order is for all lines of all levels that have a part of the machine's largest line
 * around its address.  It looks no page up, and is no reference.  A line that is modified
 * is written back by each level that has it, and by each behind that.
 */
#ifndef CACHEPEEK_SIM_MODEL_ORDERS_H
#define CACHEPEEK_SIM_MODEL_ORDERS_H

#include "model/model.h"
#include "model/streamed.h"

/* The line leaves all caches of all cores; or stays where it is, and is modified no more;
 * or leaves L1D and L2 of this core for the last level. */
enum cache_order { ORDER_FLUSH, ORDER_CLEAN, ORDER_DEMOTE };

/* By the core of a plain machine; flex: of another one, by the unit's number, with the
 * stamp of what comes. */
void core_order(struct core *core, uint64_t addr, enum cache_order order);
void flex_order(struct core *core, uint64_t unit, enum cache_order order, uint64_t now);

/* A non-temporal store.  Its pages are looked up as a store's; its lines leave all caches
 * of data, as by a flush, and other cores' as for a store; and what is stored goes to
 * memory by way of a buffer for each line (streamed.h).  is_masked: some of the bytes, of
 * which nobody knows.  False: the machine ignores that it is one. */
int core_stream(struct core *core, uint64_t addr, uint32_t size, int is_masked);
/* The same of a line, by its full number, as far as the caches go. */
void core_pass(struct core *core, uint64_t full);
/* Flex: a part of it within one unit. */
void flex_stream(struct core *core, uint64_t unit, uint64_t now);

/* Counts it, and what it writes. */
void stream_note(struct core *core, struct streamed *s, uint64_t addr, uint32_t size,
	int is_masked);

#endif
