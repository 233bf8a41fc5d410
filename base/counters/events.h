/* SPDX-License-Identifier: MIT
 *
 * From what the user asked for (events, presets, groups) to what an engine
 * counts.  Data in, data out: nothing is opened for good here.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_EVENTS_H
#define CACHEPEEK_BASE_COUNTERS_EVENTS_H

#include "base/arena.h"
#include "output/metrics/group.h"
#include "output/metrics/weights.h"
#include "base/engine/engine.h"
#include "base/machine/machine.h"

#define CP_MAX_GROUPS 16

/* The request as the user wrote it, before an engine is chosen. */
struct cp_request {
	size_t nnames, ngroups;
	const char *names[CP_MAX_QUANTITIES]; /* in the order asked, no doubles */
	const struct cp_group *groups[CP_MAX_GROUPS];
	unsigned dropped;            /* names beyond the limit */
	double weights[CP_NWEIGHTS]; /* that CACHEPEEK_LET sets, in cycles; 0: it does not
				      */
	bool common; /* the last name was not asked for: cp_request_add_common */
};

/* Called with one line for each thing that cannot be as asked. */
typedef void cp_complaint(const char *line);

/* CACHEPEEK_EVENTS, CACHEPEEK_GROUPS and CACHEPEEK_LET; NULL: not set. */
struct cp_request_text {
	const char *events, *groups, *lets;
	const char *fallback; /* the group where neither events nor groups are set */
};

/* Reads what was asked for.  Events alone replace the fallback. */
void cp_request_read(struct cp_request *request, struct cp_arena *arena,
	const struct cp_request_text *text, cp_complaint *complain);

/* Nothing but software and breakpoint events: those need no PMU. */
bool cp_request_is_software(const struct cp_request *request, struct cp_arena *arena);

/* The preset, software event or event of other tools that was probably meant by a
 * name, or NULL. */
const char *cp_event_like(const char *name, struct cp_arena *arena);

/* Adds the event that all passes count: see cp_events_for_perf. */
void cp_request_add_common(struct cp_request *request);

/* Which part of the events is counted: of several runs, or ranks, that share them. */
struct cp_share {
	unsigned number; /* of this one, from 1 on; 0: it counts everything */
	bool in_turn;    /* there may be more of them than parts */
};

/* Encodes and probe-opens every name.  What cannot be counted stays in the set as an
 * unavailable quantity with its reason; names unknown to everybody are complained
 * about. */
void cp_events_for_perf(struct cp_event_set *set, const struct cp_request *request,
	struct cp_share share, struct cp_arena *arena, cp_complaint *complain);

/* machine: whose own names are understood, and what levels there are. */
void cp_events_for_sim(struct cp_event_set *set, const struct cp_request *request,
	const struct cp_machine *machine, struct cp_arena *arena, cp_complaint *complain);

#endif
