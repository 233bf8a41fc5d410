/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_PROFILE_READ_JSON_PATHS_H
#define CACHEPEEK_TOOLS_PROFILE_READ_JSON_PATHS_H

#include <jansson.h>

#include "tools/profile/model/profile.h"

/* Fills in the paths of a profile that has a thread. */
void cp_profile_read_json_paths(struct cp_profile *profile, const json_t *document);

#endif
