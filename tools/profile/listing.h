/* SPDX-License-Identifier: MIT
 *
 * The source around misses, as JSON:
 *     {"files": [{"file", "reason": null or why there are no lines, "changed": is it
 *     newer than what was made of it?, "lines": [[number, text], ...]}, ...]}
 */
#ifndef CACHEPEEK_TOOLS_LISTING_H
#define CACHEPEEK_TOOLS_LISTING_H

#include "base/out.h"
#include "tools/profile/model/profile.h"

void cp_listing_write(struct cp_out *out, const struct cp_profile *profile);

#endif
