/* SPDX-License-Identifier: MIT
 *
 * The needs of a group: which of its quantities they have, and how often the counters
 * must be dealt out anew until every event has had its turn.
 */
#ifndef CACHEPEEK_OUTPUT_METRICS_PLAN_H
#define CACHEPEEK_OUTPUT_METRICS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "output/metrics/group.h"

struct cp_plan {
	bool usable;   /* everything in @need is there */
	bool complete; /* @want, too */
	size_t nmissing;
	const char *missing[2 * CP_GROUP_MAX_NAMES];
	size_t nevents;  /* different ones that compete for counters */
	unsigned passes; /* 0: the counters of the PMU are not known */
};

/* May this event be counted?  Of the alternatives, the first whose events all
 * may is taken. */
typedef bool cp_plan_usable(void *context, const char *event);

/*
 * pmus: NULL-terminated, in the order in which they are to be asked.  The
 * passes are the least number for which a matching of events to counters
 * exists; events of whole sockets and those with a counter of their own take
 * none.  usable may be NULL: every event may be.
 */
void cp_plan_group(struct cp_arena *arena, const struct cp_group *group,
	const char *const *pmus, cp_plan_usable *usable, void *context,
	struct cp_plan *plan);

#endif
