/* SPDX-License-Identifier: MIT
 *
 * Jumps from afar into what patches would take: by any bytes of code that, read as an
 * instruction with a distance, lead there, and by addresses in the data.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_JUMPS_H
#define CACHEPEEK_PRELOAD_PATCH_JUMPS_H

#include <link.h>

#include "base/arena.h"
#include "preload/patch/plan.h"

struct cp_target {
	struct cp_plan plan;
	const char *name;
	bool jumped_into;
};

/* Notes it in the targets. */
void cp_find_jumps(const struct dl_phdr_info *info, struct cp_target *targets,
	size_t count, struct cp_store *store);

#endif
