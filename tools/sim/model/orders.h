/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The orders of instructions to the caches about a line.
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
enum cache_order {
	ORDER_FLUSH,
	ORDER_CLEAN,
	ORDER_DEMOTE,
	/* Prefetches into L1D, perhaps to be stored to, or into L2: the page is looked
	 * up. */
	ORDER_PREFETCH,
	ORDER_PREFETCH_WRITE,
	ORDER_PREFETCH_L2,
};

static inline int order_is_prefetch(enum cache_order order)
{
	return order >= ORDER_PREFETCH;
}

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

/* A prefetch, and on a machine that is not plain.  A line that is further in already is
 * the newest there; L2, if it is exclusive or there is none, is L1D. */
void core_prefetch(struct core *core, uint64_t addr, enum cache_order order);
void flex_prefetch_for(
	struct core *core, uint64_t unit, enum cache_order order, uint64_t now);

/* Pages that were looked up as a store's are a load's, but of no load. */
struct pages {
	uint64_t missed, walked;
};
LANES_INLINE struct pages pages_stored(const struct core *core)
{
	return (struct pages){core->count[CP_SIM_dtlb_store_pages],
		core->count[CP_SIM_dtlb_store_walks]};
}
LANES_INLINE void pages_are_prefetched(struct core *core, struct pages before)
{
	uint64_t *count = core->count,
		 missed = count[CP_SIM_dtlb_store_pages] - before.missed;

	count[CP_SIM_dtlb_load_pages] += missed;
	count[CP_SIM_dtlb_load_misses] -= missed;
	count[CP_SIM_dtlb_load_walks] += count[CP_SIM_dtlb_store_walks] - before.walked;
	count[CP_SIM_dtlb_store_pages] = before.missed;
	count[CP_SIM_dtlb_store_walks] = before.walked;
}

/* Counts it, and what it writes. */
void stream_note(struct core *core, struct streamed *s, uint64_t addr, uint32_t size,
	int is_masked);

#endif
