/* SPDX-License-Identifier: MIT
 *
 * Decides what is counted, once in a run: the user's settings are read once, and resolved
 * once.  Fork children have the plan; the next image, which is the same program under the
 * simulated PMU or another program, is handed it in a file of the run's directory.  It
 * looks whether that is the plan for its own settings, and whether what is in it can be
 * counted, and decides anew only if not.
 */
#ifndef CACHEPEEK_PRELOAD_DECIDE_H
#define CACHEPEEK_PRELOAD_DECIDE_H

#include <stdbool.h>

/* The settings that the plan is for: NAME=value of all variables of ours. */
void cp_decide_settings(char *const settings[]);

/* Before an engine is chosen: reads what was asked for by name.  Is that nothing but
 * software events? */
bool cp_decide_is_software(void);

/* With an engine chosen; inherited: by an earlier image, or a parent. */
void cp_decide(bool inherited);

/* For the next image; not again where it was done.  Async-signal-safe. */
void cp_decide_hand_over(void);

#endif
