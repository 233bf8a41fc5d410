/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Entries of a scheduler, which instructions have until what they wait for is there.
 */
#ifndef CACHEPEEK_SIM_HELD_H
#define CACHEPEEK_SIM_HELD_H

#include "lines/lanes.h"

#define HELD_GROUPS 128 /* a power of two; a scheduler has no more entries */

/* The entries that are taken, in groups of one or more, by when they are free: the first
 * one first. */
struct held {
	uint32_t first, groups, entries;
	struct {
		uint64_t until;
		uint32_t entries;
	} of[HELD_GROUPS];
};

/* So many instructions need an entry at `now` until then, and no more than there are in
 * all: when they have got it. */
LANES_INLINE uint64_t held_take(
	struct held *h, uint32_t all, uint64_t now, uint32_t entries, uint64_t until)
{
	uint32_t first = h->first, i = first + h->groups, taken = h->entries + entries;

	for (; first != i && h->of[first % HELD_GROUPS].until <= now; first++)
		taken -= h->of[first % HELD_GROUPS].entries;
	for (; taken > all; first++) {
		now = h->of[first % HELD_GROUPS].until;
		taken -= h->of[first % HELD_GROUPS].entries;
	}
	h->first = first;
	h->groups = i - first;
	h->entries = taken;
	if (until <= now) {
		h->entries -= entries;
		return now;
	}
	if (first != i && h->of[(i - 1) % HELD_GROUPS].until == until) {
		h->of[(i - 1) % HELD_GROUPS].entries += entries;
		return now;
	}
	for (; i != first && h->of[(i - 1) % HELD_GROUPS].until > until; i--)
		h->of[i % HELD_GROUPS] = h->of[(i - 1) % HELD_GROUPS];
	h->of[i % HELD_GROUPS].until = until;
	h->of[i % HELD_GROUPS].entries = entries;
	h->groups++;
	return now;
}

#endif
