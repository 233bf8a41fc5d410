/* SPDX-License-Identifier: MIT
 *
 * The plan of this run (counters/plan.h), which decide.c makes.
 */
#ifndef CACHEPEEK_PRELOAD_PLANNED_H
#define CACHEPEEK_PRELOAD_PLANNED_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/counters/plan.h"

extern struct cp_plan cp_plan;

/* The constructor's memory, in which the plan is, and its way out: false if there was not
 * enough for start, which was left then. */
extern struct cp_arena cp_decide_arena;
bool cp_decide_with_memory(void (*start)(char **argv), char **argv);

/* While it is being decided: one line about what cannot be as asked. */
void cp_decide_complain(const char *line);

#endif
