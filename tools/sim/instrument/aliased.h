/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Code that changes by way of another mapping of its memory.
 */
#ifndef CACHEPEEK_SIM_ALIASED_H
#define CACHEPEEK_SIM_ALIASED_H

#include "libvex.h"

/* This translation is to look whether its code is still the same, where it may change. */
void aliased_check(VexTranslateArgs *args);

#endif
