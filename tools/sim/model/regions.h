/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Short numbers for far lines.
 *
 * Tags have 32 bits.  Lines of the first 2^31 keep their numbers; further up,
 * each region of 2^26 lines that a program uses gets the next free place after
 * those, and its lines keep their low bits, so that they stay in their sets.
 * (Where the number of sets is no power of two, they are in some set.)
 */
#ifndef CACHEPEEK_SIM_REGIONS_H
#define CACHEPEEK_SIM_REGIONS_H

#include "model/lanes.h"

#define REGION_NEAR (1ull << 31)
#define REGION_BITS 26
#define REGION_SLOTS 4096

struct regions {
	uint32_t used, limit;
	struct {
		uint64_t high; /* plus one; 0: free */
		uint64_t first;
	} slot[REGION_SLOTS];
	uint64_t high[REGION_SLOTS / 2]; /* of the regions with numbers of their own */
};

/* fewest_sets: of any cache of lines. */
void regions_init(struct regions *r, uint32_t fewest_sets);
uint64_t regions_far(struct regions *r, uint64_t line);

LANES_INLINE uint64_t regions_shorten(struct regions *r, uint64_t line)
{
	return __builtin_expect(line < REGION_NEAR, 1) ? line : regions_far(r, line);
}

/* The full number of a line that has been shortened. */
LANES_INLINE uint64_t regions_lengthen(const struct regions *r, uint64_t line)
{
	uint64_t far = line - REGION_NEAR;

	if (__builtin_expect(line < REGION_NEAR, 1))
		return line;
	return r->high[far >> REGION_BITS] << REGION_BITS |
	       (far & ((1ull << REGION_BITS) - 1));
}

#endif
