/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How long a value takes, from each of its sources (model/flow.h).
 */
#ifndef CACHEPEEK_SIM_TRAILS_H
#define CACHEPEEK_SIM_TRAILS_H

#include "model/ahead.h"
#include "tool.h"

#define MAX_PATH 250

/* Cycles + 1; 0: there is no such path.  ready: ticks from the superblock's beginning, if
 * nothing is late. */
typedef UChar lanes __attribute__((vector_size(16)));
#define LANES (FLOW_SOURCES / 16)
struct trails {
	union {
		lanes lane[LANES];
		UChar from[FLOW_SOURCES];
	};
	UInt ready;
};

static inline void merge_trails(struct trails *to, const struct trails *from)
{
	for (UInt i = 0; i < LANES; i++) {
		lanes longer = (lanes)(to->lane[i] > from->lane[i]);

		to->lane[i] = (to->lane[i] & longer) | (from->lane[i] & ~longer);
	}
	to->ready = to->ready > from->ready ? to->ready : from->ready;
}

static inline void lengthen_trails(struct trails *trails, UInt cycles)
{
	trails->ready += cycles * AHEAD_TICKS;
	for (UInt i = 0; cycles && i < FLOW_SOURCES; i++)
		if (trails->from[i])
			trails->from[i] = trails->from[i] + cycles < MAX_PATH
						  ? trails->from[i] + cycles
						  : MAX_PATH;
}

#endif
