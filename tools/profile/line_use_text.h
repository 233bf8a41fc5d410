/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_PROFILE_LINE_USE_TEXT_H
#define CACHEPEEK_TOOLS_PROFILE_LINE_USE_TEXT_H

#include "tools/profile/model/rows.h"

/* How much of the lines that were fetched for each data was used, what wastes most first;
 * most: so many rows.  Nothing where nobody looked. */
void cp_line_use_write_text(struct cp_out *out, const struct cp_profile_view *view,
	size_t most, size_t width);

#endif
