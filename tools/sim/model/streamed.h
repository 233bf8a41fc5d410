/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The buffers in which non-temporal stores become lines.
 *
 * Each has a line of L1D and which of its bytes are there.  A store finds its line's, or
 * takes the place of the oldest one, of which memory gets what is there.  One that is
 * full goes to memory at once.  Nothing else empties them.
 */
#ifndef CACHEPEEK_SIM_MODEL_STREAMED_H
#define CACHEPEEK_SIM_MODEL_STREAMED_H

#include <stdint.h>

#define STREAMED_MOST 64
#define STREAMED_USUAL 12

struct streamed {
	uint32_t buffers, shift; /* shift: of a line of L1D */
	uint32_t next;
	struct {
		uint64_t line;  /* its number, plus one; 0: free */
		uint64_t parts; /* a bit for each 64th of it, or each byte */
	} buffer[STREAMED_MOST];
};

#endif
