/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Something that is taken for a while, by requests that come in any order of time: in
 * each 64 cycles there are 64 cycles of it.  Who comes when they are taken gets what is
 * left of later ones.
 */
#ifndef CACHEPEEK_SIM_ROOM_H
#define CACHEPEEK_SIM_ROOM_H

#include "lines/lanes.h"

#define ROOM_CYCLES 64
#define ROOM_FULL (ROOM_CYCLES * 100u) /* hundredths of cycles */
#define ROOM_PERIODS 256               /* that are remembered; a power of two */

/* Each period has its number, and behind that how much of it is taken. */
#define ROOM_BITS 13
struct room {
	uint64_t slot[ROOM_PERIODS];
	/* Periods [from, to) are known to be full, the latest that took looking for: what
	 * is asked for faster than it is served is further and further away. */
	uint64_t full_from, full_to;
};

/* How much of a period is left; periods that were forgotten are full. */
LANES_INLINE uint32_t room_left(const struct room *r, uint64_t period)
{
	uint64_t slot = r->slot[period % ROOM_PERIODS], begin = period << ROOM_BITS;

	if (slot < begin)
		return ROOM_FULL;
	return slot >> ROOM_BITS == period ? ROOM_FULL - (uint32_t)(slot - begin) : 0;
}

/* The period has so much left. */
LANES_INLINE void room_give(struct room *r, uint64_t period, uint32_t hundredths)
{
	uint64_t *slot = &r->slot[period % ROOM_PERIODS], begin = period << ROOM_BITS;

	*slot = (*slot < begin ? begin : *slot) + hundredths;
}

/* The same as room_find(), by the slots: how far it is does not matter. */
static __attribute__((noinline)) uint64_t room_find_far(
	const struct room *r, uint64_t from)
{
	uint64_t first = ~0ull;

	for (uint64_t i = 0; i < ROOM_PERIODS; i++) {
		uint64_t period = r->slot[i] >> ROOM_BITS;

		if (period < from)
			period = from + (i - from) % ROOM_PERIODS;
		else if (!room_left(r, period))
			period += ROOM_PERIODS;
		first = period < first ? period : first;
	}
	return first;
}

#define ROOM_NEAR 32

/* The first period from that one on that has something left. */
LANES_INLINE uint64_t room_find(struct room *r, uint64_t from)
{
	uint64_t period = from;

	for (uint32_t i = 0;; i++, period++) {
		if (period >= r->full_from && period < r->full_to)
			period = r->full_to;
		if (room_left(r, period))
			break;
		if (i == ROOM_NEAR) {
			period = room_find_far(r, period);
			break;
		}
	}
	if (from >= r->full_from && from <= r->full_to) {
		r->full_to = period > r->full_to ? period : r->full_to;
	} else if (period - from > ROOM_NEAR) {
		r->full_from = from;
		r->full_to = period;
	}
	return period;
}

/* The rest of room_take(): what is asked for is not there at once. */
static __attribute__((noinline)) uint64_t room_wait(
	struct room *r, uint64_t at, uint32_t hundredths)
{
	uint64_t period = room_find(r, at / ROOM_CYCLES), served = at;

	if (period > at / ROOM_CYCLES)
		served = period * ROOM_CYCLES + (ROOM_FULL - room_left(r, period)) / 100;
	while (hundredths) {
		uint32_t left = room_left(r, period);

		left = left < hundredths ? left : hundredths;
		room_give(r, period, left);
		hundredths -= left;
		if (hundredths)
			period = room_find(r, period + 1);
	}
	return served;
}

/* So many cycles later it is taken as far ahead as it was, but for half a period. */
static inline void room_pass(struct room *r, uint64_t cycles)
{
	const struct room was = *r;
	uint64_t periods = (cycles + ROOM_CYCLES / 2) / ROOM_CYCLES;

	for (uint64_t i = 0; i < ROOM_PERIODS; i++)
		r->slot[(i + periods) % ROOM_PERIODS] =
			was.slot[i] + (periods << ROOM_BITS);
	r->full_from += periods;
	r->full_to += periods;
}

/* When a request of that time is served that takes so many hundredths of cycles.  A
 * period that nobody has asked for is not known to be full. */
LANES_INLINE uint64_t room_take(struct room *r, uint64_t at, uint32_t hundredths)
{
	uint64_t *slot = &r->slot[at / ROOM_CYCLES % ROOM_PERIODS],
		 begin = at / ROOM_CYCLES << ROOM_BITS, then;

	if (!hundredths)
		return at;
	then = (*slot < begin ? begin : *slot) + hundredths;
	if (__builtin_expect(then - begin > ROOM_FULL, 0))
		return room_wait(r, at, hundredths);
	*slot = then;
	return at;
}

#endif
