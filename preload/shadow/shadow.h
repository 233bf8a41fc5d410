/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_ENGINE=shadow, an experiment: the program runs natively, and ticks of its CPU
 * time fork it now and then; the fork executes the same on the simulated PMU
 * (tools/shadow/).  What the windows counted is estimated for the whole run.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_H
#define CACHEPEEK_PRELOAD_SHADOW_H

#include <stdbool.h>

#include "base/engine/engine.h"

/* Can this process have shadows?  Else one line with the reason and the cure. */
bool cp_shadow_possible(struct cp_why *why);

/* Tries what a tick does.  A filter of system calls may refuse it, or a limit that only
 * the kernel knows. */
bool cp_shadow_may_fork(struct cp_why *why);

/* The steps of a process's life (preload/life.h). */
void cp_shadow_prepare(void);
void cp_shadow_begun(void);
void cp_shadow_start_child(void);
void cp_shadow_after_fork(void);
void cp_shadow_forked_inside(void);
void cp_shadow_before_job(void);
void cp_shadow_before_exec(void);
void cp_shadow_exec_failed(void);
void cp_shadow_finish(void);
/* System calls that we need are forbidden from here on. */
void cp_shadow_before_confined(void);

#endif
