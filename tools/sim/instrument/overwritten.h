/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Registers that are written twice before anybody looks.
 *
 * The core is told to have all of them where they belong at each access to memory
 * (cp_sim_core_options), or its optimiser would drop loads whose values nobody uses
 * before they are counted.  What it then writes in vain is taken out again behind the
 * instrumentation, unless the program handles faults (system/faults.h).
 */
#ifndef CACHEPEEK_SIM_OVERWRITTEN_H
#define CACHEPEEK_SIM_OVERWRITTEN_H

#include "tool.h"

void overwritten_drop(IRSB *out, const VexGuestLayout *layout);

#endif
