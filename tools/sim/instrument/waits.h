/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which instructions of a batch wait for what, as they compute something of it
 * (model/flow.h).
 */
#ifndef CACHEPEEK_SIM_WAITS_H
#define CACHEPEEK_SIM_WAITS_H

#include "instrument/trails.h"
#include "model/flow.h"

#define MAX_WAITS 8

/* The waits that are being collected: nothing to begin with. */
struct made_waits {
	struct flow_waits waits;
	struct flow_wait of[MAX_WAITS];
};

/* An instruction has operands of those trails, which are ready so many cycles after it is
 * issued, if nothing is late.  l1: what a load that hits takes of these. */
void waits_note(struct made_waits *making, const struct trails *of, UInt cycles, UInt l1);

/* Takes the waits since the last time; NULL: none hang on anything. */
const struct flow_waits *waits_take(struct made_waits *making);

#endif
