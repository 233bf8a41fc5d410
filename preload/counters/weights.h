/* SPDX-License-Identifier: MIT
 *
 * What lines cost on the machine of this run (output/weights.h).
 */
#ifndef CACHEPEEK_PRELOAD_COUNTERS_WEIGHTS_H
#define CACHEPEEK_PRELOAD_COUNTERS_WEIGHTS_H

#include "output/weights.h"
#include "preload/counters/events.h"
#include "preload/counters/machine.h"

/* machine: NULL where the processor itself is counted on. */
struct cp_weights cp_weights_of(
	const struct cp_machine *machine, const struct cp_request *request);

#endif
