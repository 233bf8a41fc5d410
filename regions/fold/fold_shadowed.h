/* SPDX-License-Identifier: MIT
 *
 * What shadows have estimated in several processes, and in their regions, by path.
 */
#ifndef CACHEPEEK_REGIONS_FOLD_FOLD_SHADOWED_H
#define CACHEPEEK_REGIONS_FOLD_FOLD_SHADOWED_H

#include "base/arena.h"
#include "regions/fold/fold_file.h"
#include "regions/record_read.h"

struct cp_fold_shadowed {
	struct cp_arena *arena;
	uint32_t nquantities;
	struct cp_shadowed *of; /* [nquantities]; NULL: shadows estimate nothing */
	struct cp_fold_shadowed_region *regions;
};

/* Of processes like that one. */
void cp_fold_shadowed_start(struct cp_fold_shadowed *sum, struct cp_arena *arena,
	const struct cp_record *first);
/* Names stay where the record has them. */
void cp_fold_shadowed_add(struct cp_fold_shadowed *sum, const struct cp_record *record);
void cp_fold_shadowed_put(const struct cp_fold_shadowed *sum, struct cp_fold_file *file);

#endif
