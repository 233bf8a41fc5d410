/* SPDX-License-Identifier: MIT
 *
 * The prefetchers of a level, as machine files have them: prefetch=NAME[:NUMBER...]+...
 */
#ifndef CACHEPEEK_BASE_MACHINE_PREFETCH_H
#define CACHEPEEK_BASE_MACHINE_PREFETCH_H

#include "base/machine/file.h"

/* Reads what is behind "prefetch=". */
bool cp_prefetch_parse(const struct place *at, enum cp_level level, const char *text,
	struct cp_cache *cache);

/* Do they fit into the lines and pages? */
bool cp_prefetch_check(const struct place *at, const struct cp_machine *machine,
	const struct cp_cache *cache);

#endif
