/* SPDX-License-Identifier: MIT
 *
 * A sampled profile's own part of JSON, read back (sampled_write.h writes it).
 */
#ifndef CACHEPEEK_TOOLS_SAMPLED_JSON_H
#define CACHEPEEK_TOOLS_SAMPLED_JSON_H

#include <jansson.h>

#include "tools/profile/model/profile.h"

/* How each event was, and what was sampled altogether.  false: the document is of a
 * version that left something out. */
bool cp_sampled_json_head(struct cp_profile *profile, const json_t *document);

/* Reads the members beside the counts of a row. */
const struct cp_estimate *cp_sampled_json_estimates(
	struct cp_arena *arena, const json_t *row);

#endif
