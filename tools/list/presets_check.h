/* SPDX-License-Identifier: MIT
 *
 * cachepeek list presets --check: is every event of the preset files one?
 */
#ifndef CACHEPEEK_TOOLS_LIST_PRESETS_CHECK_H
#define CACHEPEEK_TOOLS_LIST_PRESETS_CHECK_H

#include "base/arena.h"

/*
 * Checks the events of all PMUs against the libpfm4 that is linked in, prints
 * what is broken and a summary, and with pmus a line per PMU (name, and what
 * was checked) before it.  Returns 0, or 1 if anything is broken.
 */
int cp_presets_check(struct cp_arena *arena, int pmus);

#endif
