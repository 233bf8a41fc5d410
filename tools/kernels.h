/* SPDX-License-Identifier: MIT
 *
 * Pieces of code whose counts are known beforehand: what `cachepeek doctor
 * --verify` compares counters with.
 */
#ifndef CACHEPEEK_TOOLS_KERNELS_H
#define CACHEPEEK_TOOLS_KERNELS_H

#include <stdint.h>

struct cp_kernel {
	const char *region;
	void (*run)(void);
	const char *preset;
	uint64_t expected;
	/* How far above expected a right counter may be: the marker calls around
	 * the kernel, and what hardware adds (prefetches, interrupts). */
	uint64_t sim_slack;
	double hardware_slack; /* as a fraction, both ways */
	const char *what;
};

/* Ends with a NULL region. */
extern const struct cp_kernel cp_kernels[];

/* Runs every kernel once, each in the region of its name. */
void cp_kernels_run(void);

#endif
