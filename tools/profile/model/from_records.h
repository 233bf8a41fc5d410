/* SPDX-License-Identifier: MIT
 *
 * Takes into a profile what the records of its run have: weights, names, the command
 * line; and whether its places add up to the counts that the records have.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_FROM_RECORDS_H
#define CACHEPEEK_TOOLS_PROFILE_FROM_RECORDS_H

#include "tools/profile/model/profile.h"

void cp_profile_find_weights(struct cp_profile *profile, int dir);
/* The records of the directory, as a report has them. */
void cp_profile_use_report(struct cp_profile *profile, const char *directory);

/* Warn of what does not add up, and mark the profile as inexact. */
void cp_profile_check_sums(struct cp_profile *profile);
void cp_profile_check_path_sums(struct cp_profile *profile);

#endif
