/* SPDX-License-Identifier: MIT
 *
 * What the program's files say of the processor that they need: its loader refuses them
 * where CPUID tells of less, as it does under the simulated PMU.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_LEVEL_H
#define CACHEPEEK_PRELOAD_PROGRAM_LEVEL_H

#include <stdbool.h>

#include "base/machine/shown.h"

/* Whose processor is the program shown?  By itself that of the machine that is simulated,
 * so that it chooses the code that it runs there; a run that is to be the same on any
 * machine, several machines at once, and a machine whose file names no processor have
 * Valgrind's. */
enum cp_shown_cpu cp_level_shown(void);

/* The same of this program, which may need the host's. */
enum cp_shown_cpu cp_level_to_show(
	enum cp_shown_cpu wanted, const struct cp_machine *machine);

/* For the record, on the simulated PMU: which processor the program was shown, and
 * why. */
void cp_level_note(void);

#endif
