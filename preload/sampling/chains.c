/* SPDX-License-Identifier: MIT
 *
 * Call chains of samples: each is written once, as long as its thread remembers it.
 */
#include <string.h>

#include "preload/sampling/sampling_parts.h"

static uint64_t hash_of(uint64_t hash, const uint64_t *word, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

static uint32_t write_chain(
	const uint64_t *address, uint32_t n, const struct cp_chain *chain)
{
	uint32_t stack = (uint32_t)(chain->stack_size / 8);
	struct cp_samples_chain *out = cp_record_reserve(
		&cp_samples, sizeof(*out) + (n + stack) * sizeof(*address));

	if (!out)
		return 0;
	out->id = cp_sampling_new_chain();
	out->n = n;
	out->stack = stack;
	out->registers = chain->registers;
	memcpy(out->word, address, n * sizeof(*address));
	if (stack)
		memcpy(out->word + n, chain->stack, stack * sizeof(*address));
	cp_item_publish(out, CP_SAMPLES_CHAIN);
	return out->id;
}

uint32_t cp_sampling_chain(struct cp_sampler *sampler, const struct cp_chain *chain)
{
	uint64_t address[CP_CHAIN_LENGTH];
	uint32_t n = cp_chain_copy(address, chain, CP_CHAIN_LENGTH);
	uint64_t hash = hash_of(n, address, n);
	struct cp_known_chain *known;

	hash = hash_of(hash, (const uint64_t *)&chain->registers,
		sizeof(chain->registers) / sizeof(uint64_t));
	hash = hash_of(hash, chain->stack, chain->stack_size / 8);
	known = &sampler->chains[hash % CP_KNOWN_CHAINS];
	if (!known->id || known->hash != hash)
		*known = (struct cp_known_chain){hash, write_chain(address, n, chain)};
	return known->id;
}
