/* SPDX-License-Identifier: MIT
 *
 * How a profile was sampled, for its reports.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_MODEL_SAMPLED_WRITE_H
#define CACHEPEEK_TOOLS_PROFILE_MODEL_SAMPLED_WRITE_H

#include "base/out.h"
#include "tools/profile/model/profile.h"

/* One phrase. */
const char *cp_sampled_source(const struct cp_profile *profile);

void cp_sampled_write_text(struct cp_out *out, const struct cp_profile *profile);
struct cp_tally;

/* "page_faults", "memory": of the members of what is written. */
const char *cp_sampled_event_key(unsigned event);
/* The member "estimates" of a row. */
void cp_sampled_write_estimates(struct cp_out *out, const struct cp_tally *tally);
/* The member "sampling", and a comma. */
void cp_sampled_write_json(struct cp_out *out, const struct cp_profile *profile);

/* Notes for the reader on missing data. */
void cp_sampled_warn(struct cp_profile *profile);

#endif
