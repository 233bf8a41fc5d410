/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_WORKING_SET=N: the lines and pages that a thread touches in N
 * instructions.  The simulated PMU counts windows and what was touched in them
 * (tools/sim/window.h); these are quantities as others are, which output/report/windows.h
 * makes working sets of.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_WINDOWS_H
#define CACHEPEEK_BASE_COUNTERS_WINDOWS_H

#include "base/engine/engine.h"
#include "base/machine/machine.h"

/* The instructions of a window; 0: text is no number from 1 to 1000000000. */
unsigned cp_windows_parse(const char *text);

void cp_windows_add_events(struct cp_event_set *set);

/* For the record: what they are of. */
void cp_windows_describe(
	unsigned length, const struct cp_machine *machine, char *to, size_t size);

#endif
