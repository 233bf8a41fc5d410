/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_PROFILE_SHARING_HTML_H
#define CACHEPEEK_TOOLS_PROFILE_SHARING_HTML_H

#include "base/out.h"
#include "tools/profile/advice/sharing.h"

/* The page of what threads share, with its JSON. */
void cp_sharing_write_html(struct cp_out *out, const struct cp_sharing *sharing);

#endif
