/* SPDX-License-Identifier: MIT
 *
 * Instructions in the program's own files that cannot be executed, found before any of
 * its code runs: of sets that this processor lacks, or that the simulated PMU does.
 *
 * Only files that cannot choose are looked at.  One that asks the processor what it has
 * (CPUID) has code for others; libraries in the system's directories are built for every
 * processor, and choose, maybe by what another library knows.  Even so the instruction
 * may be in a function that is never called.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_LACKING_H
#define CACHEPEEK_PRELOAD_PROGRAM_LACKING_H

#include <stdbool.h>

/* A sentence's end: "instructions that … cannot execute: which, and where". */
enum { CP_LACKING_SIZE = 300 };

struct cp_lacking {
	char what[CP_LACKING_SIZE]; /* "": nothing was found */
	bool host_has_it;           /* so it is the simulated PMU that lacks it */
};

/* Not in a program of a sanitizer, whose dl_iterate_phdr(3) is not ready yet. */
void cp_lacking_find(struct cp_lacking *found);

#endif
