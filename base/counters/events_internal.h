/* SPDX-License-Identifier: MIT
 *
 * Shared by events.c, events_perf.c, events_pass.c and events_sim.c only.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_EVENTS_INTERNAL_H
#define CACHEPEEK_BASE_COUNTERS_EVENTS_INTERNAL_H

#include "base/counters/events.h"

/* A new quantity, not available yet.  The caller keeps within the limit. */
struct cp_quantity *cp_set_quantity(struct cp_event_set *set, const char *name);

/* The index of the counter with this name, or -1. */
int cp_set_counter(struct cp_event_set *set, const char *name);

/* A new counter at the end.  The caller keeps within the limit. */
struct cp_counter *cp_set_add_counter(struct cp_event_set *set, const char *name);

void cp_quantity_add_term(struct cp_quantity *quantity, int sign, unsigned counter);

/* The index of what a sample has of the simulated PMU's counter of that number (enum
 * cp_sim_sampled), and the instructions that its estimate needs: its index. */
int cp_set_sampled(struct cp_event_set *set, const char *name, unsigned sampled);

/* One line about a name that nobody knows, with the nearest preset; the same
 * becomes the quantity's reason. */
void cp_complain_unknown(const char *name, struct cp_arena *arena, const char *detail,
	struct cp_quantity *quantity, cp_complaint *complain);

/* Translates another tool's name of an event, with a message; returns the preset.
 * NULL: it is nobody's. */
const char *cp_read_as(const char *name, struct cp_arena *arena, cp_complaint *complain);

/*
 * A preset that the PMUs beside the core PMU (NULL: any) know of whole sockets; or
 * an event of such a PMU.  All of their PMUs and sockets are added up.  False, and
 * quantity->why where there is something to say; *known tells whether such an
 * event was found at all.
 */
bool cp_socket_preset(struct cp_event_set *set, struct cp_quantity *quantity,
	struct cp_arena *arena, const char *core);
bool cp_socket_event(struct cp_event_set *set, struct cp_quantity *quantity, bool *known);

/* Leaves in the set what this pass counts; the rest becomes unavailable.  Before
 * cp_perf_arrange. */
void cp_events_take_pass(struct cp_event_set *set, struct cp_share share);

#endif
