/* SPDX-License-Identifier: MIT
 *
 * A plan as the items of a record.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_DESCRIBED_H
#define CACHEPEEK_BASE_COUNTERS_DESCRIBED_H

#include "base/counters/plan.h"
#include "regions/record_write.h"

void cp_describe_text(struct cp_recording *record, const char *key, const char *value);

/* Describes what the run is counted on, and its groups: all in metas. */
void cp_describe_plan(struct cp_recording *record, const struct cp_plan *plan);

/* Fills in what the header says of the event set. */
void cp_describe_header(struct cp_record_header *header, const struct cp_plan *plan);

/* 0 or -ENOSPC. */
int cp_describe_counters(struct cp_recording *record, const struct cp_event_set *set);

/* NULL: there is no space. */
struct cp_quantity_item *cp_describe_quantity(struct cp_recording *record,
	const struct cp_event_set *set, const struct cp_quantity *quantity);

#endif
