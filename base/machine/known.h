/* SPDX-License-Identifier: MIT
 *
 * Which machine file is of a processor: by the lines
 *   cpuid = VENDOR FAMILY MODEL[-MODEL]...
 *   midr = IMPLEMENTER PART...
 */
#ifndef CACHEPEEK_BASE_MACHINE_KNOWN_H
#define CACHEPEEK_BASE_MACHINE_KNOWN_H

#include "base/embedded.h"
#include "base/machine/processor.h"

/* The file among them that is of this processor; NULL: none, or with a line in error two
 * are, or one is wrong. */
const struct cp_embedded *cp_known_find(const struct cp_embedded *files,
	const struct cp_processor *processor, char *error, size_t error_size);

/*
 * The machine, as sysfs tells it, gets the TLBs that CPUID tells, and from the file of
 * its processor (or, of a virtual machine, one that is like it) policies, inclusion,
 * prefetchers, latencies, what time hangs on, TLBs that CPUID does not tell, and caches
 * that the host hides.  The note says what is assumed.  Of a plain machine policies,
 * inclusion and prefetchers are nobody's, and the note says that.
 */
void cp_machine_recognise(struct cp_machine *machine,
	const struct cp_processor *processor, const struct cp_cpuid_told *told,
	const struct cp_embedded *files, bool plain);

/*
 * A virtual machine has a part of the last level that is between its processors' part of
 * it, as threads, and all: the geometric mean, which is off by the same factor at either
 * end, is assumed, and the note says that; or that the part is unknown.
 */
void cp_machine_share_llc(struct cp_machine *machine);

#define CP_PLAIN_CHOSEN "LRU and non-inclusive caches chosen"

/* LRU, non-inclusive caches without prefetchers, and one second-level TLB. */
void cp_machine_make_plain(struct cp_machine *machine);

/* Caches that are plain get policies, inclusion and prefetchers of the other machine's,
 * where their sizes allow them: returns whether any does. */
bool cp_machine_take_policies(struct cp_machine *to, const struct cp_machine *of);

#endif
