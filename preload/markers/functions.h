/* SPDX-License-Identifier: MIT
 *
 * Functions as regions: of programs built with -finstrument-functions
 * (hooks_functions.c), and of others, on the simulated PMU (functions_sim.c) and where
 * the kernel counts (functions_patch.c).
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_FUNCTIONS_H
#define CACHEPEEK_PRELOAD_MARKERS_FUNCTIONS_H

#include <stdbool.h>

/* Once, in the constructor. */
void cp_functions_start(void);

/* Does CACHEPEEK_REGIONS ask for functions of programs that are not built so? */
bool cp_functions_chosen(const char *patterns);
/* Or for lines of source? */
bool cp_lines_chosen(const char *patterns);
/* Complains of lines that cannot be understood. */
void cp_lines_complain(const char *patterns);
/* On the simulated PMU, at the end: of lines and functions that are not there. */
void cp_watched_check(void);
/* On the simulated PMU: makes them regions. */
void cp_functions_watch(const char *patterns);

/* Elsewhere: can they be, on this kind of CPU?  Makes them regions, from the end of the
 * constructor on; and when all is over says of which there was none. */
bool cp_functions_can_be_patched(void);
void cp_functions_patch(const char *patterns);
void cp_functions_begun(void);
void cp_functions_check(void);

/* A fork child has none of its parent's breakpoints, and opens its own when it is
 * counted; a program that is about to be confined gives them up. */
void cp_functions_after_fork(void);
void cp_functions_start_child(void);
void cp_functions_before_confined(void);

#endif
