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

/* The line leaves all caches of all cores; or stays where it is, and is modified no more;
 * or leaves L1D and L2 of this core for the last level. */
enum cache_order { ORDER_FLUSH, ORDER_CLEAN, ORDER_DEMOTE };

/* By the core of a plain machine; flex: of another one, by the unit's number, with the
 * stamp of what comes. */
void core_order(struct core *core, uint64_t addr, enum cache_order order);
void flex_order(struct core *core, uint64_t unit, enum cache_order order, uint64_t now);

#endif
