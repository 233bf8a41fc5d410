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

static uint32_t wanted_by; /* machines that execute out of order */

void ahead_want(uint32_t wanted)
{
	wanted_by |= wanted;
	if (wanted_by)
		batch_told.follow = ahead_step;
}

uint32_t ahead_wanted(void)
{
	return wanted_by;
}
