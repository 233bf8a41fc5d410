/* SPDX-License-Identifier: MIT
 *
 * Descriptors for the simulator's core, which takes the 12 numbers from the soft limit
 * on, and of the program all that are above.
 */
#ifndef CACHEPEEK_PRELOAD_NUMBERS_H
#define CACHEPEEK_PRELOAD_NUMBERS_H

#include <sys/resource.h>

#include "base/engine/engine.h"

/* Are there enough?  If not, -EMFILE, and why. */
int cp_numbers_left(struct cp_why *why);

/* The soft limit under which the simulator has to begin, because the program has
 * descriptors that are above its own; 0: that one. */
rlim_t cp_numbers_to_raise(void);

/* Before the simulator is executed, and after that has failed. */
rlim_t cp_numbers_raise(void);
void cp_numbers_lower(rlim_t before);

#endif
