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

/* When a request of that time is served that takes so many hundredths of cycles. */
LANES_INLINE uint64_t room_take(struct room *r, uint64_t at, uint32_t hundredths)
{
	uint64_t period = at / ROOM_CYCLES, served = at;

	if (!hundredths)
		return at;
	for (; *room_of(r, period) >= ROOM_FULL; period++)
		;
	if (period > at / ROOM_CYCLES)
		served = period * ROOM_CYCLES + *room_of(r, period) / 100;
	for (; hundredths; period++) {
		uint32_t *taken = room_of(r, period), left = ROOM_FULL - *taken;

		left = left < hundredths ? left : hundredths;
		*taken += left;
		hundredths -= left;
	}
	return served;
}

#endif
