/* SPDX-License-Identifier: MIT
 *
 * The processor that this process runs on: its name, and its leaves of CPUID.
 */
#ifndef CACHEPEEK_BASE_MACHINE_PROCESSOR_H
#define CACHEPEEK_BASE_MACHINE_PROCESSOR_H

#include "base/machine/cpuid.h"

/* vendor "Arm": family is MIDR's implementer, model its part, and there is no stepping.
 * "": unknown. */
struct cp_processor {
	char vendor[16];
	uint32_t family, model, stepping;
	bool is_virtual;
	uint32_t mhz;      /* of its clock, as far as this is told; 0: it is not */
	uint64_t features; /* a set of cp_features[]; 0: unknown */
};

/* Reads the text of /proc/cpuinfo; the clock only in a virtual machine, where it is that
 * of the TSC: elsewhere it changes all the time. */
void cp_processor_read(struct cp_processor *processor, const char *cpuinfo);

/* The one that this process runs on; the clock is the highest that cpufreq tells.  false:
 * in a virtual machine without it, where it is that of the TSC. */
bool cp_processor_here(struct cp_processor *processor);

/* Decodes what its CPUID tells.  Nothing is told, and each level says why, where there is
 * no CPUID or it is another processor's, as an emulator's is. */
void cp_processor_told(const struct cp_processor *processor, struct cp_cpuid_told *told);

#endif
