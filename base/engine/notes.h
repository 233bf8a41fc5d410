/* SPDX-License-Identifier: MIT
 *
 * Notes about this machine: what it does to counts, beside counting.
 */
#ifndef CACHEPEEK_BASE_ENGINE_NOTES_H
#define CACHEPEEK_BASE_ENGINE_NOTES_H

#include "base/engine/engine.h"

/* Says why events are multiplexed, or never counted, where something else holds
 * counters; say is called with one line each. */
void cp_perf_note(const struct cp_event_set *set, void (*say)(const char *line));

/* A line about what hardware threads of one core share, if they are in use and
 * the set counts on the PMU; NULL: nothing to say. */
const char *cp_perf_note_siblings(const struct cp_event_set *set);

#endif
