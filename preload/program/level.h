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

/* For the record, on the simulated PMU: that it does, and so was shown this processor. */
void cp_level_note(void);

#endif
