/* SPDX-License-Identifier: MIT
 *
 * Ticks of the CPU time of each thread, and the forks that they make.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_TICKS_H
#define CACHEPEEK_PRELOAD_SHADOW_TICKS_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/shadow/state.h"

/* 0, or -errno with one line in why. */
int cp_ticks_start(struct cp_shadows *shadows, char *why, size_t size);
bool cp_ticks_are_on(void);

/* No ticks from here on, and no shadow; and: again. */
void cp_ticks_stop(void);
void cp_ticks_resume(void);

/* May a shadow begin that is no tick's?  0: it is the calling thread's turn, which is to
 * fork; else about so much CPU time has to pass before. */
uint64_t cp_ticks_turn(struct cp_shadows *shadows);
/* Of that execution of a region, from here on: returns in both. */
void cp_ticks_fork_here(struct cp_shadows *shadows, uint32_t site, uint64_t execution);

/* Anything from half of it to one and a half; and the time between two windows. */
uint64_t cp_ticks_around(struct cp_shadows *shadows, uint64_t amount);
uint64_t cp_ticks_period(struct cp_shadows *shadows);

/* After that: no thread's timer fires any more. */
void cp_ticks_disarm(struct cp_shadows *shadows);

#endif
