/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/bursts.h"

#include <string.h>

#include "base/counts.h"

const unsigned cp_bursts_counters[CP_SIM_NBURST] = {
#define X(name) CP_SIM_##name,
	CP_SIM_BURST_COUNTERS(X)
#undef X
};

static const unsigned in_sets[] = {
#define X(name) CP_SIM_##name,
	CP_SIM_SET_COUNTERS(X)
#undef X
};

unsigned cp_bursts_counter(unsigned sampled)
{
	return sampled < CP_SIM_NBURST ? cp_bursts_counters[sampled]
				       : in_sets[sampled - CP_SIM_NBURST];
}

bool cp_bursts_has(unsigned counter)
{
	bool any = false;

	for (unsigned i = 0; i < CP_SIM_NBURST; i++)
		any |= cp_bursts_counters[i] == counter;
	return any;
}

bool cp_bursts_has_place(unsigned counter)
{
	return cp_bursts_has(counter) && counter >= CP_PROFILE_FIRST &&
	       counter < CP_PROFILE_FIRST + CP_PROFILE_COUNTERS;
}

bool cp_bursts_has_data(unsigned counter)
{
	static const unsigned kept[] = {CP_PROFILE_ACCESS_COUNTERS};
	bool any = false;

	for (unsigned i = 0; i < CP_PROFILE_ACCESSED; i++)
		any |= kept[i] + CP_PROFILE_FIRST == counter;
	return any && cp_bursts_has_place(counter);
}

void cp_burst_parts_add(
	struct cp_burst_parts *parts, unsigned part, const uint64_t *count)
{
	for (unsigned i = 0; i < CP_SIM_NBURST; i++)
		if (cp_bursts_has_place(cp_bursts_counters[i]))
			parts->of[part - 1][i] +=
				count[cp_bursts_counters[i] - CP_PROFILE_FIRST];
}

/* ---- the whole ---- */

struct cp_bursts *cp_bursts_add(struct cp_arena *arena, struct cp_bursts *bursts,
	const struct cp_profile_sample *in)
{
	bool first = !bursts;

	if (first)
		bursts = cp_arena_alloc(arena, sizeof(*bursts));
	bursts->pool.differs |= !first && (bursts->pool.nsets != in->sets ||
						  bursts->pool.ngroups != in->groups);
	bursts->pool.nsets = in->sets;
	bursts->pool.ngroups = in->groups;
	for (unsigned i = 0; i < CP_SIM_SET_SWEEP; i++)
		for (unsigned p = 0; p < CP_SIM_PARTS; p++)
			bursts->count[i][p] += (double)in->count[i * CP_SIM_PARTS + p];
	return bursts;
}

struct cp_pool cp_bursts_pool(const struct cp_bursts *bursts, unsigned sampled)
{
	struct cp_pool pool = bursts->pool;

	pool.in_bursts = sampled < CP_SIM_NBURST;
	pool.in_sets = !pool.in_bursts;
	memcpy(pool.in_bursts ? pool.bursts : pool.sets, bursts->count[sampled],
		sizeof(pool.sets));
	return pool;
}

static void put_total(struct cp_bursts *bursts, unsigned counter, double value)
{
	bursts->total[counter] = cp_count_of(value + 0.5);
	bursts->has_total[counter] = true;
}

void cp_bursts_conclude(struct cp_bursts *bursts, double instructions)
{
	struct cp_pool *pool = &bursts->pool;

	pool->instructions = instructions;
	for (unsigned g = 0; g < CP_SIM_GROUPS; g++)
		pool->in[g] = bursts->count[CP_SIM_BURST_instructions][g];
	pool->full = bursts->count[CP_SIM_BURST_instructions][CP_SIM_IN_FULL];
	put_total(bursts, CP_SIM_instructions, instructions);
	for (unsigned i = CP_SIM_BURST_instructions + 1; i < CP_SIM_SET_SWEEP; i++) {
		struct cp_pool one = cp_bursts_pool(bursts, i);
		struct cp_pooled part = cp_pool_estimate(&one);

		if (!part.none)
			put_total(bursts, cp_bursts_counter(i), part.value);
	}
}
