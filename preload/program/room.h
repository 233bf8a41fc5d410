/* SPDX-License-Identifier: MIT
 *
 * Has the simulated PMU room for what the program has at fixed addresses?
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_ROOM_H
#define CACHEPEEK_PRELOAD_PROGRAM_ROOM_H

#include <stdbool.h>

#include "base/engine/engine.h"

/* False: the program's segments would be where the simulator is, with the reason. */
bool cp_has_room_beside_tool(struct cp_why *why);

#endif
