/* SPDX-License-Identifier: MIT
 *
 * Regions under shadows: some of their executions, chosen at random, are executed in a
 * shadow from their begin to their end.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_SITES_H
#define CACHEPEEK_PRELOAD_SHADOW_SITES_H

#include "preload/shadow/state.h"

extern const struct cp_site_calls cp_site_calls;

#endif
