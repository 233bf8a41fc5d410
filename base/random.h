/* SPDX-License-Identifier: MIT
 *
 * Random numbers of 64 bits that repeat with their seed: splitmix64, by Steele, Lea and
 * Flood, "Fast splittable pseudorandom number generators" (2014).
 */
#ifndef CACHEPEEK_BASE_RANDOM_H
#define CACHEPEEK_BASE_RANDOM_H

#include <stdint.h>

/* The next one.  state: any seed at first; one thread's. */
static inline uint64_t cp_random(uint64_t *state)
{
	uint64_t mixed = *state += 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
	return mixed ^ mixed >> 31;
}

#endif
