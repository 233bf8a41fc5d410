/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tools/profile/calls/calls.h"

/* In the order in which they are shown. */
static const struct cp_calls_quantity quantities[] = {
	{NULL, "Instr", "instructions", false, 1, {CP_SIM_instructions}},
	{"dcache", "Refs", "references", false, 2, {CP_SIM_l1d_loads, CP_SIM_l1d_stores}},
	{"dcache", "L1D", "L1D misses", true, 3,
		{CP_SIM_l1d_load_misses, CP_SIM_l1d_store_misses, CP_SIM_l1d_bypasses}},
	{"dcache", "L2", "L2 misses", false, 2,
		{CP_SIM_l2_load_misses, CP_SIM_l2_store_misses}},
	{"dcache", "L3", "L3 misses", false, 2,
		{CP_SIM_llc_load_misses, CP_SIM_llc_store_misses}},
	{"dtlb", "Refs", "references", false, 2, {CP_SIM_l1d_loads, CP_SIM_l1d_stores}},
	{"dtlb", "DTLB", "DTLB misses", true, 2,
		{CP_SIM_dtlb_load_misses, CP_SIM_dtlb_store_misses}},
	{"dtlb", "Walks", "page walks", false, 2,
		{CP_SIM_dtlb_load_walks, CP_SIM_dtlb_store_walks}},
	{"icache", "Fetches", "fetches", false, 1, {CP_SIM_l1i_accesses}},
	{"icache", "L1I", "L1I misses", true, 1, {CP_SIM_l1i_misses}},
	{"icache", "L2", "L2 misses", false, 1, {CP_SIM_l2_ifetch_misses}},
	{"icache", "L3", "L3 misses", false, 1, {CP_SIM_llc_ifetch_misses}},
};

/* The number of samples. */
static const struct cp_calls_quantity samples = {NULL, "Samples", "samples", true, 2,
	{CP_PROFILE_FIRST + CP_page_faults_sampled,
		CP_PROFILE_FIRST + CP_memory_sampled}};

/* A level that the machine lacks has no misses, which is not the same as 0 misses. */
static bool has_level(const struct cp_profile *profile, const struct cp_calls_quantity *q)
{
	const struct cp_weights *weights = &profile->weights;

	if (strcmp(q->heading, "L2") == 0)
		return weights->of[CP_OF_L2].from != CP_WEIGHT_NONE;
	if (strcmp(q->heading, "L3") == 0)
		return weights->of[CP_OF_L3].from != CP_WEIGHT_NONE;
	return true;
}

size_t cp_calls_quantities(const struct cp_profile *profile,
	const struct cp_group *measurement, const struct cp_calls_quantity **list)
{
	size_t n = 0;

	if (profile->sampled) {
		list[n++] = &samples;
		return n;
	}
	for (size_t i = 0; i < sizeof(quantities) / sizeof(quantities[0]); i++) {
		const struct cp_calls_quantity *q = &quantities[i];

		if ((!q->measurement || strcmp(q->measurement, measurement->name) == 0) &&
			has_level(profile, q))
			list[n++] = q;
	}
	return n;
}

uint64_t cp_calls_amount(const struct cp_calls_quantity *quantity, const uint64_t *count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < quantity->n; i++)
		sum += count[quantity->counter[i]];
	return sum;
}
