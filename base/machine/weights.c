/* SPDX-License-Identifier: MIT */
#include "base/machine/weights.h"

/* A level that the machine need not have. */
static void state_level(struct cp_weights *weights, enum cp_weight_of of,
	const struct cp_machine *machine, enum cp_level level)
{
	if (!machine->level[level].sets)
		weights->of[of] = (struct cp_weight){CP_WEIGHT_NONE, 0};
	else
		cp_weight_state(weights, of, cp_machine_latency(machine, of),
			machine->assumed & 1u << of);
}

static void state_weight(struct cp_weights *weights, enum cp_weight_of of,
	const struct cp_machine *machine)
{
	cp_weight_state(weights, of, cp_machine_latency(machine, of),
		machine->assumed & 1u << of);
}

static struct cp_weights of_machine(const struct cp_machine *machine)
{
	struct cp_weights weights = cp_weights_assumed();

	state_level(&weights, CP_OF_L1, machine, CP_L1D);
	state_level(&weights, CP_OF_L2, machine, CP_L2);
	state_level(&weights, CP_OF_L3, machine, CP_LLC);
	state_weight(&weights, CP_OF_MEMORY, machine);
	if (cp_machine_hops(machine) > 0) {
		state_weight(&weights, CP_OF_ONE_HOP, machine);
		state_weight(&weights, CP_OF_NEAR_CACHE, machine);
		state_weight(&weights, CP_OF_FAR_CACHE, machine);
	}
	if (cp_machine_hops(machine) > 1)
		state_weight(&weights, CP_OF_TWO_HOPS, machine);
	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS; of++)
		if (machine->changed & 1u << of && weights.of[of].from != CP_WEIGHT_NONE)
			weights.of[of].from = CP_WEIGHT_USER;
	return weights;
}

struct cp_weights cp_weights_of(
	const struct cp_machine *machine, const double asked[CP_NWEIGHTS])
{
	struct cp_weights weights = machine ? of_machine(machine) : cp_weights_assumed();

	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS; of++)
		if (asked[of] > 0 && weights.of[of].from != CP_WEIGHT_NONE)
			weights.of[of] = (struct cp_weight){CP_WEIGHT_USER, asked[of]};
	return weights;
}
