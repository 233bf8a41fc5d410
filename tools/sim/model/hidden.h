/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counts what prefetchers hide from counts and not from time.  To the models of time a
 * line that a prefetcher brought is one that its first reference misses, and comes from
 * where the prefetcher got it: when it would be there, only they could tell, and they
 * have streams of their own.  So nothing is fetched ahead twice.
 *
 * By counter: how much more of it there would be; and in load_latency_cycles the latency
 * that is counted for them, and is to be taken back.
 */
#ifndef CACHEPEEK_SIM_HIDDEN_H
#define CACHEPEEK_SIM_HIDDEN_H

#include "model/deed.h"

/* The core's counters from FIRST on, as time has them; room: for those. */
LANES_INLINE const uint64_t *counts_for_time(const struct core *core, uint64_t room[SEEN])
{
	if (__builtin_expect(!core->hidden, 1))
		return &core->count[FIRST];
	for (uint32_t i = 0; i < SEEN; i++)
		room[i] = core->count[FIRST + i] + core->hidden[FIRST + i];
	return room;
}

LANES_INLINE uint64_t count_for_time(const struct core *core, enum cp_sim_counter of)
{
	return core->count[of] + (core->hidden ? core->hidden[of] : 0);
}

/* The latency of hidden lines since the last time. */
LANES_INLINE uint64_t take_hidden_latency(struct core *core)
{
	uint64_t latency = 0;

	if (core->hidden) {
		latency = core->hidden[CP_SIM_load_latency_cycles];
		core->hidden[CP_SIM_load_latency_cycles] = 0;
	}
	return latency;
}

#endif
