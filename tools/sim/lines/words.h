/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * When what was stored lately is ready, by its address: the latest of those that would be
 * in one place.
 */
#ifndef CACHEPEEK_SIM_WORDS_H
#define CACHEPEEK_SIM_WORDS_H

#include "lines/lanes.h"

#include <stdint.h>

#define WORDS_LOG 9

/* In so many instructions, and in how many of them, all are looked at (through.h): the
 * first of those behind what misses were not followed in. */
#define NOTE_EACH 65536
#define NOTE_FOR 1024

/* ready: as the model writes times; number: instructions before it; by: who stored it;
 * reach, by_memory: as struct flow_touch has it. */
struct word {
	uint64_t address, ready, number;
	uint16_t reach, by, by_memory;
};

struct words {
	uint64_t begun; /* number of instructions */
	struct word of[1 << WORDS_LOG];
};

LANES_INLINE uint32_t words_are_noted(const struct words *all, uint64_t number)
{
	return (number - all->begun) % NOTE_EACH < NOTE_FOR;
}

LANES_INLINE struct word *words_at(struct words *all, uint64_t address)
{
	return &all->of[address * 0x9e3779b97f4a7c15ull >> (64 - WORDS_LOG)];
}

#endif
