/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines of page tables, which walks load.
 */
#ifndef CACHEPEEK_SIM_WALKED_H
#define CACHEPEEK_SIM_WALKED_H

#include <stdint.h>

/* How long ago each was walked for, which tells where a walk finds it.  Walks load from
 * L1D, as programs do, whose lines drive theirs out.
 *
 * By the clock of Intel's Golden Cove, in a virtual machine, a walk takes 49 cycles where
 * 512 lines of the tables are in use, of which L1D has most, and 57 of 1,024 lines and
 * more; independent loads from 16 MiB and more wait 28 cycles for each, and not 22. */
#define ENTRY_LINES 8192 /* that are known, the latest of those with a slot */
#define ENTRIES_LOG 3    /* pages that a line is for: 8 bytes each, of 64 */

/* Lines that L1D, and L2, have got so far; what fits of it. */
struct brought {
	uint32_t l1, l2;
};

struct entry_line {
	uint32_t name; /* its number + 1, what fits; 0: a free slot */
	struct brought then;
};

struct entries {
	struct entry_line of[ENTRY_LINES];
};

/* Lines that have been brought since that line was walked for, which it is now.  A slot
 * that another line has: more than any L1D has, for it is one of many. */
static inline __attribute__((always_inline)) struct brought entries_renew(
	struct entries *e, uint64_t line, struct brought now)
{
	struct entry_line *at = &e->of[line % ENTRY_LINES], found = *at;

	*at = (struct entry_line){(uint32_t)line + 1, now};
	if (!found.name)
		return (struct brought){0, 0};
	if (found.name != at->name)
		return (struct brought){UINT32_MAX, 0};
	return (struct brought){now.l1 - found.then.l1, now.l2 - found.then.l2};
}

#endif
