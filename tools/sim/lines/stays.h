/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines of the last level that others take the places of.
 */
#ifndef CACHEPEEK_SIM_STAYS_H
#define CACHEPEEK_SIM_STAYS_H

#include <stdint.h>

/* When lines were last asked for in the last level, by any core, so that those can be
 * told that have not been for so long that others, of whom the simulator knows nothing,
 * have taken their places: other guests of a machine, or other processes.  Half of them
 * have when the stay is over, the first at a quarter of it, and the last at seven; as
 * one virtual machine's do, by the clock (4 % by then, 13 % by the half, 75 % by 1.4 of
 * it, 96 % by two); of others that is assumed.  Only the latest lines are kept; one that
 * is not there any more has not left.
 *
 * Each core has a time of its own, which stands still while no thread runs on it: one
 * that begins takes over the latest that any knows of, and a line that was asked for
 * later than now was asked for now. */
#define STAYS_LOG 18     /* sets */
#define STAYS_WAYS 4     /* the latest first */
#define STAY_UNIT_LOG 10 /* of the cycles that are one unit of times */

struct stay {
	uint32_t line, at; /* line: its number + 1, what fits; 0: none */
};

struct stays {
	uint32_t latest; /* time of any core */
	struct stay of[1 << STAYS_LOG][STAYS_WAYS];
};

static inline __attribute__((always_inline)) int stays_is_later(
	uint32_t one, uint32_t other)
{
	return (int32_t)(one - other) > 0;
}

/* The line is asked for now: when was it before?  In units; `now`: that is not known. */
static inline __attribute__((always_inline)) uint32_t stays_renew(
	struct stays *s, uint64_t line, uint32_t now)
{
	struct stay *set = s->of[line * 0x9e3779b97f4a7c15ull >> (64 - STAYS_LOG)],
		    found = {(uint32_t)line + 1, now};
	int i = 0;

	while (i < STAYS_WAYS - 1 && set[i].line != found.line)
		i++;
	if (set[i].line == found.line && stays_is_later(now, set[i].at))
		found.at = set[i].at;
	else if (set[i].line == found.line)
		now = set[i].at;
	for (; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = (struct stay){found.line, now};
	if (stays_is_later(now, s->latest))
		s->latest = now;
	return found.at;
}

/* Has a line left that was asked for then?  Each has a chance of its own. */
static inline __attribute__((always_inline)) int stays_is_over(
	uint64_t line, uint32_t then, uint32_t now, uint32_t stay)
{
	uint64_t draw = ((line << 32 ^ then) * 0x9e3779b97f4a7c15ull) >> 54,
		 most = stay * (256 + draw * 3 / 2);

	return (uint64_t)(now - then) << (STAY_UNIT_LOG + 10) > most;
}

#endif
