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

/* After that: no thread's timer fires any more. */
void cp_ticks_disarm(struct cp_shadows *shadows);

#endif
