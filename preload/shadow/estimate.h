/* SPDX-License-Identifier: MIT
 *
 * From windows to the whole run.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_ESTIMATE_H
#define CACHEPEEK_PRELOAD_SHADOW_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/shadow/shadow.h"

/* With fewer windows nothing is said. */
#define CP_SHADOW_FEWEST 10

/* An estimate and half of its 95 % interval.  What is unknown of the windows is in the
 * interval. */
struct cp_shadow_estimate {
	double value, error;
	double low, high; /* by what is unknown alone, of the value */
};

/* The windows that are counted, in the order in which they began. */
struct cp_shadow_windows {
	const struct cp_shadow_window *window;
	unsigned n;
	unsigned forks; /* these, and others */
};

/* The total of a run that took so much CPU time: each window is a slice of it, and
 * stands for the time around it.  What forks have slowed down is taken for as much time
 * as slices have for as many instructions. */
struct cp_shadow_estimate cp_shadow_total(const struct cp_shadow_windows *windows,
	enum cp_shadow_counter counter, double cpu_ns);

/* The part of its time that is left without that. */
double cp_shadow_kept(const struct cp_shadow_windows *windows, double cpu_ns);

#endif
