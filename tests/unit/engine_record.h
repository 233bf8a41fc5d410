/* SPDX-License-Identifier: MIT
 *
 * A record whose quantities are an event set's counters, one each.
 */
#ifndef CACHEPEEK_TESTS_UNIT_ENGINE_RECORD_H
#define CACHEPEEK_TESTS_UNIT_ENGINE_RECORD_H

#include <stdio.h>

#include "preload/engine/engine.h"
#include "regions/tree.h"

#define SET_COUNTERS 16

static struct cp_layout engine_layout(
	struct cp_recording *record, const struct cp_event_set *set)
{
	static struct cp_term term[SET_COUNTERS];
	static struct cp_quantity_terms terms[SET_COUNTERS];
	static uint32_t group_of[SET_COUNTERS];

	record->header->ncounters = record->header->nquantities = set->ncounters;
	record->header->nperf_groups = set->ngroups;
	record->header->nrotated = set->nrotated;
	record->header->engine = CP_ENGINE_PERF;
	record->header->rank = -1;
	record->header->how = CP_HOW_EXIT;
	for (unsigned i = 0; i < set->ncounters; i++) {
		struct cp_counter_item *item =
			cp_record_reserve(record, sizeof(*item) + 8);

		item->perf_group = group_of[i] = set->counters[i].group;
		item->mirror = UINT32_MAX;
		snprintf(item->name, 8, "c%u", i % 100);
		cp_item_publish(item, CP_ITEM_COUNTER);
	}
	for (unsigned i = 0; i < set->ncounters; i++) {
		struct cp_quantity_item *item =
			cp_record_reserve(record, sizeof(*item) + 8);

		term[i] = (struct cp_term){i, 1};
		item->available = CP_QUANTITY_AVAILABLE;
		item->nterms = 1;
		item->terms[0] = term[i];
		item->name_length = (uint32_t)sprintf(item->text, "q%u", i % 1000);
		cp_item_publish(item, CP_ITEM_QUANTITY);
		terms[i] = (struct cp_quantity_terms){1, &term[i]};
	}
	return (struct cp_layout){.ncounters = set->ncounters,
		.nquantities = set->ncounters,
		.ngroups = set->ngroups,
		.quantities = terms,
		.nrotated = set->nrotated,
		.group_of = group_of};
}

#endif
