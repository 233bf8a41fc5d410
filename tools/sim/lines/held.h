/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Entries of a scheduler, which instructions have until what they wait for is there.
 */
#ifndef CACHEPEEK_SIM_HELD_H
#define CACHEPEEK_SIM_HELD_H

#include "lines/lanes.h"

#define HELD_GROUPS 128 /* a power of two; a scheduler has no more entries */

/* Those that are taken, in groups of one or more, by when they are free: the first one
 * first. */
struct held {
	uint32_t first, groups, entries;
	struct {
		uint64_t until;
		uint32_t entries;
	} of[HELD_GROUPS];
};

LANES_INLINE uint64_t held_pop(struct held *h)
{
	uint32_t i = h->first++ % HELD_GROUPS;

	h->groups--;
	h->entries -= h->of[i].entries;
	return h->of[i].until;
}

/* So many instructions need an entry at `now` until then, and no more than there are in
 * all: when they have got it. */
LANES_INLINE uint64_t held_take(
	struct held *h, uint32_t all, uint64_t now, uint32_t entries, uint64_t until)
{
	uint32_t i;

	while (h->groups && h->of[h->first % HELD_GROUPS].until <= now)
		held_pop(h);
	while (h->entries + entries > all)
		now = held_pop(h);
	if (until <= now)
		return now;
	h->entries += entries;
	i = h->first + h->groups;
	if (h->groups && h->of[(i - 1) % HELD_GROUPS].until == until) {
		h->of[(i - 1) % HELD_GROUPS].entries += entries;
		return now;
	}
	for (; i != h->first && h->of[(i - 1) % HELD_GROUPS].until > until; i--)
		h->of[i % HELD_GROUPS] = h->of[(i - 1) % HELD_GROUPS];
	h->of[i % HELD_GROUPS].until = until;
	h->of[i % HELD_GROUPS].entries = entries;
	h->groups++;
	return now;
}

#endif
