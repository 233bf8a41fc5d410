/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Knows the time of each region of a thread (units/learnt.h), where that is of a sample.
 * All may be given NULL: it is of none.
 */
#ifndef CACHEPEEK_SIM_REGION_TIMES_H
#define CACHEPEEK_SIM_REGION_TIMES_H

#include "tool.h"

struct region_times;

/* Begins for a thread that begins, or a fork's child, in no region; NULL: time is of no
 * sample. */
struct region_times *region_times_begin(void);

/* The thread goes on in the region of that number; 0: in none. */
void region_times_enter(struct region_times *times, UWord number);

/* The thread runs on that core, whose counts are collected. */
void region_times_use(const struct region_times *times, struct core *core);

/* Nobody is on that core, or another thread; returns NULL. */
struct region_times *region_times_end(struct region_times *times, struct core *core);

#endif
