/* SPDX-License-Identifier: MIT
 *
 * What the program's files say of the processor that they need: its loader refuses them
 * where CPUID tells of less, as it does under the simulated PMU.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_LEVEL_H
#define CACHEPEEK_PRELOAD_PROGRAM_LEVEL_H

#include <stdbool.h>

/* Does the program, or a library that it was started with, need x86-64-v4? */
bool cp_level_is_above_avx2(void);

/* Is the program shown this machine's processor?  By itself where that is the machine
 * that is simulated, so that it chooses the code that it runs alone; a run that is to be
 * the same on any machine, and several machines at once, have Valgrind's. */
bool cp_level_shows_host(void);

/* For the record, on the simulated PMU: which processor the program was shown, and
 * why. */
void cp_level_note(void);

#endif
