/* SPDX-License-Identifier: MIT
 *
 * A record whose quantities are those of an event set, or, if it has none, its
 * counters, one each.
 */
#ifndef CACHEPEEK_TESTS_UNIT_ENGINE_RECORD_H
#define CACHEPEEK_TESTS_UNIT_ENGINE_RECORD_H

#include <stdio.h>
#include <string.h>

#include "preload/engine/engine.h"
#include "regions/tree.h"

#define SET_COUNTERS 16

static struct cp_quantity_terms engine_quantity(
	struct cp_recording *record, const struct cp_quantity *quantity, unsigned i)
{
	struct cp_quantity_item *item =
		cp_record_reserve(record, sizeof(*item) + CP_NAME_SIZE + 1);

	item->available = CP_QUANTITY_AVAILABLE;
	item->nterms = quantity ? quantity->nterms : 1;
	item->terms[0] = (struct cp_term){i, 1};
	for (unsigned t = 0; quantity && t < quantity->nterms; t++)
		item->terms[t] = (struct cp_term){
			quantity->terms[t].counter, quantity->terms[t].sign};
	if (quantity)
		item->name_length = (uint32_t)snprintf(
			item->text, CP_NAME_SIZE, "%s", quantity->name);
	else
		item->name_length =
			(uint32_t)snprintf(item->text, CP_NAME_SIZE, "q%u", i);
	cp_item_publish(item, CP_ITEM_QUANTITY);
	return (struct cp_quantity_terms){item->nterms, item->terms};
}

static struct cp_layout engine_layout(
	struct cp_recording *record, const struct cp_event_set *of)
{
	static struct cp_quantity_terms terms[SET_COUNTERS];
	static uint32_t group_of[SET_COUNTERS];
	unsigned nquantities = of->nquantities ? of->nquantities : of->ncounters;

	record->header->ncounters = of->ncounters;
	record->header->nquantities = nquantities;
	record->header->nperf_groups = of->ngroups;
	record->header->nrotated = of->nrotated;
	for (unsigned i = 0; i < of->ncounters; i++)
		record->header->socket[of->counters[i].group] = of->counters[i].socket;
	memcpy(record->header->reference, of->reference, sizeof(of->reference));
	record->header->engine = CP_ENGINE_PERF;
	record->header->rank = -1;
	record->header->how = CP_HOW_EXIT;
	for (unsigned i = 0; i < of->ncounters; i++) {
		struct cp_counter_item *item =
			cp_record_reserve(record, sizeof(*item) + 8);

		item->perf_group = group_of[i] = of->counters[i].group;
		item->mirror = UINT32_MAX;
		snprintf(item->name, 8, "c%u", i % 100);
		cp_item_publish(item, CP_ITEM_COUNTER);
	}
	for (unsigned i = 0; i < nquantities; i++)
		terms[i] = engine_quantity(
			record, of->nquantities ? &of->quantities[i] : NULL, i);
	return (struct cp_layout){.ncounters = of->ncounters,
		.nquantities = nquantities,
		.ngroups = of->ngroups,
		.quantities = terms,
		.nrotated = of->nrotated,
		.group_of = group_of};
}

#endif
