/* SPDX-License-Identifier: MIT
 *
 * The requests to the simulated PMU.
 */
#ifndef CACHEPEEK_PRELOAD_SIMULATED_H
#define CACHEPEEK_PRELOAD_SIMULATED_H

#include "base/counters/events.h"

/* Part of the decision (decide.h), in this order: the machines, the sweep, the windows;
 * and the events. */
void cp_simulated_machines(void);
/* The groups of a run on these machines for which nobody says any: the time is among them
 * if it is known, and takes a part of the instructions only. */
const char *cp_simulated_groups(void);
void cp_simulated_events(const struct cp_request *request);

/* Executes the program again, under the simulated PMU; entries are added to its
 * environment.  Returns only if the program stays as it is. */
void cp_run_simulated(char **argv, char *const *entries);

/* On hardware: of what only the simulated PMU does. */
void cp_warn_of_simulated(void);

#endif
