/* SPDX-License-Identifier: MIT
 *
 * Loads of which each needs the one before, through places in an order that no prefetcher
 * knows.  Tries are short, so that some of them are not interrupted.
 */
#include <math.h>
#include <stdlib.h>

#include "tools/calibrate/calibrate.h"

enum { STEPS = 5000, TRIES = 15 };

struct chain {
	void **at;
};

static void run_chain(void *context)
{
	struct chain *chain = context;
	void **at = chain->at;

	for (unsigned i = 0; i < STEPS; i++)
		at = *(void *volatile *)at;
	chain->at = at;
}

/* Whatever comes: the same in each round. */
static uint32_t next_random(uint64_t *state)
{
	*state = cp_next_state(*state);
	return (uint32_t)(*state >> 33);
}

/* Sattolo's shuffle. */
void cp_shuffle(uint32_t order[], size_t count)
{
	uint64_t state = count;

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t i = count - 1; i > 0; i--) {
		size_t other = next_random(&state) % i;
		uint32_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

/* Not all in the same sets of the L1D. */
static void **place_of(char *memory, size_t number, size_t stride)
{
	size_t line = stride > CP_LINE ? number * 37 % (stride / CP_LINE) : 0;

	return (void **)(void *)(memory + number * stride + line * CP_LINE);
}

/* Links them, in an order that is the same each time; returns the first, or NULL. */
static void **link_chain(char *memory, size_t count, size_t stride)
{
	uint32_t *order = malloc(count * sizeof(*order));
	void **first;

	if (!order)
		return NULL;
	cp_shuffle(order, count);
	first = place_of(memory, order[0], stride);
	for (size_t i = 0; i < count; i++)
		*place_of(memory, order[i], stride) =
			place_of(memory, order[(i + 1) % count], stride);
	free(order);
	return first;
}

double cp_chain(const struct cp_host *host, char *memory, size_t count, size_t stride,
	unsigned passes)
{
	struct chain chain = {link_chain(memory, count, stride)};

	if (!chain.at)
		return NAN;
	for (size_t i = 0; i <= passes * count / STEPS; i++)
		run_chain(&chain);
	return cp_best(TRIES, STEPS, run_chain, &chain) / host->ns;
}
