/* SPDX-License-Identifier: MIT
 *
 * Makes what a machine's CPUID tells: its processor's name and features, and its caches
 * and TLBs, as cpuid.h decodes them.
 */
#ifndef CACHEPEEK_BASE_MACHINE_SHOWN_H
#define CACHEPEEK_BASE_MACHINE_SHOWN_H

#include "base/machine/cpuid.h"

/* The processor that a program is shown. */
enum cp_shown_cpu { CP_SHOWN_VALGRINDS, CP_SHOWN_HOSTS, CP_SHOWN_MACHINES };

/* Does the machine's file name a processor and its features?  They have to be those that
 * what is compiled here needs at least: a program's files refuse others. */
bool cp_shown_has(const struct cp_machine *machine);

/* The leaves that differ from "nothing": returns how many. */
#define CP_SHOWN_LEAVES 48
size_t cp_shown_leaves(
	const struct cp_machine *machine, struct cp_cpuid_leaf leaves[CP_SHOWN_LEAVES]);

/* The option of the simulated PMU that shows them: "--cpu=LEAF.SUBLEAF:EAX:EBX:ECX:EDX,"
 * and so on, in hexadecimal digits. */
#define CP_SHOWN_OPTION (8 + CP_SHOWN_LEAVES * 50)
void cp_shown_option(const struct cp_machine *machine, char *to, size_t size);

/* Features of the machine that CPUID does not tell of where it is asked: those that the
 * simulated PMU, or this host, executes nothing of. */
uint64_t cp_shown_lacking(const struct cp_machine *machine);

#endif
