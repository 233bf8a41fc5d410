/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Batches of cores behind a front that execute out of order are noted, too.
 */
#include "model/ahead.h"
#include "model/facts.h"

/* For whoever begins a batch and runs no function of those below. */
void ahead_begin(struct core *core, const struct batch *b, uint64_t line)
{
	if (batch_note_step(core, batch_time(core), b, line))
		ahead_step(core);
}

/* The functions that model references by a core with a front: the same for all. */
static struct {
	uint32_t wanted; /* of machines that execute out of order */
	batch_function *of_front[2][BATCH_PLACES + 1];
} models;

void ahead_want(uint32_t wanted)
{
	models.wanted |= wanted;
	if (models.wanted)
		batch_told.follow = ahead_step;
}

uint32_t ahead_wanted(void)
{
	return models.wanted;
}

#define RUN(name, places, lines, shift)                                                  \
	static void name(const struct batch *b, uint64_t line, uint64_t a0, uint64_t a1, \
		uint64_t a2, uint64_t a3)                                                \
	{                                                                                \
		for (uint32_t i = 0; i < front->nmembers; i++)                           \
			ahead_begin(front->member[i], b, line);                          \
		models.of_front[(lines)-1][places](b, line, a0, a1, a2, a3);             \
	}

BATCH_RUNS(run_front, 0)

batch_function *ahead_of_front(batch_function *model, uint32_t places, uint32_t lines)
{
	static batch_function *const function[2][BATCH_PLACES + 1] =
		BATCH_NAMES(run_front);

	if (!models.wanted)
		return model;
	models.of_front[lines - 1][places] = model;
	return function[lines - 1][places];
}
