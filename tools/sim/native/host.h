/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The features that the host can execute.
 */
#ifndef CACHEPEEK_SIM_NATIVE_HOST_H
#define CACHEPEEK_SIM_NATIVE_HOST_H

#include "native/decode.h"

struct cpuid {
	UInt output[4]; /* EAX, EBX, ECX, EDX */
};

struct cpuid native_cpuid(UInt leaf, UInt subleaf);

/* Does it tell of more registers than the core has? */
Bool cpuid_shows_wide(void);

void native_host_start(void);
/* The registers that the kernel keeps for each thread, and that are executed here: bits
 * of XCR0. */
UInt native_host_kept_state(void);
/* To what that leaf says, if it is where CPUID tells of the feature, and the host has it.
 */
void native_host_add_feature(UInt feature, UInt leaf, UInt subleaf, struct cpuid *c);
/* Does CPUID say so?  And may it be so nevertheless: if not, the host ends it in SIGILL.
 */
Bool native_host_has(const struct native *n);
Bool native_host_may_have(const struct native *n);
/* Is it certain that VEX decodes nothing of this kind? */
Bool native_is_foreign(const struct native *n);

#endif
