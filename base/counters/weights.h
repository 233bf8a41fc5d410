/* SPDX-License-Identifier: MIT
 *
 * What lines cost on the machine of this run (output/metrics/weights.h).
 */
#ifndef CACHEPEEK_BASE_COUNTERS_WEIGHTS_H
#define CACHEPEEK_BASE_COUNTERS_WEIGHTS_H

#include "output/metrics/weights.h"
#include "base/counters/events.h"
#include "base/counters/machine.h"

/* machine: NULL where the processor itself is counted on. */
struct cp_weights cp_weights_of(
	const struct cp_machine *machine, const struct cp_request *request);

#endif
