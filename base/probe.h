/* SPDX-License-Identifier: MIT
 *
 * Tables with open addressing: arrays of slots, whose number is a power of two, and of
 * which one at least is free.  Slots, memory and growth are their owner's, since the
 * library, the simulator and the command have memory of different kinds.
 */
#ifndef CACHEPEEK_BASE_PROBE_H
#define CACHEPEEK_BASE_PROBE_H

#include <stdint.h>

/* The high bits of the hash depend on all bits of the word, the low ones on the low. */
static inline uint64_t cp_hash_word(uint64_t word)
{
	return word * 0x9e3779b97f4a7c15u;
}

/* The number of a key's slot, or of the free one where it would be: of `room` slots, the
 * first from the hash's on for which `ends` is true; it says that of slot number i. */
#define CP_PROBE(room, hash, i, ends)                                                    \
	__extension__({                                                                  \
		uint64_t at_ = (hash) & ((room)-1);                                      \
                                                                                         \
		for (uint64_t i = at_; !(ends); i = at_)                                 \
			at_ = (i + 1) & ((room)-1);                                      \
		at_;                                                                     \
	})

#endif
