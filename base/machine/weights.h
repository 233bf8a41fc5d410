/* SPDX-License-Identifier: MIT
 *
 * The costs of lines on the machine of this run (output/metrics/weights.h).
 */
#ifndef CACHEPEEK_BASE_MACHINE_WEIGHTS_H
#define CACHEPEEK_BASE_MACHINE_WEIGHTS_H

#include "output/metrics/weights.h"
#include "base/machine/machine.h"

/* machine: NULL where the processor itself is counted on; asked: in cycles, by the user;
 * 0: not. */
struct cp_weights cp_weights_of(
	const struct cp_machine *machine, const double asked[CP_NWEIGHTS]);

#endif
