/* SPDX-License-Identifier: MIT
 *
 * Reads which processor the program's files need: its loader refuses them where CPUID
 * tells of less, as it does under the simulated PMU.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_LEVEL_H
#define CACHEPEEK_PRELOAD_PROGRAM_LEVEL_H

#include <stdbool.h>

#include "base/machine/shown.h"

/* The processor that the program is shown.  By itself it is that of the machine that is
 * simulated, so that the program chooses the code that it runs there; a run that is to be
 * the same on any machine, several machines at once, and a machine whose file names no
 * processor have Valgrind's. */
enum cp_shown_cpu cp_level_shown(void);

/* The same of this program, which may need the host's. */
enum cp_shown_cpu cp_level_to_show(
	enum cp_shown_cpu wanted, const struct cp_machine *machine);

/* For the record, on the simulated PMU: which processor the program was shown, and
 * why. */
void cp_level_note(void);

#endif
