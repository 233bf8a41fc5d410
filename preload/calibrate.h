/* SPDX-License-Identifier: MIT
 *
 * Measures what our own boundaries count, before the first region of a process begins:
 * cp_marker_begin() (markers.h) is here.
 */
#ifndef CACHEPEEK_PRELOAD_CALIBRATE_H
#define CACHEPEEK_PRELOAD_CALIBRATE_H

#include <stdbool.h>

enum cp_calibration { CP_NOT_CALIBRATED, CP_CALIBRATING, CP_CALIBRATED };

extern int cp_calibrated; /* atomic */

/* Measures what an empty begin/end pair counts and has it subtracted from then
 * on.  Before the first region of a process; other threads wait for a moment.
 * Nothing on the simulated PMU, which does not count us. */
void cp_calibrate(void);

/* The calling thread, at this moment: between its markers, too, where it is not
 * inside the library otherwise. */
bool cp_is_calibrating(void);

/* In a fork child, nobody is there any more who measures. */
void cp_calibrate_after_fork(void);

/* Returns when nobody measures any more: by copies of descriptors that are about
 * to be the program's. */
void cp_calibrate_wait(void);

/* Into a new record, in a fork child. */
void cp_calibrate_describe(void);

#endif
