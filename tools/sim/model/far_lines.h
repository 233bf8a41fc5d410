/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Short numbers for far lines.
 *
 * Tags have 32 bits.  Lines of the first 2^31 keep their numbers; further up,
 * each area of 2^26 lines that a program uses gets the next free place after
 * those, and its lines keep their low bits, so that they stay in their sets.
 * (Where the number of sets is no power of two, they are in some set.)
 */
#ifndef CACHEPEEK_SIM_FAR_LINES_H
#define CACHEPEEK_SIM_FAR_LINES_H

#include "lines/lanes.h"

#define FAR_LINES_FROM (1ull << 31)
#define FAR_LINES_BITS 26
#define FAR_LINES_SLOTS 4096

struct far_lines {
	uint32_t used, limit;
	struct {
		uint64_t high; /* plus one; 0: free */
		uint64_t first;
	} slot[FAR_LINES_SLOTS];
	uint64_t high[FAR_LINES_SLOTS / 2]; /* of the areas with numbers of their own */
};

/* fewest_sets: of any cache of lines. */
void far_lines_init(struct far_lines *r, uint32_t fewest_sets);
uint64_t far_lines_number(struct far_lines *r, uint64_t line);

LANES_INLINE uint64_t far_lines_shorten(struct far_lines *r, uint64_t line)
{
	return __builtin_expect(line < FAR_LINES_FROM, 1) ? line
							  : far_lines_number(r, line);
}

/* The full number of a line that has been shortened. */
LANES_INLINE uint64_t far_lines_lengthen(const struct far_lines *r, uint64_t line)
{
	uint64_t far = line - FAR_LINES_FROM;

	if (__builtin_expect(line < FAR_LINES_FROM, 1))
		return line;
	return r->high[far >> FAR_LINES_BITS] << FAR_LINES_BITS |
	       (far & ((1ull << FAR_LINES_BITS) - 1));
}

#endif
