/* SPDX-License-Identifier: MIT
 *
 * How a profile was sampled, for its reports.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_SAMPLED_WRITE_H
#define CACHEPEEK_TOOLS_PROFILE_SAMPLED_WRITE_H

#include "base/out.h"
#include "tools/profile/profile.h"

/* One phrase. */
const char *cp_sampled_source(const struct cp_profile *profile);

void cp_sampled_write_text(struct cp_out *out, const struct cp_profile *profile);
/* The member "sampling", and a comma. */
void cp_sampled_write_json(struct cp_out *out, const struct cp_profile *profile);

/* What the reader should know of what is missing. */
void cp_sampled_warn(struct cp_profile *profile);

#endif
