/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_SANITIZERS_H
#define CACHEPEEK_PRELOAD_PROGRAM_SANITIZERS_H

#include <stdbool.h>

#include "base/engine/engine.h"

/* Is the program built with a sanitizer that the simulated PMU cannot run?  Which,
 * and why not. */
bool cp_is_sanitized(struct cp_why *why);

/* Before the first call of ours of a function that ThreadSanitizer intercepts: some of
 * its interceptors jump to where nothing is before their runtime has begun, which is
 * behind us. */
void cp_sanitizers_start(void);

#endif
