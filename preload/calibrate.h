/* SPDX-License-Identifier: MIT
 *
 * What our own boundaries count.
 */
#ifndef CACHEPEEK_PRELOAD_CALIBRATE_H
#define CACHEPEEK_PRELOAD_CALIBRATE_H

#include <stdbool.h>

extern int cp_calibrated;
	/* not every CPU exchanges bytes */ /* atomic: somebody has begun to */

/* Measures what an empty begin/end pair counts and has it subtracted from then
 * on.  Before the first region of a process; nothing on the simulated PMU, which
 * does not count us. */
void cp_calibrate(void);

/* Into a new record, in a fork child. */
void cp_calibrate_describe(void);

#endif
