/* SPDX-License-Identifier: MIT
 *
 * What shadows estimate, in the record.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_VALUES_H
#define CACHEPEEK_PRELOAD_SHADOW_VALUES_H

#include "preload/shadow/state.h"

/* From the windows so far; shadows may be NULL: there are none. */
void cp_values_fill(struct cp_shadows *shadows);

#endif
