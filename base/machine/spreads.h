/* SPDX-License-Identifier: MIT
 *
 * Reads from the machine file how far its figures may be off, by the parts of time that
 * hang on them (output/metrics/spreads.h).
 */
#ifndef CACHEPEEK_BASE_MACHINE_SPREADS_H
#define CACHEPEEK_BASE_MACHINE_SPREADS_H

#include "base/machine/machine.h"
#include "output/metrics/spreads.h"

/* machine: NULL where the processor itself is counted on. */
struct cp_spreads cp_spreads_of(const struct cp_machine *machine);

#endif
