/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Something that is taken for a while, by requests that come in any order of time: in
 * each 64 cycles there are 64 cycles of it.  Who comes when they are taken gets what is
 * left of later ones.
 */
#ifndef CACHEPEEK_SIM_ROOM_H
#define CACHEPEEK_SIM_ROOM_H

#include "model/lanes.h"

#define ROOM_CYCLES 64
#define ROOM_FULL (ROOM_CYCLES * 100u) /* hundredths of cycles */
#define ROOM_PERIODS 256               /* that are remembered; a power of two */

struct room {
	uint64_t period[ROOM_PERIODS];
	uint32_t taken[ROOM_PERIODS];
	/* Periods [from, to) are known to be full: what is asked for faster than it is
	 * served would otherwise be looked for longer and longer. */
	uint64_t full_from, full_to;
};

/* Returns how much of a period is taken; periods that were forgotten are full. */
LANES_INLINE uint32_t *room_of(struct room *r, uint64_t period)
{
	uint32_t i = period % ROOM_PERIODS;
	static uint32_t full;

	if (r->period[i] < period) {
		r->period[i] = period;
		r->taken[i] = 0;
	} else if (r->period[i] > period) {
		full = ROOM_FULL;
		return &full;
	}
	return &r->taken[i];
}

/* The first period from that one on that has something left. */
LANES_INLINE uint64_t room_find(struct room *r, uint64_t from)
{
	uint64_t period = from;

	for (;; period++) {
		if (period >= r->full_from && period < r->full_to)
			period = r->full_to;
		if (*room_of(r, period) < ROOM_FULL)
			break;
	}
	if (from >= r->full_from && from <= r->full_to) {
		r->full_to = period > r->full_to ? period : r->full_to;
	} else if (period - from > r->full_to - r->full_from) {
		r->full_from = from;
		r->full_to = period;
	}
	return period;
}

/* When a request of that time is served that takes so many hundredths of cycles. */
LANES_INLINE uint64_t room_take(struct room *r, uint64_t at, uint32_t hundredths)
{
	uint64_t period, served = at;

	if (!hundredths)
		return at;
	period = room_find(r, at / ROOM_CYCLES);
	if (period > at / ROOM_CYCLES)
		served = period * ROOM_CYCLES + *room_of(r, period) / 100;
	while (hundredths) {
		uint32_t *taken = room_of(r, period), left = ROOM_FULL - *taken;

		left = left < hundredths ? left : hundredths;
		*taken += left;
		hundredths -= left;
		if (hundredths)
			period = room_find(r, period + 1);
	}
	return served;
}

#endif
