/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * References that span several lines.  The model counts the lines and pages that a level
 * lacks, one by one; a reference misses a level once, however many of its lines are not
 * there.  So a core's *_misses of loads and stores hold how many lines and pages were
 * further ones of a reference, as what is to be subtracted, and core_collect adds all
 * lines and pages: those that are the only one of their reference, which nearly all are,
 * cost nothing.
 */
#ifndef CACHEPEEK_SIM_SPAN_H
#define CACHEPEEK_SIM_SPAN_H

#include "model/model.h"

/* The counters of loads; those of stores are the next ones. */
static const struct {
	uint16_t lines, misses;
} span_levels[SPAN_LEVELS] = {
	{CP_SIM_l1d_load_lines, CP_SIM_l1d_load_misses},
	{CP_SIM_l2_load_lines, CP_SIM_l2_load_misses},
	{CP_SIM_llc_load_lines, CP_SIM_llc_load_misses},
	{CP_SIM_dtlb_load_pages, CP_SIM_dtlb_load_misses},
};

_Static_assert(CP_SIM_l1d_store_lines == CP_SIM_l1d_load_lines + 1 &&
		       CP_SIM_l1d_store_misses == CP_SIM_l1d_load_misses + 1 &&
		       CP_SIM_l2_store_lines == CP_SIM_l2_load_lines + 1 &&
		       CP_SIM_l2_store_misses == CP_SIM_l2_load_misses + 1 &&
		       CP_SIM_llc_store_lines == CP_SIM_llc_load_lines + 1 &&
		       CP_SIM_llc_store_misses == CP_SIM_llc_load_misses + 1 &&
		       CP_SIM_dtlb_store_pages == CP_SIM_dtlb_load_pages + 1 &&
		       CP_SIM_dtlb_store_misses == CP_SIM_dtlb_load_misses + 1,
	"stores are behind loads");

/* Around the lines of one reference. */
LANES_INLINE void span_begin(struct core *core, enum access kind)
{
	uint32_t store = kind == STORE;

	for (int i = 0; i < SPAN_LEVELS; i++)
		core->spanned[i] = core->count[span_levels[i].lines + store];
}

LANES_INLINE void span_end(struct core *core, enum access kind)
{
	uint32_t store = kind == STORE;

	for (int i = 0; i < SPAN_LEVELS; i++) {
		uint64_t lines =
			core->count[span_levels[i].lines + store] - core->spanned[i];

		if (lines > 1)
			core->count[span_levels[i].misses + store] -= lines - 1;
	}
}

/* After this the counts are those of references. */
LANES_INLINE void span_collect(uint64_t *count)
{
	for (int i = 0; i < SPAN_LEVELS; i++)
		for (uint32_t store = 0; store < 2; store++)
			count[span_levels[i].misses + store] +=
				count[span_levels[i].lines + store];
}

#endif
