/* SPDX-License-Identifier: MIT
 *
 * Runtimes that compile what they run: what has them name it.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_RUNTIMES_H
#define CACHEPEEK_TOOLS_PROFILE_RUNTIMES_H

#include "tools/profile/model/rows.h"

/* Warns, of the view's profile, if much of what is missed is in code that was made at run
 * time and has no names, and says what gives it some. */
void cp_profile_warn_of_names(
	struct cp_profile *profile, const struct cp_profile_view *view);

#endif
