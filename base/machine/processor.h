/* SPDX-License-Identifier: MIT
 *
 * The processor that this process runs on: its name, and its leaves of CPUID.
 */
#ifndef CACHEPEEK_BASE_MACHINE_PROCESSOR_H
#define CACHEPEEK_BASE_MACHINE_PROCESSOR_H

#include "base/machine/cpuid.h"

/* vendor "Arm": family is MIDR's implementer, model its part.  "": unknown. */
struct cp_processor {
	char vendor[16];
	uint32_t family, model;
	bool is_virtual;
};

/* Reads the text of /proc/cpuinfo. */
void cp_processor_read(struct cp_processor *processor, const char *cpuinfo);

/* The one that this process runs on. */
void cp_processor_here(struct cp_processor *processor);

/* What its CPUID tells.  Nothing, and each level says why, where there is no CPUID or it
 * is another processor's, as an emulator's is. */
void cp_processor_told(const struct cp_processor *processor, struct cp_cpuid_told *told);

#endif
